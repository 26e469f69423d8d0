"""The published guard ablation: ten cases, each with no guard left out and with each of the seven left out."""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from undolab.undo.histories.grammar import CONTEXT, EXPIRES, IDENT, NOW, effect
from undolab.undo.histories.oracles import Truth, contract
from undolab.undo.histories.score import damage
from undolab.undo.histories.signature import signature
from undolab.undo.histories.walk import Walk, follow
from undolab.undo.policies.receipt import Context, Receipt
from undolab.undo.policies.resource import Resource
from undolab.undo.policies.table import (
    COMPENSATED,
    GUARDS,
    PUBLISHED,
    Authority,
    authorise,
    transform,
)

HEADER = ("case", "omitted", "eligible", "collateral", "recovered", "changed", "status")
_POLICY = PUBLISHED["undoscope"]
_STRANGER = Context("acme", "agent", "run-2")


class Case(NamedTuple):
    """A history and the circumstances of its recovery."""

    name: str
    kind: str
    word: str = ""
    caller: Context = CONTEXT
    allowed: bool = True
    now: int = NOW
    consumed: bool = False

    @property
    def permitted(self) -> bool:
        """Return whether the caller may use the receipt at all, as the contract says."""
        return self.caller == CONTEXT and self.allowed and self.now < EXPIRES and not self.consumed


CASES = (
    Case("same_value", "set", "0"),
    Case("independent_grant", "grant", "0"),
    Case("disjoint_field", "set", "3"),
    Case("independent_credit", "add", "0"),
    Case("reused_name", "create", "2"),
    Case("business_invariant", "add", "111"),
    Case("wrong_run", "add", caller=_STRANGER),
    Case("revoked", "add", allowed=False),
    Case("expired", "add", now=EXPIRES),
    Case("duplicate", "add", consumed=True),
)


class Line(NamedTuple):
    """One row of the ablation, in the published columns."""

    case: str
    omitted: str
    eligible: bool
    collateral: bool
    recovered: bool
    changed: bool
    status: str


def lines() -> Iterator[Line]:
    """Yield the 80 rows: case by case, first without omission, then each guard in its order of checking."""
    for case in CASES:
        for omitted in ("none", *GUARDS):
            yield _line(case, omitted)


def _line(case: Case, omitted: str) -> Line:
    receipt = effect(case.kind)
    walk = follow(case.kind, case.word)
    if case.consumed:
        walk = walk._replace(actual=_recover(Case("", case.kind), walk, receipt, "none")[1])
    truth = contract(case.kind, walk, receipt)
    if not case.permitted:
        truth = Truth("refused", eligible=False, expected=walk.actual)
    status, after = _recover(case, walk, receipt, omitted)
    own = {IDENT}
    mine = signature(after, own)
    return Line(
        case.name,
        omitted,
        truth.eligible,
        any(damage(walk.actual, after, truth.expected, own)),
        truth.eligible and status == COMPENSATED and mine == signature(truth.expected, own),
        mine != signature(walk.actual, own),
        status,
    )


def _recover(case: Case, walk: Walk, receipt: Receipt, omitted: str) -> tuple[str, Resource | None]:
    omit = {omitted}
    reason = authorise(Authority(case.caller, case.allowed, case.now, case.consumed), receipt, omit)
    if reason:
        return reason, walk.actual
    return transform(_POLICY, walk.actual, receipt, walk.replay, omit)


def ablation_csv() -> bytes:
    """Return the rows as CSV."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(HEADER)
    table.writerows(lines())
    return out.getvalue().encode()


def collateral_by_guard() -> dict[str, int]:
    """Return how many of the ten cases end in collateral damage for each omission, `none` first."""
    totals = dict.fromkeys(("none", *GUARDS), 0)
    for line in lines():
        totals[line.omitted] += line.collateral
    return totals
