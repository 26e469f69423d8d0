"""The audit: a row for every request, rejected ones too, and a chain that shows what was changed."""

from pathlib import Path

import pytest
from tests.undo.conftest import ME, PEER, add, everything

from undolab.undo import audit
from undolab.undo.store import Store
from undolab.undo.types import Effect, Rejected


def test_a_rejected_effect_leaves_only_its_audit_row(store: Store) -> None:
    """The effect, the receipt and the peer's id are undone together; the reason is kept."""
    rows = everything(store)
    with pytest.raises(Rejected, match="invariant"):
        store.forward(ME, add(-11))
    with pytest.raises(Rejected, match="arguments"):
        store.forward(ME, Effect("add", "ticket", {"delta": object()}))
    with pytest.raises(Rejected, match="lifetime"):
        store.forward(ME, add(1), ttl_ms=0)
    assert [entry.reason for entry in store.audit_entries()[-3:]] == ["invariant", "arguments", "lifetime"]
    with pytest.raises(Rejected, match="invariant"):
        store.peer(PEER, "1", add(-11))
    store.peer(PEER, "1", add(-10))
    entry = store.audit_entries()[-2]
    assert (entry.action, entry.outcome, entry.reason) == ("peer add", "rejected", "invariant")
    assert [row for row in everything(store) if row not in rows] != []


def test_the_audit_shows_a_row_changed_removed_or_cut(store: Store) -> None:
    """Any change breaks the chain at its row; a cut tail shows against a head kept elsewhere."""
    receipt = store.forward(ME, add(4))
    store.recover(ME, receipt.id)
    head = store.audit_head()
    store.recover(ME, "unknown")
    assert store.audit_problems() == store.audit_problems(head) == []
    db = store._db
    for statement, says in (
        ("UPDATE audit SET reason = 'fine' WHERE seq = 2", "row 2 does not follow"),
        ("DELETE FROM audit WHERE seq = 3", "row 3 is missing"),
        ("DELETE FROM audit WHERE seq >= 3", "its tail was cut"),
    ):
        db.execute("BEGIN IMMEDIATE")
        db.execute(statement)
        assert says in audit.problems(db, head)[0]
        db.execute("ROLLBACK")


def test_an_empty_audit_has_the_first_head(database: Path | str) -> None:
    """A new store's chain starts from zeros."""
    made = Store.open(database)
    assert made.audit_head() == "0" * 64
    assert made.audit_problems(made.audit_head()) == []
    made.close()


@pytest.mark.parametrize("at", [2**53, 2**62, -(2**62)])
def test_a_number_that_no_row_has_is_a_problem_and_no_error(store: Store, at: int) -> None:
    """Who changes a row cannot stop the check with a number beyond what can be digested."""
    store._db.execute("UPDATE audit SET at = ? WHERE seq = 1", (at,))
    assert store.audit_problems() == ["row 1 does not follow from the one before it"]
