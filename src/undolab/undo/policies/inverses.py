"""What each policy does to the state once its guard has let it: the other half of a policy.

An inverse answers the new state, None for a deletion, or `STUCK` where it finds a conflict of its own.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, Literal, TypeAlias

from undolab.undo.policies.receipt import Receipt
from undolab.undo.policies.resource import Resource, balance, visible, without_member


class _Stuck(Enum):
    STUCK = "stuck"


STUCK: Final = _Stuck.STUCK
Result: TypeAlias = Resource | Literal[_Stuck.STUCK] | None
Inverse: TypeAlias = Callable[[Resource, Receipt, Resource | None], Result]


def snapshot(current: Resource, receipt: Receipt, rebuilt: Resource | None) -> Result:
    """Put the whole object back as the receipt saw it before the effect."""
    del current, rebuilt
    return receipt.before


def mapped(current: Resource, receipt: Receipt, rebuilt: Resource | None) -> Result:
    """Do the opposite operation: restore the value, book the opposite amount, take the member out, delete."""
    del rebuilt
    event = receipt.event
    if event.op == "set":
        return _restore_cell(current, receipt)
    if event.op == "add":
        key = f"inverse:{receipt.ident}:{current.rev}"
        return current._replace(credits={**current.credits, key: -event.delta})
    if event.op == "grant":
        return without_member(current, event.text)
    return None


def scoped(current: Resource, receipt: Receipt, rebuilt: Resource | None) -> Result:
    """Take out exactly what the effect put in: its predecessor cell back, its ledger key or tag away, delete."""
    del rebuilt
    op, ident = receipt.event.op, receipt.ident
    if op == "set":
        return _restore_cell(current, receipt)
    if op == "add":
        return current._replace(credits={key: n for key, n in current.credits.items() if key != ident})
    if op == "grant":
        return current._replace(grants={tag: who for tag, who in current.grants.items() if tag != ident})
    return None


def merge(current: Resource, receipt: Receipt, rebuilt: Resource | None) -> Result:
    """Merge visible values three ways, as a revert does: base = after the effect, one side = before it, other = now.

    A cell is one value, the balance one number, the members one set. Whoever wrote a value is not looked at.
    """
    del rebuilt
    base, side = receipt.after, receipt.before
    if side is None:
        return None if visible(current) == visible(base) else STUCK
    fields = dict(current.fields)
    for name, cell in base.fields.items():
        if side.fields[name].value == cell.value or current.fields[name].value == side.fields[name].value:
            continue
        if current.fields[name].value != cell.value:
            return STUCK
        fields[name] = side.fields[name]
    ledger = current.credits
    was, now = balance(side), balance(current)
    if was != balance(base) and now != was:
        if now != balance(base):
            return STUCK
        ledger = {**ledger, f"inverse:{receipt.ident}:{current.rev}": was - balance(base)}
    gained = set(base.grants.values()) - set(side.grants.values())
    grants = {tag: who for tag, who in current.grants.items() if who not in gained}
    return current._replace(fields=fields, credits=ledger, grants=grants)


def rebuild(current: Resource, receipt: Receipt, rebuilt: Resource | None) -> Result:
    """Replace the object by what the log gives when it is played again without the effect."""
    del current, receipt
    return rebuilt


def _restore_cell(current: Resource, receipt: Receipt) -> Result:
    if receipt.before is None:
        return STUCK
    name = receipt.event.field
    return current._replace(fields={**current.fields, name: receipt.before.fields[name]})
