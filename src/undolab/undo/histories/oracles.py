"""Two independent answers to the question what the right outcome of a recovery is.

`contract` restates the published rule, which names the effect's own entries. `counterfactual` names none: it compares
the state with the one that the same peer events give when the effect never happened.
"""

from typing import NamedTuple

from undolab.undo.histories.signature import signature
from undolab.undo.histories.walk import Walk
from undolab.undo.policies.receipt import Receipt
from undolab.undo.policies.resource import INITIAL, Cell, Resource, balance

CLASSES = ("compensated", "already_absent", "superseded", "refused")


class Truth(NamedTuple):
    """What should happen: one of the four classes, and the state that should stand afterwards."""

    outcome: str
    eligible: bool
    expected: Resource | None


def contract(kind: str, walk: Walk, receipt: Receipt) -> Truth:
    """Return the published oracle's answer. `eligible` is its own count; the class tells its no-ops apart."""
    state, own = walk.actual, receipt.ident
    gone = kind == "create" and walk.replaced
    if state is None or gone:
        return Truth("already_absent", eligible=False, expected=state)
    if kind == "set":
        if walk.overwritten:
            return Truth("superseded", eligible=False, expected=state)
        fields = {**state.fields, "status": Cell("open", INITIAL)}
        return Truth("compensated", eligible=True, expected=state._replace(fields=fields))
    if kind == "add":
        others = {key: amount for key, amount in state.credits.items() if key != own}
        if sum(others.values()) < 0:
            return Truth("refused", eligible=False, expected=state)
        return Truth("compensated", eligible=True, expected=state._replace(credits=others))
    if kind == "grant":
        tags = {tag: who for tag, who in state.grants.items() if tag != own}
        outcome = "compensated" if own in state.grants else "already_absent"
        return Truth(outcome, eligible=True, expected=state._replace(grants=tags))
    if walk.length:
        return Truth("refused", eligible=False, expected=state)
    return Truth("compensated", eligible=True, expected=None)


def counterfactual(kind: str, walk: Walk, receipt: Receipt) -> Truth:
    """Return the replay oracle's answer: what stands when the effect never happened.

    Nothing to undo where both states are the same; refused where a peer's work rests on the effect, or where
    taking the effect out would leave a negative balance.
    """
    own = {receipt.ident}
    if signature(walk.actual, own) == signature(walk.replay, own):
        outcome = "superseded" if kind == "set" else "already_absent"
        return Truth(outcome, eligible=False, expected=walk.actual)
    if walk.parted or (walk.replay is not None and balance(walk.replay) < 0):
        return Truth("refused", eligible=False, expected=walk.actual)
    return Truth("compensated", eligible=True, expected=walk.replay)
