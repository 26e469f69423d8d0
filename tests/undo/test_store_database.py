"""The database under a store: files that are none, rules and indexes of its own, sizes, failures."""

import sqlite3
from pathlib import Path

import pytest
from tests.undo.conftest import EACH, ME, PEER, UNDONE, add, everything, only_sqlite, put

from undolab.model.errors import UndolabError
from undolab.undo import schema
from undolab.undo.store import Store
from undolab.undo.types import Effect


def test_a_missing_or_foreign_database_is_an_error(tmp_path: Path) -> None:
    """Opening never makes a file, and never takes another program's database or another version for its own."""
    with pytest.raises(UndolabError, match="is not a file"):
        Store.open(tmp_path / "typo.db")
    assert list(tmp_path.iterdir()) == []
    text = tmp_path / "text.db"
    text.write_text("hello, this is no database at all, only a text that is long enough" * 20)
    with pytest.raises(UndolabError, match="no undo store"):
        Store.open(text)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(UndolabError, match="no undo store of version"):
        Store.open(tmp_path / "other.db")
    schema.create(tmp_path / "mine.db")
    with pytest.raises(UndolabError, match="exists already"):
        schema.create(tmp_path / "mine.db")
    with pytest.raises(UndolabError, match="cannot be made"):
        schema.create(tmp_path / "no" / "folder.db")


@only_sqlite
def test_the_database_holds_the_rules_too(store: Store) -> None:
    """Strict types, foreign keys, checks, WAL and FULL are on, so that a slip elsewhere cannot corrupt it quietly."""
    db = store._db
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
    strict = {
        name: bool(flag) for _, name, kind, _, _, flag in db.execute("PRAGMA table_list") if kind == "table"
    }
    assert all(flag for name, flag in strict.items() if not name.startswith("sqlite_"))
    for statement in (
        "UPDATE incarnations SET balance = floor - 1",
        "UPDATE incarnations SET balance = 'much'",
        "INSERT INTO credits VALUES (999, 'a:x', 1)",
        "UPDATE heads SET writer = 'nobody'",
        "UPDATE receipts SET outcome = 'done'",
    ):
        store.forward(ME, add(1))
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement)


