"""Cases about what each committed call is to the task: half calls, calls taken back, places, forbidden entities, predicates."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from undolab.model.calls import LedgerRow
from undolab.model.fault import Boundary
from undolab.model.match import holds
from undolab.model.observe import fill
from undolab.model.workflow import ForbiddenEffect, Predicate, RequiredEffect, State, Workflow
from undolab.trials.arm import ArmRun
from undolab.trials.schedule import target_step
from undolab.trials.validity.bench import Bench, Case, numbered, rows_of, struck


def deed_cases(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Yield the cases of one boundary; `right` is its right run."""
    if bench.boundary is Boundary.NONE:
        yield from _places(bench, right)
        yield from _newest_undone(bench, right)
        yield from _goals(bench, right)
    if bench.boundary is Boundary.DURING_MUTATION and right.arm.method == "B7":
        yield from _undone(bench, right)


def half_cases(bench: Bench) -> Iterator[Case]:
    """Yield runs in which a call died between its parts, before and after the whole one, and what can be made of them."""
    half = (bench.plans("none") or [])[0]
    place = target_step(bench.workflow, half)
    plan = bench.workflow.plan
    harm = "harmful" if bench.facts["half"] == "harm" else "none"
    twice = [*plan[: place + 1], plan[place], *plan[place + 1 :]]
    later = replace(half, nth=half.nth + 1)
    after = bench.blind(twice, "none", [later])
    yield bench.case("whole, then half", "duplicates", harm, after)
    yield bench.case("whole, then half", "verdict", "fail" if harm == "harmful" else "pass", after)
    halves = bench.blind(twice, "none", [half, later])
    yield bench.case("half, then half", "duplicates", harm, halves)
    yield bench.case("half, then half", "verdict", "fail", halves)
    if bench.facts["half"] in ("completes", "harm"):
        yield from _half_then_whole(bench, bench.blind(twice, "none"), harm)
    yield from _half_alone(bench, bench.gold("none"))
    yield from _half_beyond(bench, halves)


def _half_then_whole(bench: Bench, run: ArmRun, harm: str) -> Iterator[Case]:
    """A repeat that completes a half call, or does it again; in the same words and in others."""
    attempt = struck(run)
    half = rows_of(run.ledger, attempt)
    tool = half[0].tool
    rest = [row for row in run.ledger if row.attempt != attempt]
    verdict = "fail" if harm == "harmful" else "pass"
    yield bench.case("half, then whole", "duplicates", harm, run)
    loosened = bench.loosened(tool)
    if loosened is not None:
        workflow, free = loosened
        reworded = [
            replace(row, arguments={**row.arguments, free: "in other words"}) if row in half else row
            for row in run.ledger
        ]
        kind = "half, then whole reworded"
        yield bench.case(kind, "duplicates", harm, run, rows=reworded, workflow=workflow)
        yield bench.case(kind, "verdict", verdict, run, rows=reworded, workflow=workflow)
    elsewhere = [_at(row, "elsewhere/1") if row in half else row for row in run.ledger]
    yield bench.case("half elsewhere, then whole", "duplicates", "harmful", run, rows=elsewhere)
    last = numbered([*rest, *half])
    yield bench.case("whole, then half, forged", "duplicates", "harmful", run, rows=last)
    two = _with_max(bench, tool, 2)
    kind = "whole, then half, where two may be"
    yield bench.case(kind, "verdict", "fail", run, rows=last, workflow=two)
    yield bench.case(kind, "duplicates", "none", run, rows=last, workflow=two)
    yield bench.case(kind, "class", "ORPHAN_EFFECT", run, rows=last, workflow=two)


