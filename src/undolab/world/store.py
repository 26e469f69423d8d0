"""The SQLite store under a world: fixtures laid out once, connections lent out and taken back.

Making tables and fixture takes far longer than a call, and each arm needs a fresh world. So a connection that holds a
fixture is kept; a world borrows it inside an open transaction, its calls are savepoints in that, and rolling it back
makes the fixture fresh again with every prepared statement still good. (Deserializing over a used connection would be
as fast, but SQLite keeps statements then that point into the schema it has freed.)
"""

import functools
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.workflow import Row
from undolab.world import keys, ledger, tx
from undolab.world.domains import TABLES, storage
from undolab.world.git import backend, seed
from undolab.world.schema import Table

_Fixture: TypeAlias = Mapping[str, Sequence[Row]]
_Shelf: TypeAlias = tuple[bytes, tuple[str, ...]]

_OWNER = {table.name: domain for domain, tables in TABLES.items() for table in tables} | {seed.TABLE: "git"}
_KEEP_FIXTURES = 64
_KEEP_EACH = 4
_idle: dict[_Shelf, list[sqlite3.Connection]] = {}


class Store:
    """One world's database.

    Args:
        fixture: initial rows of each table.
        domains: the domains whose tools the world has.
        path: `:memory:`, or a file that does not exist yet.

    Raises:
        UndolabError: a fixture row does not fit its table, or the file exists.
    """

    def __init__(self, fixture: _Fixture, domains: set[str], path: str) -> None:
        unknown = sorted(fixture.keys() - _OWNER.keys())
        if unknown:
            raise UndolabError(
                f"fixture table {unknown[0]!r} is unknown: docs/reference/tools.md has the names"
            )
        owners = tuple(sorted(domains | {_OWNER[table] for table in fixture}))
        self.tables = tables_of(owners)
        self.has_git = "git" in owners
        self._file = path != ":memory:"
        self._shelf: _Shelf | None = None
        if not self._file:
            self._shelf = (msgspec.json.encode(fixture), owners)
            idle = _idle.get(self._shelf)
            self.db = idle.pop() if idle else _lay_out(_connect(path), self.tables, fixture)
            self.db.execute("BEGIN")
        elif Path(path).exists():
            raise UndolabError(f"world file {path} exists already: remove it or name another")
        else:
            self.db = _lay_out(_connect(path), self.tables, fixture)

    def begin(self) -> None:
        """Start one sub-write; in a file it is a transaction of its own."""
        self.db.execute("SAVEPOINT part")

    def commit(self) -> None:
        """Keep what the sub-write did."""
        self.db.execute("RELEASE part")

    def rollback(self) -> None:
        """Undo what the sub-write did."""
        self.db.execute("ROLLBACK TO part")
        self.db.execute("RELEASE part")

    def image(self) -> bytes:
        """Return the whole database as bytes."""
        return self.db.serialize()

    def load(self, image: bytes) -> None:
        """Make the database equal to an image; in memory, on a new connection."""
        source = _connect(":memory:")
        source.deserialize(image)
        if self._file:
            source.backup(self.db)
            source.close()
        else:
            self.close()
            self._shelf = None
            self.db = source

    def close(self) -> None:
        """Give the connection back, or close it."""
        db = self.db
        del self.db  # the next borrower's rows must not show through this world
        if self._shelf is None:
            db.close()
        else:
            db.execute("ROLLBACK")
            _shelve(self._shelf, db)


def _shelve(shelf: _Shelf, db: sqlite3.Connection) -> None:
    idle = _idle.setdefault(shelf, [])
    if len(idle) < _KEEP_EACH:
        idle.append(db)
    else:
        db.close()
    if len(_idle) > _KEEP_FIXTURES:
        for old in _idle.pop(next(iter(_idle))):
            old.close()


@functools.cache
def tables_of(domains: tuple[str, ...]) -> tuple[Table, ...]:
    """Return the tables of domains, in a fixed order."""
    return tuple(table for domain in domains for table in TABLES[domain])


def _connect(path: str) -> sqlite3.Connection:
    # Lent from world to world, so the thread may change; a world itself serves one thread at a time.
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)


def _lay_out(db: sqlite3.Connection, tables: Sequence[Table], fixture: _Fixture) -> sqlite3.Connection:
    by_name = {table.name: table for table in tables}
    try:
        db.execute("BEGIN")
        for ddl in (ledger.DDL, tx.DDL, keys.DDL, *backend.DDL, *(table.ddl for table in tables)):
            db.execute(ddl)
        for name, rows in fixture.items():
            if name == seed.TABLE:
                seed.commit_all(db, rows)
            else:
                _fill(db, by_name[name], rows)
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _fill(db: sqlite3.Connection, table: Table, rows: Sequence[Row]) -> None:
    for n, given in enumerate(rows):
        row = given
        if table is storage.OBJECTS and given.keys() == {"bucket_name", "key", "content"}:
            row = storage.with_digest(given["bucket_name"], given["key"], given["content"])
        if table is storage.PARTS and given.keys() == {"upload_id", "part_number", "data"}:
            row = storage.part_with_digest(given["upload_id"], given["part_number"], given["data"])
        problem = table.problem(row)
        if problem is not None:
            raise UndolabError(f"fixture row /{table.name}/{n} does not fit: {problem}")
        try:
            db.execute(table.insert, table.encode(row))
        except sqlite3.Error as error:
            raise UndolabError(f"fixture row /{table.name}/{n} does not fit: {error}") from error
