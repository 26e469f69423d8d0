"""The four first effect types: how each goes forward, and how it is taken back without touching anybody else's rows.

Each type keeps three laws, which tests/undo/test_laws.py checks for every entry of the registry: forward and back gives
the state before (but for `rev`); taking back commutes with independent effects; no step breaks an invariant (balance at
or above its floor, holds within the limit, sums equal to their rows).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from undolab.undo.types import (
    OPENING,
    Decision,
    Outcome,
    Put,
    Receipt,
    Rejected,
    Resource,
    Table,
    Version,
    View,
    agent,
)

MAX_AMOUNT = 2**53 - 1
MAX_NAME = 200
MAX_GENERATION = 64
MAX_VALUE = 65_536
MAX_FIELDS = 64
_OPTIONS = {"generation", "fields", "opening", "floor", "limit"}

Forward = Callable[[View, str, str, Mapping[str, Any]], list[Put]]
Inverse = Callable[[View, Receipt], Decision]


class EffectType(NamedTuple):
    """One entry: `forward(view, generation, writer, args)` gives the changes or raises Rejected; `inverse` decides."""

    forward: Forward
    inverse: Inverse


def alive(view: View, generation: str) -> Resource:
    """Return the living incarnation.

    Raises:
        Rejected: there is none.
    """
    found = view.resource(generation)
    if found is None or not found.alive:
        raise Rejected("missing")
    return found


def named(view: View, name: str) -> str:
    """Return the generation that has the name.

    Raises:
        Rejected: none has.
    """
    found = view.named(checked_text(name))
    if found is None:
        raise Rejected("missing")
    return found


def integer(args: Mapping[str, Any], key: str) -> int:
    """Return an argument that must be a whole number, and no bool, within 2**53."""
    value = args.get(key)
    if type(value) is not int or abs(value) > MAX_AMOUNT:
        raise Rejected("integer_required")
    return value


def text(args: Mapping[str, Any], key: str, most: int = MAX_NAME) -> str:
    """Return an argument that must be a string which any store can hold, of at most so many characters."""
    return checked_text(args.get(key), most)


def checked_text(value: object, most: int = MAX_NAME) -> str:
    """Return a value that must be a string which any store can hold, of at most so many characters."""
    if (
        type(value) is not str
        or len(value) > most
        or "\0" in value
        or any("\ud800" <= c <= "\udfff" for c in value)
    ):
        raise Rejected("text_required")
    return value


def edited(generation: str, row: Resource, **changes: Any) -> Put:
    """Return the change of an accepted write to a resource: one more revision, one more standing edit."""
    return Put(Table.RESOURCE, (generation,), row._replace(rev=row.rev + 1, edits=row.edits + 1, **changes))


def undone(generation: str, row: Resource, **changes: Any) -> Put:
    """Return the change of a compensation: one more revision, one standing edit fewer."""
    return Put(Table.RESOURCE, (generation,), row._replace(rev=row.rev + 1, edits=row.edits - 1, **changes))


def settled(generation: str, row: Resource) -> Put:
    """Return the change when an effect proves gone: its edit no longer stands, and nothing that shows has changed."""
    return Put(Table.RESOURCE, (generation,), row._replace(edits=row.edits - 1))


def only(args: Mapping[str, Any], *keys: str) -> None:
    """Hold the arguments to exactly these keys."""
    if set(args) != set(keys):
        raise Rejected("arguments")


def assign(view: View, generation: str, writer: str, fields: Mapping[str, str]) -> list[Put]:
    """Return the changes that give each field a new version on top of the one that shows."""
    row = alive(view, generation)
    changes = [edited(generation, row)]
    for field, value in fields.items():
        head = view.head(generation, checked_text(field))
        if head is None:
            raise Rejected("unknown_field")
        changes.append(
            Put(Table.VERSION, (generation, field, writer), Version(checked_text(value, MAX_VALUE), head))
        )
        changes.append(Put(Table.HEAD, (generation, field), writer))
    return changes


def unassign(view: View, receipt: Receipt) -> Decision:
    """Put the predecessor of each field back, if the effect's own version still shows in all of them."""
    generation, writer = receipt.generation, agent(receipt.id)
    fields = view.written(generation, writer)
    own = [field for field in fields if view.head(generation, field) == writer]
    if not own:
        return Decision(Outcome.SUPERSEDED, "later_write")
    if len(own) < len(fields):
        return Decision(Outcome.REFUSED, "partly_superseded")
    changes = [undone(generation, alive(view, generation))]
    for field in own:
        version = view.version(generation, field, writer)
        assert version is not None  # noqa: S101 - `written` named it
        changes.append(Put(Table.HEAD, (generation, field), version.prev))
        changes.append(Put(Table.VERSION, (generation, field, writer), None))
    return Decision(Outcome.COMPENSATED, "", tuple(changes))


