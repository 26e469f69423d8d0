"""The policies by name: the seven published ones, and three of ours that the published comparison lacks.

Each is a guard and an inverse; the checks that all of them share are in `transform` and `authorise`. `omit`
leaves single guards out, for the ablation; it exists here, among the comparators, and not in the kernel or store.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from undolab.undo.policies import guards, inverses
from undolab.undo.policies.receipt import Context, Receipt
from undolab.undo.policies.resource import Resource, balance

COMPENSATED = "compensated"
NOTHING: frozenset[str] = frozenset()


class Policy(NamedTuple):
    """When to act, and how."""

    guard: guards.Guard
    inverse: inverses.Inverse


PUBLISHED: Mapping[str, Policy] = {
    "snapshot": Policy(guards.none, inverses.snapshot),
    "mapped": Policy(guards.none, inverses.mapped),
    "value": Policy(guards.value, inverses.mapped),
    "object": Policy(guards.whole, inverses.mapped),
    "field": Policy(guards.component, inverses.mapped),
    "undoscope": Policy(guards.provenance, inverses.scoped),
    "deny": Policy(guards.always, inverses.mapped),
}
OURS: Mapping[str, Policy] = {
    "tagged": Policy(guards.component, inverses.scoped),
    "merge": Policy(guards.none, inverses.merge),
    "rebuild": Policy(guards.none, inverses.rebuild),
}
POLICIES: Mapping[str, Policy] = {**PUBLISHED, **OURS}
GUARDS = ("scope", "policy", "expiry", "incarnation", "provenance", "invariant", "consumption")


class Authority(NamedTuple):
    """What decides whether a receipt may be used now, the state of the resource apart."""

    caller: Context
    allowed: bool
    now: int
    consumed: bool


def authorise(authority: Authority, receipt: Receipt | None, omit: AbstractSet[str] = NOTHING) -> str:
    """Return "" or the first published reason why the receipt may not be used."""
    if receipt is None:
        return "unknown_receipt"
    if authority.caller != receipt.context and "scope" not in omit:
        return "scope_denied"
    if not authority.allowed and "policy" not in omit:
        return "policy_denied"
    if authority.now >= receipt.expires and "expiry" not in omit:
        return "expired"
    if authority.consumed and "consumption" not in omit:
        return "already_compensated"
    return ""


def transform(
    policy: Policy,
    current: Resource | None,
    receipt: Receipt,
    rebuilt: Resource | None,
    omit: AbstractSet[str] = NOTHING,
) -> tuple[str, Resource | None]:
    """Return the published status of a permitted recovery and the state after it.

    `rebuilt` is the state that the log gives without the effect; only the policy `rebuild` reads it.
    Without `provenance`, a policy that has it acts as `mapped` does.
    """
    if current is None:
        return "missing", None
    if current.generation != receipt.after.generation and "incarnation" not in omit:
        return "incarnation_conflict", current
    guard, inverse = policy
    if "provenance" in omit and guard is guards.provenance:
        guard, inverse = PUBLISHED["mapped"]
    reason = guard(current, receipt)
    if reason:
        return reason, current
    result = inverse(current, receipt, rebuilt)
    if result is inverses.STUCK:
        return "conflict", current
    if result is None:
        return COMPENSATED, None
    if balance(result) < 0 and "invariant" not in omit:
        return "invariant_conflict", current
    kind = receipt.event.op
    component = {**current.component, kind: current.component[kind] + 1}
    return COMPENSATED, result._replace(rev=current.rev + 1, component=component)