def _half_alone(bench: Bench, run: ArmRun) -> Iterator[Case]:
    attempt = struck(run)
    mine = rows_of(run.ledger, attempt)
    tool = mine[0].tool
    wrong = [
        replace(row, arguments={name: [value, "forged"] for name, value in row.arguments.items()})
        if row in mine
        else row
        for row in run.ledger
    ]
    yield bench.case("half of a wrong call", "class", "ORPHAN_EFFECT", run, rows=wrong)
    rule = ForbiddenEffect(tool=tool, entity="elsewhere/*", reason="it was not to be touched")
    workflow = replace(bench.workflow, forbidden=[*bench.workflow.forbidden, rule])
    rows = [_at(row, "elsewhere/1") if row in mine else row for row in run.ledger]
    yield bench.case(
        "half at a forbidden entity", "class", "FORBIDDEN_EFFECT", run, rows=rows, workflow=workflow
    )


def _half_beyond(bench: Bench, run: ArmRun) -> Iterator[Case]:
    """A whole call holds the place; a half one follows, and after it something that left the parts as they were."""
    first, second = struck(run), struck(run, 1)
    half = rows_of(run.ledger, first)
    rest = [row for row in run.ledger if row.attempt not in (first, second)]
    effect = next(one for one in bench.workflow.effects if one.tool == half[0].tool)
    whole = [_at(replace(row, attempt="97.1.1"), effect.entity.replace("*", "x")) for row in half]
    still = [replace(row, effect=replace(row.effect, before=row.effect.after)) for row in half]
    afterwards = {"another call": [replace(row, attempt="99.1.1", tool="forged_tool") for row in still]}
    if rows_of(run.ledger, second):
        afterwards["half to no end"] = [replace(row, attempt=second) for row in still]
    for kind, after in afterwards.items():
        rows = numbered([*whole, *half, *after, *rest])
        yield bench.case(f"whole, half, and {kind}", "duplicates", "harmful", run, rows=rows)


