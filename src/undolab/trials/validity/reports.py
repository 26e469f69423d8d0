"""Cases that ask whether the final report is true, and for the class of a failure."""

from collections.abc import Iterator
from itertools import pairwise

from msgspec.structs import replace

from undolab.model.calls import FinalReport
from undolab.model.fault import Boundary
from undolab.model.wire import ArmStart, TurnEvent
from undolab.trials.arm import ArmRun
from undolab.trials.validity.bench import Bench, Case, reported
from undolab.trials.validity.forged import forgeries

_CLASS = {
    "wrong state, forged": "STATE_DIVERGENCE",
    "lost effect, forged": "MISSING_EFFECT",
    "second effect, forged": "DUPLICATE_EFFECT",
    "wrong entity, forged": "ORPHAN_EFFECT",
    "orphan, forged": "ORPHAN_EFFECT",
    "forbidden effect, forged": "FORBIDDEN_EFFECT",
    "reversed order, forged": "ORDER_VIOLATION",
}


def report_cases(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Yield the cases of one boundary; `right` is its right run."""
    match bench.boundary:
        case Boundary.NONE:
            yield from _reports(bench, right)
            yield from _classes(bench, right)
        case Boundary.PRE_MUTATION:
            yield _unknown(bench, "answered to the method's retry", "untrue", right)
            lines = right.log.lines
            unscheduled = [replace(line, faults=[]) if isinstance(line, ArmStart) else line for line in lines]
            yield bench.case("fault unscheduled", "class", "INVALID_INJECTION", right, lines=unscheduled)
        case Boundary.POST_MUTATION_PRE_ACK if bench.facts["seen"] == "yes":
            yield _unknown(bench, "adopted by the method", "untrue", bench.gold("B6"))
        case Boundary.POST_ACK_PRE_CHECKPOINT:
            yield _unknown(bench, "died and was not told", "untrue", right)
        case _:
            return


def half_report_cases(bench: Bench) -> Iterator[Case]:
    """Yield the report "unknown" of an agent whose method read what a half call left and could not tell."""
    if bench.facts["half_seen"] == "unknowable":
        yield _unknown(bench, "read and not known by the method", "true", bench.gold("B6"))


def _unknown(bench: Bench, kind: str, grade: str, run: ArmRun) -> Case:
    lines = reported(run, FinalReport.UNKNOWN)
    return bench.case(f"{kind}, report unknown", "report", f"unknown {grade}", run, lines=lines)


def _reports(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Every report where all is done and where nothing is; no outcome was lost."""
    nothing = bench.blind([], "none")
    for kind, run, true in (
        ("all done", right, FinalReport.DONE),
        ("nothing done", nothing, FinalReport.NOT_DONE),
    ):
        for report in FinalReport:
            grade = "true" if report is true else "untrue"
            yield bench.case(
                f"{kind}, any report", "report", f"{report} {grade}", run, lines=reported(run, report)
            )


def _classes(bench: Bench, right: ArmRun) -> Iterator[Case]:
    yield bench.case("right plan", "class", "NONE", right)
    for kind, rows, state in forgeries(bench.workflow, right.ledger, right.state):
        if kind in _CLASS:
            yield bench.case(kind, "class", _CLASS[kind], right, rows=rows, state=state)
    yield from _several(bench, right)
    nothing = bench.blind([], "none")
    for report, reason, name in (
        (FinalReport.DONE, "", "MISSING_EFFECT"),
        (FinalReport.NOT_DONE, "", "ABSTAINED"),
        (FinalReport.UNKNOWN, "", "ABSTAINED"),
        (FinalReport.NONE, "turn_limit", "AGENT_FAILURE"),
        (FinalReport.NONE, "agent_failure: truncated", "AGENT_FAILURE"),
    ):
        yield bench.case("nothing done", "class", name, nothing, lines=reported(nothing, report, reason))
    for kind, run, name in (
        ("broken output, nothing done", nothing, "AGENT_FAILURE"),
        ("broken output made good", right, "NONE"),
    ):
        lines = [
            replace(line, error="no JSON") if isinstance(line, TurnEvent) and line.turn == 1 else line
            for line in run.log.lines
        ]
        yield bench.case(kind, "class", name, run, lines=lines)


def _several(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Put two wrong things into one history: the class is that of the graver."""
    made = {kind: rows for kind, rows, _ in forgeries(bench.workflow, right.ledger, right.state)}
    length = len(right.ledger)
    more = {
        kind: [replace(row, attempt=f"{98 - n}.1.1") for row in made[kind][length:]]
        for n, kind in enumerate(_CLASS)
        if len(made.get(kind, ())) > length
    }
    graver = ["forbidden effect, forged", "second effect, forged", "orphan, forged"]
    for first, second in pairwise(graver):
        if first in more and second in more:
            rows = [*right.ledger, *more[second], *more[first]]
            rows = [replace(row, seq=n) for n, row in enumerate(rows, start=1)]
            yield bench.case("two wrong things", "class", _CLASS[first], right, rows=rows)
    if "orphan, forged" in more and "lost effect, forged" in made:
        rows = [*made["lost effect, forged"], *more["orphan, forged"]]
        yield bench.case("two wrong things", "class", "ORPHAN_EFFECT", right, rows=rows)
