"""Cases that ask what became of a fault: a right run with its evidence bent in one place, and targets met or missed."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from undolab.model.calls import Effect, FinalReport
from undolab.model.fault import Boundary
from undolab.model.observe import reader_arguments
from undolab.model.tools import Op
from undolab.model.wire import FaultEvent, TurnEvent, WireEffectEvent, WireLine, WorldEvent
from undolab.model.workflow import Step
from undolab.trials.arm import ArmRun
from undolab.trials.validity.bench import Bench, Case, changed_end, struck

_IN_LEDGER = frozenset(
    {
        Boundary.DURING_MUTATION,
        Boundary.POST_MUTATION_PRE_ACK,
        Boundary.POST_ACK_PRE_CHECKPOINT,
        Boundary.POST_ACK_PRE_CHECKPOINT_TOLD,
        Boundary.LATE_COMMIT,
        Boundary.OUTLIVES_BUDGET,
        Boundary.DUPLICATE_DELIVERY,
    }
)
"""Boundaries at which the struck call has rows in the ledger."""
_NOT_RUN = frozenset(
    {Boundary.PRE_MUTATION, Boundary.LATE_COMMIT, Boundary.OVERTAKEN, Boundary.CONCURRENT_WRITE}
)
"""Boundaries at which nothing had run when the caller gave up, so that the wire has no output of the service."""
_LOST_WHOLE = frozenset(
    {Boundary.POST_MUTATION_PRE_ACK, Boundary.OUTLIVES_BUDGET, Boundary.DURING_COMPENSATION}
)
_FORGED = Effect(id="e99", entity="elsewhere/1", op=Op.UPDATE, before="", after="f" * 16)


def altered_evidence(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Take away or bend, one at a time, what shows that the first fault struck: each time nobody can know that it did."""
    lines, hit = right.log.lines, struck(right)

    def case(kind: str, lines: Sequence[WireLine]) -> Case:
        return bench.case(kind, "exposure", "INVALID_INJECTION", right, lines=lines)

    yield case(
        "injector that only claims",
        changed_end(
            lines, hit, lambda end: replace(end, acknowledged_to_agent=not end.acknowledged_to_agent)
        ),
    )
    if bench.boundary in _IN_LEDGER:
        rows = [row for row in right.ledger if row.attempt != hit]
        yield bench.case("struck call not in the ledger", "exposure", "INVALID_INJECTION", right, rows=rows)
    without = [line for line in lines if not isinstance(line, WorldEvent)]
    if len(without) < len(lines):
        yield case("no sign of the service's own doing", without)
    told = [replace(line, resume=0) if isinstance(line, TurnEvent) else line for line in lines]
    if told != lines:
        yield case("no sign of a resumed process", told)
    if bench.boundary is Boundary.TWO_FAULTS:
        second = struck(right, 1)
        yield case(
            "second fault only claimed",
            changed_end(lines, second, lambda end: replace(end, acknowledged_to_agent=True)),
        )
        return
    for kind, change in _bent_ends((bench.plans(right.arm.method) or [])[0].boundary):
        yield case(kind, changed_end(lines, hit, change))
    yield case(
        "another call struck",
        [
            replace(line, attempt="99.1.1") if isinstance(line, FaultEvent) and line.attempt == hit else line
            for line in lines
        ],
    )
    yield from _bent_world(bench, right, case)
    yield from _bent_turns(bench, lines, case)


