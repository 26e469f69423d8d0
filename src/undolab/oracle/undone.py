"""Calls that died between their parts, and calls that a method took back: what the roles of commits must know of them."""

from collections.abc import Mapping, Sequence

from undolab.model.calls import LedgerRow, Phase
from undolab.model.match import same_value
from undolab.model.observe import fill
from undolab.model.tools import ToolSpec
from undolab.oracle.history import History


def half_done(log: History) -> set[str]:
    """Return the attempts of which only some parts were committed."""
    return {event.attempt for event in log.events if event.parts and event.effects}


def taken_back(log: History, tools: Mapping[str, ToolSpec], rows: Sequence[LedgerRow]) -> dict[str, str]:
    """Return each committed undo call of a method, as attempt, with the attempt that it took back.

    An undo call is one of a method whose tool and arguments are those of the inverse of an earlier commit; each commit is taken
    back once, the newest first. What a second undo of the same commit does is no undo.
    """
    if not any(row.attempt.endswith("m") for row in rows):
        return {}
    outputs = {event.attempt: event.output for event in log.events if event.phase is not Phase.INVOKE}
    undone: dict[str, str] = {}
    earlier: list[LedgerRow] = []
    seen: set[str] = set()
    for row in rows:
        if row.attempt in seen:
            continue
        seen.add(row.attempt)
        if row.attempt.endswith("m"):
            found = next(
                (one for one in reversed(earlier) if _undoes(row, one, tools, outputs.get(one.attempt))), None
            )
            if found is not None:
                undone[row.attempt] = found.attempt
                earlier.remove(found)
        else:
            earlier.append(row)
    return undone


def _undoes(
    undo: LedgerRow, done: LedgerRow, tools: Mapping[str, ToolSpec], output: Mapping[str, object] | None
) -> bool:
    spec = tools.get(done.tool)
    inverse = spec.inverse if spec else None
    if inverse is None or inverse.tool != undo.tool:
        return False
    known = {**done.arguments, **{f"output.{name}": value for name, value in (output or {}).items()}}
    for name, template in inverse.arguments.items():
        if "{before." in str(template):
            continue
        try:
            wanted = fill(template, known)
        except KeyError:
            return False
        if not same_value(wanted, undo.arguments.get(name)):
            return False
    return True
