"""The pure transition function: what an effect, a peer's event or a recovery changes, from the rows that it reads.

No clock, no database, no switch: a store loads rows through a `View`, asks here, and writes the changes it is given.
"""

from collections.abc import Mapping
from typing import NamedTuple

from undolab.undo.effects import alive, buried, checked_text, edited, named, opened, text
from undolab.undo.registry import EFFECTS
from undolab.undo.types import (
    Context,
    Decision,
    Effect,
    Hold,
    Outcome,
    Put,
    Receipt,
    Rejected,
    Table,
    View,
    agent,
)


def forward(view: View, effect: Effect, writer: str, generation: str = "") -> tuple[str, str, list[Put]]:
    """Return (generation, other generation or "", changes) of an effect, an agent's or a peer's.

    `generation` is the new incarnation, for a creation alone. Two writes never share a writer.

    Raises:
        Rejected: the effect is not allowed; nothing changes.
    """
    kind = EFFECTS.get(checked_text(effect.kind))
    if kind is None:
        raise Rejected("unsupported")
    _mapping(effect)
    if effect.kind == "create":
        return generation, "", kind.forward(view, generation, writer, {**effect.args, "name": effect.name})
    found = named(view, effect.name)
    other = named(view, text(effect.args, "to")) if effect.kind == "transfer" else ""
    return found, other, kind.forward(view, found, writer, effect.args)


def recover(view: View, receipt: Receipt) -> Decision:
    """Decide what taking one effect back does, from its receipt and the rows as they are.

    Whether the caller may ask at all is `authorise`'s question.
    """
    row = view.resource(receipt.generation)
    kind = EFFECTS.get(receipt.kind)
    if row is None or kind is None:
        return Decision(Outcome.REFUSED, "unsupported")
    if not row.alive and not receipt.other:
        return Decision(Outcome.ALREADY_ABSENT, "incarnation_gone")
    return kind.inverse(view, receipt)


def revoke(view: View, name: str, member: str) -> list[Put]:
    """Return the changes when a peer takes every grant of a member away; an edit even when there was none."""
    generation = named(view, name)
    gone = [Put(Table.TAG, (generation, writer), None) for writer in view.tagged(generation, member)]
    return [edited(generation, alive(view, generation)), *gone]


def delete(view: View, name: str) -> list[Put]:
    """Return the changes when a peer deletes a resource."""
    generation = named(view, name)
    return list(buried(generation, alive(view, generation)))


def settle(view: View, name: str, effect: str) -> list[Put]:
    """Return the changes when a peer uses what an effect reserved: from now on it cannot be given back.

    Raises:
        Rejected: there is no open reservation of this effect.
    """
    generation = named(view, name)
    key = (generation, agent(effect))
    hold = view.hold(*key)
    if hold is None or hold.settled:
        raise Rejected("no_reservation")
    return [
        edited(generation, alive(view, generation)),
        Put(Table.HOLD, key, Hold(hold.amount, settled=True)),
    ]


def event(view: View, change: Effect, writer: str, generation: str = "") -> list[Put]:
    """Return the changes of a peer's event: any effect, or `revoke`, `settle`, `delete`, which nobody takes back.

    Raises:
        Rejected: the event is not allowed; nothing changes.
    """
    _mapping(change)
    match change.kind:
        case "revoke":
            return revoke(view, change.name, text(change.args, "member"))
        case "settle":
            return settle(view, change.name, text(change.args, "effect"))
        case "delete":
            return delete(view, change.name)
        case _:
            return forward(view, change, writer, generation)[2]


def seed(view: View, effect: Effect, generation: str) -> list[Put]:
    """Return the changes that open a resource which no agent made: no receipt for it can exist."""
    _mapping(effect)
    return opened(view, generation, effect.name, effect.args)


def _mapping(effect: Effect) -> None:
    if not isinstance(effect.args, Mapping):
        raise Rejected("arguments")


class Authority(NamedTuple):
    """What a store knows of a request besides the rows: owner and life of the receipt, and what the owner may do now.

    Times are milliseconds of the store's own clock, which never runs backwards.
    """

    owner: Context
    expires: int
    now: int
    permitted: bool
    approved: bool = True


def authorise(caller: Context, facts: Authority | None) -> str:
    """Return "" when the caller may recover this effect, else the reason, for the audit alone."""
    if facts is None:
        return "unknown_receipt"
    if facts.owner != caller:
        return "scope"
    if not facts.permitted:
        return "permission"
    if facts.now >= facts.expires:
        return "expired"
    return "" if facts.approved else "approval"
