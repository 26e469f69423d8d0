"""One row: one policy's recovery at the end of one history, judged by both oracles."""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from undolab.undo.histories.oracles import Truth, contract, counterfactual
from undolab.undo.histories.signature import signature
from undolab.undo.histories.walk import Walk
from undolab.undo.policies.receipt import Receipt
from undolab.undo.policies.resource import Resource, visible
from undolab.undo.policies.table import COMPENSATED, NOTHING, POLICIES, transform


class Damage(NamedTuple):
    """How a state that changed differs from the expected one: in what users see, or in whose work it is."""

    visible: bool
    provenance: bool


class Row(NamedTuple):
    """The published columns, then ours. `right`: the state is what the history's class asks for, changed or not."""

    eligible: bool
    collateral: bool
    recovered: bool
    changed: bool
    status: str
    outcome: str
    damage: Damage
    right: bool
    replay_outcome: str
    replay_damage: Damage
    replay_right: bool


def damage(
    before: Resource | None, after: Resource | None, expected: Resource | None, own: set[str]
) -> Damage:
    """Return the damage done by a step from `before` to `after` where `expected` was due; none if nothing changed."""
    mine = signature(after, own)
    if mine == signature(before, own) or mine == signature(expected, own):
        return Damage(visible=False, provenance=False)
    seen = visible(after) != visible(expected)
    return Damage(visible=seen, provenance=not seen)


def score(kind: str, walk: Walk, receipt: Receipt, omit: AbstractSet[str] = NOTHING) -> tuple[Row, ...]:
    """Return one row for each policy, in the order of `POLICIES`; `omit` leaves guards out of all of them."""
    truth, again = contract(kind, walk, receipt), counterfactual(kind, walk, receipt)
    own = {receipt.ident}
    before = signature(walk.actual, own)
    due, due_again = signature(truth.expected, own), signature(again.expected, own)
    rows: dict[tuple[str, int], Row] = {}
    out = []
    for policy in POLICIES.values():
        status, after = transform(policy, walk.actual, receipt, walk.replay, omit)
        # Most policies leave the state as it is; equal answers share a row.
        key = (status, 0 if after is walk.actual else id(policy))
        if key not in rows:
            rows[key] = _row(walk, after, status, truth, again, (before, due, due_again), own)
        out.append(rows[key])
    return tuple(out)


def _row(
    walk: Walk,
    after: Resource | None,
    status: str,
    truth: Truth,
    again: Truth,
    wanted: tuple[tuple[object, ...], ...],
    own: set[str],
) -> Row:
    before, due, due_again = wanted
    mine = before if after is walk.actual else signature(after, own)
    changed = mine != before
    none = Damage(visible=False, provenance=False)
    harm = damage(walk.actual, after, truth.expected, own) if changed and mine != due else none
    harm_again = damage(walk.actual, after, again.expected, own) if changed and mine != due_again else none
    return Row(
        truth.eligible,
        any(harm),
        truth.eligible and status == COMPENSATED and mine == due,
        changed,
        status,
        truth.outcome,
        harm,
        mine == due,
        again.outcome,
        harm_again,
        mine == due_again,
    )
