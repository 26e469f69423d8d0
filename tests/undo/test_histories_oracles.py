"""Two oracles, four classes, and damage that shows apart from damage that does not."""

import os

import pytest

from undolab.undo.histories.conform import conform
from undolab.undo.histories.direct import direct
from undolab.undo.histories.grammar import effect
from undolab.undo.histories.oracles import contract, counterfactual
from undolab.undo.histories.summary import summary
from undolab.undo.histories.walk import follow
from undolab.undo.policies.resource import KINDS

DEPTH = 8 if "UNDOLAB_SUITE_EXAMPLES" in os.environ else 4


@pytest.fixture(scope="module")
def found():
    return summary(4, 1)


def test_four_classes(found):
    """What the published count calls ineligible or completed falls into four classes."""
    classes = {
        kind: {name: entry["histories"] for name, entry in entries.items() if entry["histories"]}
        for kind, entries in found["classes"].items()
    }
    assert classes == {
        "set": {"compensated": 5, "superseded": 336},
        "add": {"compensated": 331, "refused": 10},
        "grant": {"compensated": 121, "already_absent": 220},
        "create": {"compensated": 1, "already_absent": 310, "refused": 30},
    }


def test_undoscope_is_right_in_every_class(found):
    """The published policy leaves the state right in all four classes; denying all is right in three of them."""
    for entries in found["classes"].values():
        for name, entry in entries.items():
            assert entry["right"]["undoscope"] == entry["histories"]
            assert entry["right"]["deny"] == (0 if name == "compensated" else entry["histories"])


def test_visible_and_provenance_damage(found):
    """A third of the mapped policy's damage to registers shows only in whose write it is."""
    damage = found["damage_by_kind"]["set"]["mapped"]
    assert (damage["visible"], damage["provenance"]) == (224, 112)
    for policy, counts in found["damage"].items():
        assert counts["visible"] + counts["provenance"] == found["policies"][policy]["collateral"]


def test_where_the_oracles_part(found):
    """The oracles agree but for one history: a debit that only the effect made possible, then a credit."""
    assert found["oracles"] == {
        "set": {"compensated/compensated": 5, "superseded/superseded": 336},
        "add": {"compensated/compensated": 330, "compensated/refused": 1, "refused/refused": 10},
        "grant": {"already_absent/already_absent": 220, "compensated/compensated": 121},
        "create": {
            "already_absent/already_absent": 310, "compensated/compensated": 1, "refused/refused": 30,
        },
    }  # fmt: skip
    walk = follow("add", "1110")
    assert contract("add", walk, effect("add")).outcome == "compensated"
    assert counterfactual("add", walk, effect("add")).outcome == "refused"


def test_rebuild_loses_a_peers_debit(found):
    """Playing the log again without the effect drops writes that rested on it, so it does damage."""
    rows = {word: row[-1] for word, row in direct("add", 3)}
    assert rows["111"].collateral
    assert found["policies"]["rebuild"]["collateral"] == 41


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_is_right_on_every_history(kind):
    """The production kernel names the contract's class and leaves its state, whatever the word."""
    outcomes, wrong = conform(kind, DEPTH)
    assert wrong == []
    assert sum(outcomes.values()) == (4 ** (DEPTH + 1) - 1) // 3
