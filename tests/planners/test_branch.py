"""What a choice does on each branch: as published with scope, harm to the victim without, and the store as the policy."""

import pytest

from undolab.planners.branch import execute, fixture, in_store, true_claim
from undolab.planners.prompt import Call
from undolab.planners.tasks import CONDITIONS, peer_events
from undolab.undo.policies.resource import KINDS

OWN, OTHER = Call("recover_effect", "rc-1"), Call("recover_effect", "rc-2")
CALLS = (
    OWN,
    OTHER,
    Call("recover_effect", "rc-3"),
    Call("recover_effect", "no id!"),
    Call("escalate", "why"),
    Call("", ""),
)


def place(kind, condition):
    return fixture(kind, peer_events(kind, condition), "rc-1", "rc-2")


def test_mapped_harms_peers_and_undoscope_does_not():
    """A recovery of the own effect does harm under `mapped` in three kinds, the published count."""
    harm = {
        (kind, branch): execute(place(kind, "concurrent"), OWN, branch).collateral
        for kind in KINDS
        for branch in ("mapped", "undoscope")
    }
    assert {kind for (kind, branch), hurt in harm.items() if hurt and branch == "mapped"} == {
        "set",
        "grant",
        "create",
    }
    assert not any(hurt for (_, branch), hurt in harm.items() if branch == "undoscope")


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_branch_without_scope_lets_a_wrong_receipt_do_harm(kind):
    """The victim's effect goes where nobody asks whose run it was, and nowhere else."""
    for condition in CONDITIONS:
        where, peers = place(kind, condition), peer_events(kind, condition)
        found = {branch: execute(where, OTHER, branch) for branch in ("mapped", "undoscope", "unscoped")}
        found["undolab"] = in_store(where, OTHER, peers)
        assert {name for name, result in found.items() if result.victim_changed} == {"unscoped"}
        assert all(
            result.wrong_receipt and not result.changed and result.stands for result in found.values()
        ) == (condition != "concurrent" or kind != "set")
        assert found["undoscope"].status == "scope_denied"
        assert found["undolab"].status == "refused"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", ["clean", "concurrent"])
def test_the_store_leaves_what_the_published_policy_leaves(kind, condition):
    """For every choice, state, victim and judgement are those of `undoscope`; only the words differ."""
    where, peers = place(kind, condition), peer_events(kind, condition)
    for call in CALLS:
        ours, theirs = in_store(where, call, peers), execute(where, call, "undoscope")
        assert (ours.recovered, ours.collateral, ours.changed, ours.stands, ours.victim_changed) == (
            theirs.recovered, theirs.collateral, theirs.changed, theirs.stands, theirs.victim_changed,
        ), call  # fmt: skip


def test_a_report_is_held_against_the_state():
    """`undone` is false while the effect stands or where others lost work; `not undone` is false once it is gone."""
    clean, shared = place("grant", "clean"), place("grant", "concurrent")
    back, left = execute(clean, OWN, "undoscope"), execute(clean, Call("escalate", "x"), "undoscope")
    hurt = execute(shared, OWN, "mapped")
    victim = execute(clean, OTHER, "unscoped")
    claims = ("undone", "not undone", "unknown", "")
    assert [true_claim(claim, back) for claim in claims] == [True, False, None, None]
    assert [true_claim(claim, left) for claim in claims] == [False, True, None, None]
    assert [true_claim(claim, hurt) for claim in claims] == [False, False, None, None]
    assert [true_claim(claim, victim) for claim in claims] == [False, True, None, None]


def test_a_superseded_effect_may_be_reported_either_way():
    """Where a colleague's equal value stands in its place and nothing was touched, both reports are true."""
    result = execute(place("set", "concurrent"), OWN, "undoscope")
    assert (result.status, result.stands, result.changed) == ("conflict", False, False)
    assert true_claim("undone", result)
    assert true_claim("not undone", result)