def _set(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "field", "value")
    return assign(view, generation, writer, {text(args, "field"): text(args, "value", MAX_VALUE)})


def _add(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "delta")
    row, delta = alive(view, generation), integer(args, "delta")
    if row.balance + delta < row.floor:
        raise Rejected("invariant")
    if row.balance + delta > MAX_AMOUNT:
        raise Rejected("integer_required")
    return [
        edited(generation, row, balance=row.balance + delta),
        Put(Table.CREDIT, (generation, writer), delta),
    ]


def _unadd(view: View, receipt: Receipt) -> Decision:
    generation, writer = receipt.generation, agent(receipt.id)
    row, delta = alive(view, generation), view.credit(generation, writer)
    if delta is None:
        return Decision(Outcome.ALREADY_ABSENT, "effect_absent", (settled(generation, row),))
    if not row.floor <= row.balance - delta <= MAX_AMOUNT:
        return Decision(Outcome.REFUSED, "invariant")
    change = undone(generation, row, balance=row.balance - delta)
    return Decision(Outcome.COMPENSATED, "", (change, Put(Table.CREDIT, (generation, writer), None)))


def _grant(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "member")
    row = alive(view, generation)
    return [edited(generation, row), Put(Table.TAG, (generation, writer), text(args, "member"))]


def _ungrant(view: View, receipt: Receipt) -> Decision:
    generation, writer = receipt.generation, agent(receipt.id)
    row = alive(view, generation)
    if view.tag(generation, writer) is None:
        return Decision(Outcome.ALREADY_ABSENT, "effect_absent", (settled(generation, row),))
    return Decision(
        Outcome.COMPENSATED, "", (undone(generation, row), Put(Table.TAG, (generation, writer), None))
    )


def opened(view: View, generation: str, name: str, args: Mapping[str, Any]) -> list[Put]:
    """Return the changes that bring a resource to life under a generation never used before."""
    if not set(args) <= _OPTIONS:
        raise Rejected("arguments")
    if not checked_text(generation, MAX_GENERATION):
        raise Rejected("text_required")
    if name == "*":
        raise Rejected("reserved")  # it means any name in a permission
    if view.named(checked_text(name)) is not None:
        raise Rejected("exists")
    if view.resource(generation) is not None:
        raise Rejected("generation_used")
    opening, floor, limit = (integer({key: 0, **args}, key) for key in ("opening", "floor", "limit"))
    if opening < floor or limit < 0:
        raise Rejected("invariant")
    fields = args.get("fields", {})
    if not isinstance(fields, Mapping) or len(fields) > MAX_FIELDS:
        raise Rejected("arguments")
    changes = [
        Put(Table.NAME, (name,), generation),
        Put(Table.RESOURCE, (generation,), Resource(name, balance=opening, floor=floor, limit=limit)),
        Put(Table.CREDIT, (generation, OPENING), opening),
    ]
    for field, value in fields.items():
        checked_text(field)
        changes.append(
            Put(Table.VERSION, (generation, field, OPENING), Version(checked_text(value, MAX_VALUE), ""))
        )
        changes.append(Put(Table.HEAD, (generation, field), OPENING))
    return changes


def buried(generation: str, row: Resource) -> tuple[Put, ...]:
    """Return the changes of a deletion: the name is free, a tombstone stays, and its rows go with it."""
    return (Put(Table.NAME, (row.name,), None), Put(Table.RESOURCE, (generation,), row._replace(alive=False)))


def _create(view: View, generation: str, _writer: str, args: Mapping[str, Any]) -> list[Put]:
    rest = {key: value for key, value in args.items() if key != "name"}
    return opened(view, generation, text(args, "name"), rest)


def _uncreate(view: View, receipt: Receipt) -> Decision:
    row = alive(view, receipt.generation)
    if row.edits:
        return Decision(Outcome.REFUSED, "in_use")
    return Decision(Outcome.COMPENSATED, "", buried(receipt.generation, row))


FIRST: dict[str, EffectType] = {
    "set": EffectType(_set, unassign),
    "add": EffectType(_add, _unadd),
    "grant": EffectType(_grant, _ungrant),
    "create": EffectType(_create, _uncreate),
}