def exposure_cases(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Yield runs whose fault met its target, or did not, for a reason of its own."""
    plan = bench.workflow.plan
    place = bench.target()
    twice = [*plan[: place + 1], plan[place], *plan[place + 1 :]]
    match bench.boundary:
        case Boundary.NONE:
            *first, last = right.log.lines
            stray = FaultEvent(seq=last.seq, prev="", fault=0, stage="injected", attempt="1.1.1")
            yield bench.case("no fault", "exposure", "NO_FAULT", right)
            yield bench.case(
                "a fault that nobody scheduled",
                "exposure",
                "INVALID_INJECTION",
                right,
                lines=[*first, stray, last],
            )
        case Boundary.POST_MUTATION_PRE_ACK if bench.facts["repeat"] in ("exists", "refused"):
            aim = (bench.plans("none") or [])[0]
            refused = bench.blind(twice, "none", [replace(aim, nth=aim.nth + 1)])
            yield bench.case("target refused by the service", "exposure", "NOT_EXPOSED", refused)
        case Boundary.PRE_MUTATION:
            aim = (bench.plans("none") or [])[0]
            both = bench.blind(twice, "B0", [aim, replace(aim, nth=aim.nth + 1)])
            yield bench.case("retries are no targets", "exposure", "WITNESSED", both)
            yield from _read_struck(bench, place)
        case Boundary.TWO_FAULTS:
            stopped = bench.gold("none")
            yield bench.case("second fault not reached", "exposure", "WITNESSED", stopped)
        case Boundary.DURING_COMPENSATION if bench.plans("B3"):
            saga = bench.gold("B3")
            yield bench.case("a step refused", "exposure", "WITNESSED", saga)
            other = {"code": "unavailable", "message": "come again"}
            lines = changed_end(saga.log.lines, struck(saga), lambda end: replace(end, output=other))
            yield bench.case(
                "a step refused in other words", "exposure", "INVALID_INJECTION", saga, lines=lines
            )
        case _:
            return


def _bent_ends(
    boundary: Boundary,
) -> Iterator[tuple[str, Callable[[WireEffectEvent], WireEffectEvent]]]:
    """Yield what can be untrue of the end of a struck attempt."""
    yield (
        "commit flag turned",
        lambda end: replace(end, committed_externally=not end.committed_externally),
    )
    yield "effects turned", lambda end: replace(end, effects=[] if end.effects else [_FORGED])
    if boundary in _NOT_RUN or boundary is Boundary.DURING_MUTATION:
        yield "an output of a call that did not end", lambda end: replace(end, output={"forged": True})
    if boundary is Boundary.DURING_MUTATION:
        yield "other parts", lambda end: replace(end, parts=(end.parts or 0) + 1)
    if boundary in _LOST_WHOLE:
        yield "a part of a whole call", lambda end: replace(end, parts=1)
    if boundary is Boundary.OVERTAKEN:
        yield "a running call with no parts", lambda end: replace(end, parts=None)


def _bent_world(
    bench: Bench, right: ArmRun, case: Callable[[str, Sequence[WireLine]], Case]
) -> Iterator[Case]:
    lines = right.log.lines
    if bench.boundary in (Boundary.LATE_COMMIT, Boundary.OVERTAKEN):
        early = [replace(line, seq=0) if isinstance(line, WorldEvent) else line for line in lines]
        yield case("the service's own doing came before", early)
    if bench.boundary is Boundary.CONCURRENT_WRITE:
        others = [line.attempt for line in lines if isinstance(line, WorldEvent)]
        rows = [row for row in right.ledger if row.attempt not in others]
        yield bench.case(
            "somebody else's write not in the ledger", "exposure", "INVALID_INJECTION", right, rows=rows
        )


def _bent_turns(
    bench: Bench, lines: Sequence[WireLine], case: Callable[[str, Sequence[WireLine]], Case]
) -> Iterator[Case]:
    """Bend the first turn of a resumed agent."""
    at = next((n for n, line in enumerate(lines) if isinstance(line, TurnEvent) and line.resume), None)
    if at is None:
        return
    turn = lines[at]
    if not isinstance(turn, TurnEvent):
        return
    later = replace(turn, turn=turn.turn + 1)
    yield case("a resumed process at another turn", [*lines[:at], later, *lines[at + 1 :]])
    if bench.boundary is Boundary.POST_ACK_PRE_CHECKPOINT:
        other = replace(turn, seen="f" * 64)
        yield case("a resumed process that knows more", [*lines[:at], other, *lines[at + 1 :]])


def _read_struck(bench: Bench, place: int) -> Iterator[Case]:
    """Lose a read that the method had made before the agent does: the method's reads are no targets."""
    step = bench.workflow.plan[place]
    observe = bench.task.tools[step.tool].observe
    arguments = reader_arguments(observe, step.arguments) if observe else None
    if observe is None or arguments is None or observe.tool not in bench.task.tools:
        return
    read = Step(say="", tool=observe.tool, arguments=arguments)
    before = [one for one in bench.workflow.plan[:place] if bench.task.catalogue[one.tool].writes]
    aim = replace((bench.plans("none") or [])[0], tool=read.tool, match=read.arguments, nth=1)
    run = bench.blind([*before, step, read], "B6", [aim])
    yield bench.case("a read struck after the method's", "exposure", "WITNESSED", run)
    lost = bench.blind([*before, step, read], "none", [aim])
    lines = [
        replace(line, report=FinalReport.UNKNOWN) if line is lost.log.lines[-1] else line
        for line in lost.log.lines
    ]
    yield bench.case("only a read lost, report unknown", "report", "unknown untrue", lost, lines=lines)
