"""What each policy looks at before it acts: evidence that the effect still stands. "" lets the inverse run."""

from collections.abc import Callable
from typing import TypeAlias

from undolab.undo.policies.receipt import Receipt
from undolab.undo.policies.resource import Resource, balance, visible

Guard: TypeAlias = Callable[[Resource, Receipt], str]


def none(current: Resource, receipt: Receipt) -> str:
    """Look at nothing."""
    del current, receipt
    return ""


def always(current: Resource, receipt: Receipt) -> str:
    """Refuse, whatever the state."""
    del current, receipt
    return "denied"


def value(current: Resource, receipt: Receipt) -> str:
    """Compare visible values with those of the receipt, whoever wrote them."""
    event = receipt.event
    if event.op == "set":
        same = current.fields[event.field].value == event.text
    elif event.op == "add":
        same = balance(current) == balance(receipt.after)
    elif event.op == "grant":
        same = event.text in current.grants.values()
    else:
        same = visible(current) == visible(receipt.after)
    return "" if same else "conflict"


def whole(current: Resource, receipt: Receipt) -> str:
    """Compare the revision of the whole object."""
    return "" if current.rev == receipt.after.rev else "conflict"


def component(current: Resource, receipt: Receipt) -> str:
    """Compare the part that the effect wrote: the register's head, else the counter of its component.

    For a creation the part is the whole object: a counter of creations would not see later edits.
    """
    op = receipt.event.op
    if op == "set":
        return _head(current, receipt)
    if op == "create":
        return whole(current, receipt)
    return "" if current.component[op] == receipt.after.component[op] else "conflict"


def provenance(current: Resource, receipt: Receipt) -> str:
    """Ask for the effect itself: its head, its ledger key; a tag may be gone, a creation must be untouched."""
    op = receipt.event.op
    if op == "set":
        return _head(current, receipt)
    if op == "add":
        return "" if receipt.ident in current.credits else "effect_missing"
    return whole(current, receipt) if op == "create" else ""


def _head(current: Resource, receipt: Receipt) -> str:
    return "" if current.fields[receipt.event.field].head == receipt.ident else "conflict"
