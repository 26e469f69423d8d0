"""Two agents with receipts, several effects, competing recoveries, permission and expiry as events."""

import os

import pytest

from undolab.undo.histories.agents import EVENTS, follow, opening, verdicts
from undolab.undo.histories.mechanism import Compared, Kernel
from undolab.undo.histories.summary import agents
from undolab.undo.policies.table import GUARDS, POLICIES, PUBLISHED

_KINDS = list(EVENTS)
DEPTH = 5 if "UNDOLAB_SUITE_EXAMPLES" in os.environ else 4


def _last(kind, machine, word):
    scene, verdict = opening(kind, machine), None
    for symbol in word:
        scene, verdict = follow(kind, machine, scene, symbol)
    return verdict


@pytest.fixture(scope="module")
def counts():
    return agents(3)


@pytest.mark.parametrize("kind", _KINDS)
def test_kernel_is_always_right_and_says_so(kind):
    """Whatever two agents, a peer, permission and time do, the kernel leaves the right state and names the class."""
    found = list(verdicts(kind, Kernel(), DEPTH))
    assert len(found) > 300
    for word, verdict in found:
        assert verdict.right, word
        assert verdict.status == verdict.outcome, word


def test_a_run_undoes_itself():
    """Create, edit, undo the edit, undo the creation: the kernel does it, the published policy cannot."""
    assert _last("create", Kernel(), "abBA").status == "compensated"
    published = _last("create", Compared(PUBLISHED["undoscope"]), "abBA")
    assert (published.outcome, published.status, published.right) == ("compensated", "conflict", False)


def test_effects_come_off_newest_first():
    """Two writes of one field come off in reverse order; the older one cannot jump the newer."""
    kernel = Kernel()
    assert _last("set", kernel, "abA").status == "superseded"
    assert _last("set", kernel, "abB").status == "compensated"
    assert _last("set", kernel, "abBA").status == "compensated"


def test_a_second_recovery_finds_nothing():
    """A consumed receipt answers already absent, and an own effect taken after it stays."""
    assert _last("add", Kernel(), "aAA").status == "already_absent"
    assert _last("add", Kernel(), "aAaA").status == "compensated"
    assert _last("add", Kernel(), "abAB").status == "compensated"


@pytest.mark.parametrize("word", ["ac", "axA", "atA"])
def test_authority_is_current(word):
    """Another's receipt, a withdrawn permission and an expired receipt are refused."""
    for kind in _KINDS:
        verdict = _last(kind, Kernel(), word)
        assert (verdict.outcome, verdict.status, verdict.right) == ("refused", "refused", True)


def test_permission_comes_back():
    """A permission given back allows what its withdrawal blocked; another agent's is not touched by it."""
    assert _last("add", Kernel(), "axxA").status == "compensated"
    assert _last("add", Kernel(), "bxB").status == "compensated"


@pytest.mark.parametrize("guard", ["scope", "policy", "expiry", "provenance"])
def test_guards_that_short_histories_need(counts, guard):
    """Without this guard the published policy does damage within three symbols."""
    found = [counts[kind][f"undoscope-without-{guard}"] for kind in _KINDS]
    assert sum(one["visible"] + one["provenance"] for one in found) > 0


def test_what_is_counted(counts):
    """Every mechanism has counts, none recovers more than it should, and the full published policy does no damage."""
    names = {*POLICIES, "kernel", *(f"undoscope-without-{guard}" for guard in GUARDS)}
    for kind in _KINDS:
        assert set(counts[kind]) == names
        for one in counts[kind].values():
            assert one["recovered"] <= one["eligible"] <= one["cases"]
        published = counts[kind]["undoscope"]
        assert published["visible"] == published["provenance"] == 0
    assert counts["grant"]["object"]["visible"] > 0