@only_sqlite
def test_recovering_a_run_does_not_read_its_past(store: Store) -> None:
    """The live effects have an index of their own: what is settled costs a later recovery nothing."""
    seen: list[str] = []
    store.forward(ME, add(1))
    store._db.set_trace_callback(seen.append)
    store.recover_run(ME, dry_run=True)
    store._db.set_trace_callback(None)
    listing = next(statement for statement in seen if "outcome IS NULL" in statement)
    plan = [row[-1] for row in store._db.execute(f"EXPLAIN QUERY PLAN {listing}")]
    assert any("receipts_live" in step for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


@only_sqlite
def test_every_look_up_uses_an_index(store: Store) -> None:
    """No statement of forward or recovery scans a table, so that the cost does not grow with history or object."""
    seen: set[str] = set()
    store._db.set_trace_callback(seen.add)
    store.seed("acme", "till", {})
    receipts = [store.forward(ME, effect) for effect in EACH]
    store.peer(PEER, "1", Effect("revoke", "ticket", {"member": "contractor"}))
    for receipt in receipts:
        store.recover(ME, receipt.id)
    store._db.set_trace_callback(None)
    for statement in sorted(seen):
        if statement.split()[0] not in {"SELECT", "UPDATE", "DELETE"}:
            continue
        for *_, detail in store._db.execute(f"EXPLAIN QUERY PLAN {statement}"):
            allowed = "SCAN clock" in detail or "ORDER BY seq DESC LIMIT 1" in statement
            assert allowed or not detail.startswith("SCAN"), (statement, detail)


def test_a_receipt_is_small_whatever_the_objects_size(store: Store) -> None:
    """Under 300 bytes a receipt, none of it anybody's data, the same for a value of one letter and of 60,000."""

    def size(receipt: str) -> int:
        row = store._db.execute("SELECT * FROM receipts WHERE id = ?", (receipt,)).fetchone()
        return sum(8 if isinstance(cell, int) else len(cell or "") for cell in row)

    small = store.forward(ME, put("status", "s"))
    for number in range(300):
        store.peer(PEER, str(number), add(1))
    store.peer(PEER, "long", put("note", "n" * 60_000))
    large = store.forward(ME, put("note", "m" * 60_000))
    longest = store.forward(ME, add(1), effect_id="e" * 64)
    assert size(small.id) == size(large.id)
    assert max(map(size, (small.id, longest.id))) < 300


def test_a_transaction_that_the_database_ended_itself_is_no_second_error(store: Store) -> None:
    """Where the database has rolled back already (a full disk), the first error is the one that is told."""
    with pytest.raises(ValueError, match="first"), store._writing():  # noqa: PT012
        store._db.execute("ROLLBACK")
        raise ValueError("first")
    assert store._db.in_transaction is False


@only_sqlite
def test_reading_too_tells_the_first_error(store: Store) -> None:
    """Where the transaction is over already, giving it back is no second error."""
    with pytest.raises(ValueError, match="first"), store._reading():  # noqa: PT012
        store._db.execute("ROLLBACK")
        raise ValueError("first")


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (sqlite3.OperationalError("database or disk is full"), UndolabError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_store_half_made_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, told: type[BaseException]
) -> None:
    """Else `init` would say that there is one, and every other command that there is none."""
    lay_out = schema.build

    def fails(db: sqlite3.Connection) -> None:
        lay_out(db)
        raise failure

    monkeypatch.setattr(schema, "build", fails)
    with pytest.raises(told, match=r"cannot be made \(database or disk is full\)|^$"):
        schema.create(tmp_path / "undo.db")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    schema.create(tmp_path / "undo.db")


def test_a_file_that_sqlite_cannot_open_is_told_in_a_sentence(tmp_path: Path) -> None:
    """SQLite's limit on a path is lower than the system's: neither making nor opening ends in its error."""
    folder = tmp_path.joinpath(*["d" * 200] * 3)
    folder.mkdir(parents=True)
    with pytest.raises(UndolabError, match="cannot be made"):
        schema.create(folder / "undo.db")
    assert list(folder.iterdir()) == []
    (folder / "undo.db").touch()
    with pytest.raises(UndolabError, match="cannot be opened"):
        Store.open(folder / "undo.db")


@only_sqlite
def test_a_full_disk_loses_nothing(store: Store) -> None:
    """What does not fit is an error with nothing written, and what was there can still be read and, with room, taken back."""
    receipt = store.forward(ME, add(4))
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")
    before, head = everything(store), ""
    with pytest.raises(sqlite3.OperationalError, match="full"):  # noqa: PT012
        for number in range(500):
            before, head = everything(store), store.audit_head()
            store.peer(PEER, str(number), put("note", "n" * 5_000))
    assert everything(store) == before
    assert store.audit_problems(head) == []
    assert store.preview(ME, receipt.id) == UNDONE
    store._db.execute("PRAGMA max_page_count=1000000")
    assert store.recover(ME, receipt.id) == UNDONE
    assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@only_sqlite
@pytest.mark.parametrize("version", [0, 2, 99])
def test_a_store_of_another_version_is_left_alone(database: Path, version: int) -> None:
    """An older or newer layout is an error, and not one byte of the file changes."""
    db = sqlite3.connect(database)
    db.execute(f"PRAGMA user_version={version}")
    db.close()
    before = database.read_bytes()
    with pytest.raises(UndolabError, match="no undo store of version 1"):
        Store.open(database)
    assert database.read_bytes() == before


@only_sqlite
def test_a_store_that_may_only_be_read_refuses_to_change(store: Store) -> None:
    """Previews and lists go on; a recovery is an error, and the effect stands."""
    receipt = store.forward(ME, add(4))
    store._db.execute("PRAGMA query_only=ON")
    assert store.preview(ME, receipt.id) == UNDONE
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.recover(ME, receipt.id)
    assert store.effects(ME)[0][0].state == "live"
    assert store._db.in_transaction is False


@only_sqlite
def test_a_store_that_is_locked_is_still_called_one(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock, or a right that is missing, is told as what it is, not as a file of another program."""
    monkeypatch.setattr(schema, "BUSY_MS", 1)
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(UndolabError, match=r"cannot be opened \(database is locked\)"):
        Store.open(database)
    holder.close()
    Store.open(database).close()
