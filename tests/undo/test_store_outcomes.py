"""What becomes of one effect: each kind taken back, superseded, already absent or refused."""

import pytest
from tests.undo.conftest import (
    EACH,
    ME,
    PEER,
    REFUSED,
    UNDONE,
    add,
    create,
    everything,
    grant,
    last_reason,
    put,
    reserve,
)

from undolab.undo.store import Answer, Store
from undolab.undo.types import Effect, Outcome, Rejected


@pytest.mark.parametrize("effect", EACH, ids=lambda effect: effect.kind)
def test_each_kind_is_taken_back_once(store: Store, effect: Effect) -> None:
    """What shows is as before; a repeat answers with the first outcome and changes nothing (B27)."""
    store.seed("acme", "till", {})
    before = store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")
    receipt = store.forward(ME, effect)
    assert (store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")) != before
    assert store.preview(ME, receipt.id) == UNDONE
    assert store.recover(ME, receipt.id) == UNDONE
    assert (store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")) == before
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED, repeated=True)
    assert everything(store) == rows
    assert store.audit_problems() == []


@pytest.mark.parametrize("value", ["triage", "closed", "open"])
def test_a_later_write_supersedes_even_with_the_same_value(store: Store, value: str) -> None:
    """Equal values by another writer are another effect: nothing is touched."""
    receipt = store.forward(ME, put("status", "triage"))
    store.peer(PEER, "1", put("status", value))
    store.peer(PEER, "2", put("status", "triage"))
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.SUPERSEDED)
    assert everything(store) == rows


def test_assignments_come_back_in_order(store: Store) -> None:
    """The first of two assignments waits for the second; then both are undone and the opening value shows."""
    first, second = store.forward(ME, put("status", "triage")), store.forward(ME, put("status", "closed"))
    assert store.recover(ME, first.id) == Answer(Outcome.SUPERSEDED)
    assert store.recover(ME, second.id) == UNDONE
    assert store.recover(ME, first.id) == UNDONE
    assert store.show("acme", "ticket")["fields"]["status"] == "open"


def test_a_peers_equal_grant_stays(store: Store) -> None:
    """Two grants of one member are two effects: the member stays while one is left."""
    receipt = store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", grant("contractor"))
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "ticket")["members"] == ["contractor"]


def test_a_revoked_grant_is_already_absent(store: Store) -> None:
    """Nothing of it is left: no row changes but the receipt's outcome, and the answer says so for ever."""
    receipt = store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", Effect("revoke", "ticket", {"member": "contractor"}))
    rev = store._db.execute("SELECT rev FROM incarnations").fetchone()
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT, repeated=True)
    assert store._db.execute("SELECT rev FROM incarnations").fetchone() == rev


def test_an_invariant_refuses(store: Store) -> None:
    """A contribution that others have spent stays until it is covered again."""
    receipt = store.forward(ME, add(4))
    for number in range(3):
        store.peer(PEER, str(number), add(-4))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "invariant"
    store.peer(PEER, "more", add(2))
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "ticket")["balance"] == 0


def test_a_created_thing_that_others_edited_stays(store: Store) -> None:
    """Any standing edit keeps it, even one that changed no value; once it is taken back the creation can be too."""
    receipt = store.forward(ME, create("folder"))
    other = store.forward(ME._replace(run="run-2"), put("status", "open", "folder"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "in_use"
    assert store.recover(ME._replace(run="run-2"), other.id) == UNDONE
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "folder") is None


@pytest.mark.parametrize("effect", EACH[:5] + EACH[6:], ids=lambda effect: effect.kind)
def test_a_name_used_again_is_another_thing(store: Store, effect: Effect) -> None:
    """The old incarnation is gone, with all that was on it: already absent, and the new one untouched."""
    receipt = store.forward(ME, effect)
    store.peer(PEER, "1", Effect("delete", effect.name, {}))
    store.peer(PEER, "2", Effect("create", effect.name, {"fields": {"status": "open"}, "limit": 10}))
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)
    assert everything(store)[: len(rows) - 1] == rows[:-1]


def test_a_generation_never_comes_back(store: Store) -> None:
    """A buried generation is a tombstone, and another tenant cannot take it either."""
    store.seed("acme", "box", {}, generation="g-1")
    store.peer(PEER, "1", Effect("delete", "box", {}))
    for tenant in ("acme", "other"):
        with pytest.raises(Rejected, match="generation_used"):
            store.seed(tenant, "box", {}, generation="g-1")


def test_half_a_transfer_is_never_taken_back(store: Store) -> None:
    """Where one of the ledgers is gone the other half stays; where both are, nothing is left."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, EACH[5])
    store.peer(PEER, "1", Effect("delete", "till", {}))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "half_gone"
    assert store.show("acme", "ticket")["balance"] == 6
    store.peer(PEER, "2", Effect("delete", "ticket", {}))
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)


def test_a_transfer_that_was_spent_stays(store: Store) -> None:
    """The target's floor holds for the inverse too."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, EACH[5])
    store.peer(PEER, "1", add(-1, "till"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "invariant"


def test_a_settled_reservation_stays(store: Store) -> None:
    """What a peer has used of a reservation cannot be given back, and can be used once."""
    receipt = store.forward(ME, reserve(4))
    settle = Effect("settle", "ticket", {"effect": receipt.id})
    store.peer(PEER, "1", settle)
    with pytest.raises(Rejected, match="no_reservation"):
        store.peer(PEER, "2", settle)
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "settled"


def test_a_partly_superseded_update_stays_whole(store: Store) -> None:
    """Several fields come back together or not at all."""
    receipt = store.forward(ME, EACH[4])
    store.peer(PEER, "1", put("note", "theirs"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "partly_superseded"
    assert store.show("acme", "ticket")["fields"] == {"note": "theirs", "status": "triage"}
