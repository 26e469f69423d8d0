"""Forged histories: a right run with one thing made wrong, so that exactly one clause of the judge can see it."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from undolab.model.calls import Effect, LedgerRow
from undolab.model.match import holds
from undolab.model.tools import Op
from undolab.model.workflow import Row, State, Workflow
from undolab.oracle.predicates import predicate_holds

History = tuple[str, list[LedgerRow], State]


def forgeries(workflow: Workflow, rows: Sequence[LedgerRow], state: State) -> Iterator[History]:
    """Yield (kind, commits, state) for each thing that can be made wrong; every one of them must fail.

    Args:
        workflow: the task.
        rows: the commits of a right run.
        state: its final state.
    """
    yield from _states(workflow, rows, state)
    required = _required(workflow, rows)
    if not required:
        return
    attempt = required[-1].attempt
    mine = [row for row in rows if row.attempt == attempt]
    yield "lost effect, forged", [row for row in rows if row.attempt != attempt], state
    again = [_as(row, "99.1.1", len(rows) + n, changed=True) for n, row in enumerate(mine, start=1)]
    yield "second effect, forged", [*rows, *again], state
    yield "wrong entity, forged", [_elsewhere(row) if row.attempt == attempt else row for row in rows], state
    if any(effect.arguments for effect in workflow.effects if effect.tool == mine[0].tool):
        yield (
            "wrong argument, forged",
            [_otherwise(row) if row.attempt == attempt else row for row in rows],
            state,
        )
    yield "orphan, forged", [*rows, _elsewhere(_as(mine[0], "99.1.1", len(rows) + 1, changed=True))], state
    for rule in workflow.forbidden:
        row = replace(_as(mine[0], "99.1.1", len(rows) + 1, changed=False), tool=rule.tool, arguments={})
        entity = rule.entity.replace("*", "x")
        yield (
            "forbidden effect, forged",
            [*rows, replace(row, effect=replace(row.effect, entity=entity))],
            state,
        )
    yield from _orders(workflow, rows, state)


def _states(workflow: Workflow, rows: Sequence[LedgerRow], state: State) -> Iterator[History]:
    for predicate in workflow.goal:
        table = dict(state.get(predicate.table, {}))
        if predicate.check == "count":
            table["forged"] = {**dict.fromkeys(_columns(table), ""), **predicate.where}
        elif predicate.check == "absent":
            table[str(predicate.row)] = {}
        elif predicate.check == "present":
            table.pop(str(predicate.row), None)
        else:
            row: Row = table.get(str(predicate.row), {})
            table[str(predicate.row)] = {**row, str(predicate.column): "forged"}
        forged = {**state, predicate.table: table}
        if not predicate_holds(predicate, forged):
            yield "wrong state, forged", list(rows), forged


def _columns(table: State | dict[str, Row]) -> list[str]:
    return [column for row in table.values() for column in row]


def _required(workflow: Workflow, rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    return [
        row
        for row in rows
        if any(
            effect.tool == row.tool and holds(effect.arguments, row.arguments) for effect in workflow.effects
        )
    ]


def _as(row: LedgerRow, attempt: str, seq: int, *, changed: bool) -> LedgerRow:
    effect = row.effect
    after = f"{seq:016x}" if changed else effect.before
    made = Effect(id=f"e{seq}", entity=effect.entity, op=Op.UPDATE, before=effect.before, after=after)
    return replace(row, seq=seq, attempt=attempt, effect=made)


def _elsewhere(row: LedgerRow) -> LedgerRow:
    return replace(row, effect=replace(row.effect, entity="elsewhere/1"))


def _otherwise(row: LedgerRow) -> LedgerRow:
    return replace(row, arguments={name: [value, "forged"] for name, value in row.arguments.items()})


def _orders(workflow: Workflow, rows: Sequence[LedgerRow], state: State) -> Iterator[History]:
    """Turn the order of commits round: everything happened, but the wrong way about."""
    for first, second in workflow.order:
        sides = [
            {
                row.attempt
                for row in rows
                for effect in workflow.effects
                if effect.id == name and effect.tool == row.tool and holds(effect.arguments, row.arguments)
            }
            for name in (first, second)
        ]
        if len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1]:
            (early,), (late,) = sides
            moved = [row for row in rows if row.attempt == late]
            moved += [row for row in rows if row.attempt not in (early, late)]
            moved += [row for row in rows if row.attempt == early]
            yield (
                "reversed order, forged",
                [replace(row, seq=n) for n, row in enumerate(moved, start=1)],
                state,
            )