def _undone(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """A half call that the method took back: by another call, and twice."""
    undo = next((row for row in right.ledger if row.attempt.endswith("m")), None)
    if undo is None:
        return
    mine = rows_of(right.ledger, undo.attempt)
    other = [
        replace(row, arguments={name: [value] for name, value in row.arguments.items()})
        if row in mine
        else row
        for row in right.ledger
    ]
    yield bench.case("taken back by another call, forged", "verdict", "fail", right, rows=other)
    yield bench.case(
        "taken back by another tool, forged",
        "verdict",
        "fail",
        right,
        rows=[replace(row, tool="forged_tool") if row in mine else row for row in right.ledger],
    )
    agents = [
        replace(row, attempt=row.attempt.removesuffix("m") + "9") if row in mine else row
        for row in right.ledger
    ]
    yield bench.case("taken back by the agent, forged", "verdict", "fail", right, rows=agents)
    second = replace(undo, attempt="99.1.1m", effect=replace(undo.effect, before="a" * 16, after="b" * 16))
    at = right.ledger.index(mine[-1]) + 1
    rows = numbered([*right.ledger[:at], second, *right.ledger[at:]])
    yield bench.case("taken back twice, forged", "verdict", "fail", right, rows=rows)


def _newest_undone(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """A second effect at the end, and the method takes it back: it is that one, not the first, which was in order."""
    for first, _ in bench.workflow.order:
        effect = next(one for one in bench.workflow.effects if one.id == first)
        inverse = bench.task.catalogue[effect.tool].inverse
        done = next((row for row in right.ledger if _is(effect, row)), None)
        if done is None or inverse is None or "{output." in str(inverse.arguments):
            continue
        if "{before." in str(inverse.arguments):
            continue
        arguments: dict[str, Any] = fill(inverse.arguments, done.arguments)
        again = [
            replace(row, attempt="98.1.1", effect=replace(row.effect, before="a" * 16, after="b" * 16))
            for row in rows_of(right.ledger, done.attempt)
        ]
        undo = replace(again[0], attempt="98.1.1m", tool=inverse.tool, arguments=arguments)
        rows = numbered([*right.ledger, *again, undo])
        yield bench.case("second effect taken back, forged", "verdict", "pass", right, rows=rows)


def _places(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Forge commits that only the tool, the entity, the change or the other places tell apart."""
    workflow, rows = bench.workflow, right.ledger
    effect = workflow.effects[-1]
    mine = [row for row in rows if _is(effect, row)]
    if not mine:
        return
    tool = [replace(row, tool="forged_tool") if row in mine else row for row in rows]
    yield bench.case("wrong tool, forged", "verdict", "fail", right, rows=tool)
    extra = replace(mine[0], attempt="99.1.1", seq=len(rows) + 1)
    idle = replace(
        extra,
        tool="forged_tool",
        effect=replace(extra.effect, entity="elsewhere/1", before="a" * 16, after="a" * 16),
    )
    yield bench.case("idle write, forged", "verdict", "pass", right, rows=[*rows, idle])
    rule = ForbiddenEffect(tool="forged_tool", entity="elsewhere/9", reason="it was not to be touched")
    guarded = replace(workflow, forbidden=[*workflow.forbidden, rule])
    yield bench.case(
        "beside a forbidden entity, forged", "verdict", "pass", right, rows=[*rows, idle], workflow=guarded
    )
    for most, kind in ((1, "one call for each of two effects"), (2, "what must be before what may be")):
        other = RequiredEffect(id="any", tool=effect.tool, entity="*", arguments=effect.arguments, max=most)
        both = replace(workflow, effects=[other, *workflow.effects])
        more = [*rows, _at(extra, "elsewhere/1")]
        yield bench.case(f"{kind}, forged", "verdict", "pass", right, rows=more, workflow=both)


def _goals(bench: Bench, right: ArmRun) -> Iterator[Case]:
    """Ask for one predicate more that the final state has, or has not."""
    found = _text_cell(right.state)
    if found is None:
        return
    table, row, column, value = found
    some: dict[str, Any] = {"say": "as forged", "table": table, "row": row}
    for verdict, predicate in (
        ("pass", Predicate(check="present", **some)),
        ("fail", Predicate(check="absent", **some)),
        ("fail", Predicate(check="present", **{**some, "row": "no such row"})),
        ("pass", Predicate(check="absent", **{**some, "row": "no such row"})),
        ("pass", Predicate(check="equals", column=column, value=value, **some)),
        ("fail", Predicate(check="equals", column=column, value=f"{value}x", **some)),
        ("fail", Predicate(check="equals", column="no such column", value=None, **some)),
    ):
        workflow = replace(bench.workflow, goal=[*bench.workflow.goal, predicate])
        yield bench.case(f"one more goal ({predicate.check})", "verdict", verdict, right, workflow=workflow)
    for text, verdict in (
        ("[1]", "pass"),
        ("[2]", "fail"),
        ("1", "pass"),
        ("2", "fail"),
        ("no JSON", "fail"),
    ):
        wanted: Any = 1 if text in ("1", "2") else [1]
        predicate = Predicate(check="json_equals", column="forged", value=wanted, **some)
        cell = {**right.state[table][row], "forged": text}
        state = {**right.state, table: {**right.state[table], row: cell}}
        workflow = replace(bench.workflow, goal=[*_others(bench, table), predicate])
        yield bench.case(
            "one more goal (json_equals)", "verdict", verdict, right, workflow=workflow, state=state
        )


def _others(bench: Bench, table: str) -> list[Predicate]:
    return [predicate for predicate in bench.workflow.goal if predicate.table != table]


def _text_cell(state: State) -> tuple[str, str, str, str] | None:
    return next(
        (
            (table, row, column, value)
            for table, rows in state.items()
            for row, cells in rows.items()
            for column, value in cells.items()
            if isinstance(value, str) and value[:1].isalpha()
        ),
        None,
    )


def _is(effect: RequiredEffect, row: LedgerRow) -> bool:
    return effect.tool == row.tool and holds(effect.arguments, row.arguments)


def _at(row: LedgerRow, entity: str) -> LedgerRow:
    return replace(row, effect=replace(row.effect, entity=entity))


def _with_max(bench: Bench, tool: str, most: int) -> Workflow:
    place = next(n for n, effect in enumerate(bench.workflow.effects) if effect.tool == tool)
    return bench.with_effect(place, replace(bench.workflow.effects[place], max=most))
