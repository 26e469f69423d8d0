"""A whole run is taken back in one step, in dependency order, and what still stands is said."""

import sqlite3

import pytest
from tests.undo.conftest import ME, PEER, add, create, grant, only_sqlite, put

from undolab.undo.kernel import delete, forward, recover, seed
from undolab.undo.memory import Memory
from undolab.undo.run import Overlay
from undolab.undo.store import Store
from undolab.undo.types import Decision, Effect, Hold, Outcome, Put, Receipt, Table, Version, agent


def states(report: object) -> list[tuple[str, str]]:
    return [(item.kind, item.state) for item in report.effects]  # type: ignore[attr-defined]


def test_create_then_set_then_undo_both(store: Store) -> None:
    """A run that began with a creation leaves nothing, one by one in order or all at once."""
    for whole in (False, True):
        first = store.forward(ME, create("folder"))
        second = store.forward(ME, put("status", "closed", "folder"))
        if whole:
            assert states(store.recover_run(ME)) == [("set", "compensated"), ("create", "compensated")]
        else:
            assert store.recover(ME, first.id).outcome is Outcome.REFUSED
            assert store.recover(ME, second.id).outcome is Outcome.COMPENSATED
            assert store.recover(ME, first.id).outcome is Outcome.COMPENSATED
        assert store.show("acme", "folder") is None


@only_sqlite
def test_a_dry_run_says_the_same_and_writes_nothing(store: Store) -> None:
    """The dry run's list is that of the real one; not a byte of the database changes."""
    store.forward(ME, create("folder"))
    store.forward(ME, put("status", "closed", "folder"))
    store.forward(ME, grant("contractor"))
    before = list(store._db.iterdump())
    dry = store.recover_run(ME, dry_run=True)
    assert list(store._db.iterdump()) == before
    real = store.recover_run(ME)
    assert (dry.effects, dry.stands, dry.dry_run, real.dry_run) == (real.effects, real.stands, True, False)


def test_what_stands_is_said(store: Store) -> None:
    """Refused effects stand and are named; superseded ones do not stand, and everything else is taken back."""
    folder = store.forward(ME, create("folder"))
    store.forward(ME, put("status", "mine"))
    spent = store.forward(ME, add(4))
    store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", put("status", "theirs", "folder"))
    store.peer(PEER, "2", put("status", "theirs"))
    store.peer(PEER, "3", add(-12))
    store.peer(PEER, "4", Effect("revoke", "ticket", {"member": "contractor"}))
    report = store.recover_run(ME)
    assert sorted(states(report)) == [
        ("add", "refused"), ("create", "refused"), ("grant", "already_absent"), ("set", "superseded")
    ]  # fmt: skip
    assert set(report.stands) == {folder.id, spent.id}
    assert store.recover_run(ME).stands == report.stands


def test_a_debit_taken_back_later_pays_for_a_credit(store: Store) -> None:
    """The newest goes first, but one refused for want of cover is tried again when another has brought it."""
    store.forward(ME, add(-8))
    store.forward(ME, add(10))
    store.peer(PEER, "1", add(-3))
    report = store.recover_run(ME)
    assert report.stands == ()
    assert store.show("acme", "ticket")["balance"] == 7


def test_only_this_run_is_taken_back(store: Store) -> None:
    """Another run of the same principal keeps its effects."""
    store.forward(ME, add(1))
    store.forward(ME._replace(run="run-2"), add(2))
    store.recover_run(ME)
    assert store.show("acme", "ticket")["balance"] == 12


def test_a_run_with_nothing_live_is_a_row_in_the_audit(store: Store) -> None:
    """A second recovery of a run changes nothing and is recorded all the same."""
    assert store.recover_run(ME).effects == ()
    assert store.audit_entries()[-1].outcome == "nothing"


def test_a_kind_that_is_denied_stands_and_holds_what_is_under_it(store: Store) -> None:
    """Without permission for the edit, the creation under it stands too; both are named."""
    folder = store.forward(ME, create("folder"))
    edit = store.forward(ME, put("status", "x", "folder"))
    store.permit("acme", "agent", "deny", kind="set")
    assert set(store.recover_run(ME).stands) == {folder.id, edit.id}


@only_sqlite
def test_a_failure_half_way_undoes_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction: if the third effect's write fails, the first two were not taken back either."""
    for _ in range(3):
        store.forward(ME, add(1))
    store._db.execute("CREATE TEMP TABLE counted (n)")
    store._db.execute(
        "CREATE TEMP TRIGGER fail BEFORE UPDATE OF outcome ON main.receipts WHEN (SELECT count(*) FROM counted) >= 2 "
        "BEGIN SELECT raise(ABORT, 'disk gone'); END"
    )
    store._db.execute(
        "CREATE TEMP TRIGGER count AFTER UPDATE OF outcome ON main.receipts BEGIN INSERT INTO counted VALUES (1); END"
    )
    before = store.audit_head()
    with pytest.raises(sqlite3.IntegrityError, match="disk gone"):
        store.recover_run(ME)
    assert store.show("acme", "ticket")["balance"] == 13
    assert store.audit_head() == before


def test_an_overlay_shows_what_is_not_yet_written() -> None:
    """Changes hide what is below them, and rows taken away are gone from the look-ups too."""
    rows = Memory()
    rows.apply([Put(Table.HEAD, ("g", "f"), "o"), Put(Table.VERSION, ("g", "f", "o"), Version("x", ""))])
    rows.apply([Put(Table.HOLD, ("g", "a:1"), Hold(3)), Put(Table.CREDIT, ("g", "a:1"), 3)])
    rows.apply(
        [
            Put(Table.TAG, ("g", "a:1"), "ann"),
            Put(Table.TAG, ("g", "a:2"), "ann"),
            Put(Table.NAME, ("n",), "g"),
        ]
    )
    overlay = Overlay(rows)
    overlay.apply([Put(Table.TAG, ("g", "a:1"), None), Put(Table.NAME, ("n",), None)])
    assert overlay.tagged("g", "ann") == ["a:2"]
    assert overlay.named("n") is None
    assert rows.named("n") == "g"
    overlay.apply(
        [Put(Table.HOLD, ("g", "a:1"), Hold(3, settled=True)), Put(Table.VERSION, ("g", "f", "o"), None)]
    )
    assert overlay.hold("g", "a:1") == Hold(3, settled=True)
    assert (overlay.credit("g", "a:1"), overlay.head("g", "f"), overlay.written("g", "o")) == (3, "o", [])


def test_half_a_transfer_stays_under_an_overlay_too() -> None:
    """Where a plan has buried the other ledger but not yet its rows, no money is made from what is left of them."""
    rows = Memory()
    for name in ("a", "b"):
        rows.apply(seed(rows, Effect("create", name, {"opening": 5}), f"g-{name}"))
    first, second, changes = forward(rows, Effect("transfer", "a", {"to": "b", "amount": 2}), agent("e"))
    rows.apply(changes)
    overlay = Overlay(rows)
    overlay.apply(delete(overlay, "b"))
    assert overlay.credit("g-b", agent("e")) == 2
    assert recover(overlay, Receipt("e", "transfer", first, second)) == Decision(Outcome.REFUSED, "half_gone")
