"""The checks that every suite relies on see what they are there to see."""

from pathlib import Path

import pytest

from undolab.undo import schema
from undolab.undo.study import state
from undolab.undo.study.requests import EFFECTS, PEER, Op, opening
from undolab.undo.study.stores import Opened


@pytest.fixture
def opened(tmp_path: Path):
    schema.create(tmp_path / "u.db")
    made = Opened(tmp_path / "u.db")
    theirs = Op("peer", PEER, "p-1", "add", "ticket", {"delta": 1})
    for op in (*opening(), *EFFECTS.values(), theirs, Op("recover", ident="e-grant")):
        made.perform(op)
    made.db.execute("PRAGMA foreign_keys=OFF")
    yield made
    made.close()


def test_a_sound_store_has_no_problems(opened: Opened) -> None:
    """Seven effects, a peer's event and a recovery leave nothing to complain of."""
    assert state.problems(opened.db) == []


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE incarnations SET balance = balance + 1 WHERE name = 'ticket'", "a balance is not the sum"),
        ("UPDATE incarnations SET held = held - 1 WHERE name = 'ticket'", "a held amount is not the sum"),
        ("UPDATE incarnations SET edits = rev + 1", "an invariant is broken"),
        ("UPDATE incarnations SET alive = 0 WHERE name = 'till'", "a buried incarnation has rows"),
        ("DELETE FROM audit WHERE receipt = 'e-add'", "a receipt has not one accepted row"),
        ("DELETE FROM receipts WHERE id = 'e-add'", "an accepted effect has no receipt"),
        ("DELETE FROM receipts WHERE id = 'e-add'", "an agent's row has no receipt"),
        ("UPDATE receipts SET outcome = 'compensated' WHERE id = 'e-add'", "a consumed bit and the audit differ"),
        ("UPDATE receipts SET outcome = NULL WHERE id = 'e-grant'", "a consumed bit and the audit differ"),
        ("UPDATE receipts SET outcome = 'already_absent' WHERE id = 'e-grant'", "a consumed bit is another"),
        ("INSERT INTO events VALUES ('acme', 'p-2', 'x')", "a peer's event has not one accepted row"),
        ("DELETE FROM events", "a peer's accepted event is lost"),
        ("UPDATE receipts SET outcome = 'compensated' WHERE id = 'e-set'", "a compensated effect has left rows"),
        ("DELETE FROM credits WHERE writer = 'a:e-add'", "a live effect has lost its row"),
        ("DELETE FROM credits WHERE writer = 'a:e-transfer' AND amount > 0", "a live effect has lost its row"),
        ("DELETE FROM versions WHERE writer = 'a:e-set'", "a live effect has lost its row"),
        ("DELETE FROM holds", "a live effect has lost its row"),
        ("DELETE FROM incarnations WHERE name = 'till'", "foreign key"),
        ("UPDATE audit SET reason = 'x' WHERE seq = 3", "row 3 does not follow"),
    ],
)  # fmt: skip
def test_each_fault_is_seen(opened: Opened, statement: str, says: str) -> None:
    """A row changed behind the store's back is named by the check for it."""
    opened.db.execute(statement)
    assert [problem for problem in state.problems(opened.db) if problem.startswith(says)]


def test_a_broken_page_is_seen(tmp_path: Path, opened: Opened) -> None:
    """A page of zeros in the file is a fault of the file, not of a rule."""
    opened.close()
    damaged = bytearray((tmp_path / "u.db").read_bytes())
    damaged[3 * 4096 : 3 * 4096 + 64] = bytes(64)
    (tmp_path / "u.db").write_bytes(damaged)
    again = Opened(tmp_path / "u.db")
    assert any(problem.startswith("integrity") for problem in state.problems(again.db))
    again.close()
