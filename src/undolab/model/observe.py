"""Reading an effect back: what a public reader's answers before and after a lost call say about it."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from undolab.model.calls import Phase, Reply
from undolab.model.match import holds, same_value
from undolab.model.tools import Observe


class Seen(Enum):
    """What a read-back shows."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWABLE = "unknowable"


def reader_arguments(observe: Observe, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the reader's arguments for a write with `arguments`; None if the write lacks one of them."""
    try:
        filled: dict[str, Any] = fill(observe.arguments, arguments)
    except KeyError:
        return None
    return filled


def fill(template: Any, arguments: Mapping[str, Any]) -> Any:
    """Return `template` with `{name}` replaced by the write's argument; a string that is one placeholder keeps its type.

    `-{name}` is the negative of a number.

    Raises:
        KeyError: the write has no such argument.
        TypeError: `-{name}` names an argument that is no number.
    """
    if isinstance(template, dict):
        return {key: fill(value, arguments) for key, value in template.items()}
    if isinstance(template, str):
        if template.startswith("-{") and template.endswith("}"):
            return -arguments[template[2:-1]]
        if template.startswith("{") and template.endswith("}") and template.count("{") == 1:
            return arguments[template[1:-1]]
        return template.format_map(arguments) if "{" in template else template
    return template


def seen(observe: Observe, arguments: Mapping[str, Any], before: Reply | None, after: Reply) -> Seen:
    """Decide from the read before the call and the read after it whether the write took effect.

    `before` is None where no read was taken. Whatever does not fit exactly one of the two stories is unknowable: someone
    else may have written.
    """
    if after.phase is Phase.UNKNOWN:
        return Seen.UNKNOWABLE
    try:
        wanted, step = fill(observe.fields, arguments), fill(observe.by, arguments)
    except (KeyError, TypeError):
        return Seen.UNKNOWABLE
    missing = after.phase is Phase.FAIL and after.output.get("code") == "not_found"
    match observe.rule:
        case "gone":
            return _either(missing, after.phase is Phase.OK)
        case "exists":
            if missing:
                return Seen.ABSENT
            return Seen.PRESENT if _has(after, wanted) else Seen.UNKNOWABLE
        case "set":
            return _set(wanted, before, after)
        case "added":
            return _added(observe, step, before, after)
        case "listed":
            return _listed(observe, wanted, before, after)


def _either(present: bool, absent: bool) -> Seen:
    if present == absent:
        return Seen.UNKNOWABLE
    return Seen.PRESENT if present else Seen.ABSENT


def _has(reply: Reply, wanted: Mapping[str, Any]) -> bool:
    return reply.phase is Phase.OK and all(
        same_value(value, at(reply.output, path)) for path, value in wanted.items()
    )


def _set(wanted: Mapping[str, Any], before: Reply | None, after: Reply) -> Seen:
    if _has(after, wanted):
        return Seen.PRESENT
    unchanged = before is not None and before.phase is after.phase and same_value(before.output, after.output)
    return Seen.ABSENT if unchanged else Seen.UNKNOWABLE


def _added(observe: Observe, step: Any, before: Reply | None, after: Reply) -> Seen:
    if before is None or before.phase is not Phase.OK or after.phase is not Phase.OK:
        return Seen.UNKNOWABLE
    old, new = at(before.output, observe.field), at(after.output, observe.field)
    if not all(isinstance(value, int | float) for value in (old, new, step)):
        return Seen.UNKNOWABLE
    return _either(new == old + step, new == old)


def _listed(observe: Observe, wanted: Mapping[str, Any], before: Reply | None, after: Reply) -> Seen:
    if before is None or before.phase is not Phase.OK or after.phase is not Phase.OK:
        return Seen.UNKNOWABLE
    old, new = (_count(reply, observe.field, wanted) for reply in (before, after))
    return _either(new == old + 1, new == old)


def _count(reply: Reply, field: str, wanted: Mapping[str, Any]) -> int:
    items = at(reply.output, field or "items")
    return sum(holds(wanted, item) for item in items) if isinstance(items, list) else -1


def at(value: Any, path: str) -> Any:
    """Return the part of a JSON object at a dotted path, None where there is none."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value
