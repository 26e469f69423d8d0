"""Three more effect types: several fields at once, a transfer between two ledgers, and a reservation against a limit.

They show that the registry is enough for effects of more than one row or more than one object; the laws are the same.
"""

from collections.abc import Mapping
from typing import Any

from undolab.undo.effects import (
    MAX_AMOUNT,
    MAX_FIELDS,
    EffectType,
    alive,
    assign,
    edited,
    integer,
    named,
    only,
    settled,
    text,
    unassign,
    undone,
)
from undolab.undo.types import Decision, Hold, Outcome, Put, Receipt, Rejected, Table, View, agent


def _update(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "fields")
    fields = args["fields"]
    if not isinstance(fields, Mapping) or not 0 < len(fields) <= MAX_FIELDS:
        raise Rejected("arguments")
    return assign(view, generation, writer, fields)


def _transfer(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "to", "amount")
    other, amount = named(view, text(args, "to")), integer(args, "amount")
    if other == generation or amount <= 0:
        raise Rejected("arguments")
    source, target = alive(view, generation), alive(view, other)
    if source.balance - amount < source.floor or target.balance + amount > MAX_AMOUNT:
        raise Rejected("invariant")
    return [
        edited(generation, source, balance=source.balance - amount),
        edited(other, target, balance=target.balance + amount),
        Put(Table.CREDIT, (generation, writer), -amount),
        Put(Table.CREDIT, (other, writer), amount),
    ]


def _untransfer(view: View, receipt: Receipt) -> Decision:
    """Take both halves back or neither: where one ledger is gone, half a transfer would make or lose money."""
    generation, other, writer = receipt.generation, receipt.other, agent(receipt.id)
    source, target = view.resource(generation), view.resource(other)
    amount = view.credit(other, writer)
    if source is None or target is None or not (source.alive or target.alive):
        return Decision(Outcome.ALREADY_ABSENT, "incarnation_gone")
    if amount is None or not (source.alive and target.alive):
        return Decision(Outcome.REFUSED, "half_gone")
    if target.balance - amount < target.floor or source.balance + amount > MAX_AMOUNT:
        return Decision(Outcome.REFUSED, "invariant")
    changes = (
        undone(generation, source, balance=source.balance + amount),
        undone(other, target, balance=target.balance - amount),
        Put(Table.CREDIT, (generation, writer), None),
        Put(Table.CREDIT, (other, writer), None),
    )
    return Decision(Outcome.COMPENSATED, "", changes)


def _reserve(view: View, generation: str, writer: str, args: Mapping[str, Any]) -> list[Put]:
    only(args, "amount")
    row, amount = alive(view, generation), integer(args, "amount")
    if amount <= 0:
        raise Rejected("arguments")
    if row.held + amount > row.limit:
        raise Rejected("invariant")
    return [
        edited(generation, row, held=row.held + amount),
        Put(Table.HOLD, (generation, writer), Hold(amount)),
    ]


def _unreserve(view: View, receipt: Receipt) -> Decision:
    generation, writer = receipt.generation, agent(receipt.id)
    row, hold = alive(view, generation), view.hold(generation, writer)
    if hold is None:
        return Decision(Outcome.ALREADY_ABSENT, "effect_absent", (settled(generation, row),))
    if hold.settled:
        return Decision(Outcome.REFUSED, "settled")
    change = undone(generation, row, held=row.held - hold.amount)
    return Decision(Outcome.COMPENSATED, "", (change, Put(Table.HOLD, (generation, writer), None)))


COMPOSITE: dict[str, EffectType] = {
    "update": EffectType(_update, unassign),
    "transfer": EffectType(_transfer, _untransfer),
    "reserve": EffectType(_reserve, _unreserve),
}
