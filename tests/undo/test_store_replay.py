"""The same thing asked again, late, or of another store: time, repeats and copies."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.undo.conftest import (
    ME,
    REFUSED,
    UNDONE,
    Clock,
    add,
    last_reason,
    only_sqlite,
)

from undolab.undo import schema
from undolab.undo.shell import Found
from undolab.undo.store import Answer, Store
from undolab.undo.types import Outcome, Rejected


def test_expiry_and_a_clock_set_back(store: Store, clock: Clock) -> None:
    """At the moment of expiry it is over, setting the clock back revives nothing, and a repeat still tells the truth."""
    first, second = store.forward(ME, add(1), ttl_ms=100), store.forward(ME, add(2), ttl_ms=100)
    clock.now += 99
    assert store.recover(ME, first.id) == UNDONE
    clock.now += 1
    assert store.recover(ME, second.id) == REFUSED
    assert last_reason(store) == "expired"
    clock.now = 0
    assert store.preview(ME, second.id) == store.recover(ME, second.id) == REFUSED
    assert store.recover(ME, first.id) == Answer(Outcome.COMPENSATED, repeated=True)
    times = [entry.at for entry in store.audit_entries()]
    assert times == sorted(times)


@pytest.mark.parametrize("ttl", [0, -1, 2**62])
def test_a_life_must_be_bounded(store: Store, ttl: int) -> None:
    """A receipt lives for at least a millisecond and at most ten years."""
    with pytest.raises(Rejected, match="lifetime"):
        store.forward(ME, add(1), ttl_ms=ttl)


def test_a_compensation_that_the_model_repeats_is_done_once(store: Store) -> None:
    """Credit, failed withdrawal, undo, withdrawal again, undo again: one undo, and the repeat tells of the first (B27)."""
    credit = store.forward(ME, add(4))
    for turn in range(3):
        with pytest.raises(Rejected, match="invariant"):
            store.forward(ME, add(-100))
        assert store.recover(ME, credit.id) == Answer(Outcome.COMPENSATED, repeated=turn > 0)
        assert store.show("acme", "ticket")["balance"] == 10
    done = [entry for entry in store.audit_entries() if entry.action == "recover"]
    assert [entry.reason for entry in done] == ["", "repeated", "repeated"]
    assert [bool(entry.evidence) for entry in done] == [True, False, False]


def test_an_id_outlives_the_receipts_life(store: Store, clock: Clock) -> None:
    """No lease runs out: long after expiry the same request still answers with its receipt and writes nothing (B29)."""
    receipt = store.forward(ME, add(4), effect_id="e-1", ttl_ms=1)
    clock.now += 10**9
    assert store.forward(ME, add(4), effect_id="e-1", ttl_ms=1) == receipt
    assert store.show("acme", "ticket")["balance"] == 14
    assert [entry.reason for entry in store.audit_entries()[-2:]] == ["", "repeated"]


def test_two_stores_never_say_repeated_for_each_other(tmp_path: Path, store: Store) -> None:
    """One id between two instances with a store each is two effects, and each audit says what its own store did (B29)."""
    schema.create(tmp_path / "second.db")
    second = Store.open(tmp_path / "second.db")
    second.seed("acme", "ticket", {"opening": 10})
    for _ in range(2):
        for instance in (store, second):
            instance.forward(ME, add(4), effect_id="e-1")
    for instance in (store, second):
        made = [entry.reason for entry in instance.audit_entries() if entry.action == "forward"]
        assert made == ["", "repeated"]
        assert instance.show("acme", "ticket")["balance"] == 14
    second.close()


def test_an_id_made_known_before_the_lock_is_known(
    database: Path | str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id unknown when looked at is looked for again under the lock, so that the audit's order is the true one."""
    other = Store.open(database)
    look = store._find

    def too_early(ident: object) -> Found | None:
        found = look(ident)
        if not made:
            made.append(other.forward(ME, add(4), effect_id="late"))
        return found

    made: list[object] = []
    monkeypatch.setattr(store, "_find", too_early)
    assert store.recover(ME, "late") == UNDONE
    assert [entry.action for entry in store.audit_entries()[-2:]] == ["forward", "recover"]
    other.close()


@only_sqlite
def test_an_old_copy_put_back_shows_against_the_kept_head(tmp_path: Path, store: Store, clock: Clock) -> None:
    """A copy from before a recovery would do it again: the one thing that tells is a head kept elsewhere."""
    receipt = store.forward(ME, add(4))
    with sqlite3.connect(tmp_path / "old.db") as copy:
        store._db.backup(copy)
    copy.close()
    assert store.recover(ME, receipt.id) == UNDONE
    head = store.audit_head()
    clock.now += 1  # no chain is made twice: each row has its time
    old = Store.open(tmp_path / "old.db", clock=clock)
    assert "its tail was cut" in old.audit_problems(head)[0]
    assert old.recover(ME, receipt.id) == UNDONE
    assert "its tail was cut" in old.audit_problems(head)[0]
    old.close()


def test_a_forward_whose_answer_was_lost_may_be_asked_again(store: Store) -> None:
    """The same id and request give the same receipt and one effect; another request or run under the id is rejected."""
    receipt = store.forward(ME, add(4), effect_id="e-1")
    assert store.forward(ME, add(4), effect_id="e-1") == receipt
    for context, effect in ((ME, add(5)), (ME._replace(run="run-2"), add(4))):
        with pytest.raises(Rejected, match="id_used"):
            store.forward(context, effect, effect_id="e-1")
    assert store.show("acme", "ticket")["balance"] == 14


@pytest.mark.parametrize("ttl", [0.5, 1.5, True, "9", None, float("nan")])
def test_a_life_is_a_whole_number(store: Store, ttl: Any) -> None:
    """Half a millisecond, a word or nothing is rejected alike in both back ends."""
    with pytest.raises(Rejected, match="lifetime"):
        store.forward(ME, add(1), ttl_ms=ttl)
    assert last_reason(store) == "lifetime"
