"""What a tool's code may do within its call: read rows, write rows, take ids. Every write leaves its ledger row."""

from collections.abc import Callable, Iterator
from sqlite3 import Connection
from typing import Any, TypeAlias

from undolab.model.calls import Effect
from undolab.model.canon import short_digest
from undolab.model.ids import seeded_id
from undolab.model.tools import Op
from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.ledger import append
from undolab.world.schema import Table

DDL = "CREATE TABLE _ids (prefix TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID"

Handler: TypeAlias = Callable[["Tx", Row], Row] | Callable[["Tx", Row], Iterator[Row]]
"""The code of a tool: it gets the call and its arguments and returns the answer. One that has several parts is a
generator: it does each part and yields the answer, and the part is committed before it goes on."""


def next_number(db: Connection, prefix: str) -> int:
    """Count one more id of that prefix, and return the count."""
    (n,) = db.execute(
        "INSERT INTO _ids VALUES (?, 1) ON CONFLICT (prefix) DO UPDATE SET n = n + 1 RETURNING n", (prefix,)
    ).fetchone()
    return int(n)


class Tx:
    """One call at work.

    Args:
        db: the connection, with a transaction open.
        seed: the world's seed, for ids.
        call: what the ledger says of the call: attempt, tool, arguments as canonical JSON, key.
    """

    __slots__ = ("_call", "_seed", "db", "effects")
    effects: list[Effect]
    """What the call has written so far."""

    def __init__(self, db: Connection, seed: int, call: tuple[str, str, str, str | None]) -> None:
        self.db = db
        self.effects = []
        self._seed = seed
        self._call = call

    def find(self, table: Table, *key: str | int) -> Row | None:
        """Return the row of that primary key, or None."""
        values = self.db.execute(table.select_one, key).fetchone()
        return None if values is None else table.decode(values)

    def get(self, table: Table, *key: str | int) -> Row:
        """Return the row of that primary key.

        Raises:
            ToolError: `not_found`.
        """
        row = self.find(table, *key)
        if row is None:
            raise ToolError("not_found", f"no {table.noun} {table.row_id(key)}")
        return row

    def where(self, table: Table, column: str, value: str) -> list[Row]:
        """Return the rows with that value in that column, sorted by primary key."""
        return [table.decode(values) for values in self.db.execute(table.select_by[column], (value,))]

    def put(self, table: Table, row: Row) -> Row:
        """Write a row, there before or not, and return it."""
        values = table.encode(row)
        before = self.find(table, *values[: len(table.key)])
        if before is not None:
            return self.change(table, before, **row)
        self._insert(table, row, values)
        return row

    def append(self, table: Table, **columns: Any) -> Row:
        """Add a row under a new id, and return it."""
        row = {
            table.key[0]: seeded_id(self._seed, table.prefix, next_number(self.db, table.prefix)),
            **columns,
        }
        self._insert(table, row, table.encode(row))
        return row

    def change(self, table: Table, row: Row, **columns: Any) -> Row:
        """Set columns of a row as it was read, and return the new row; the primary key stays."""
        new = {**row, **columns}
        values = table.encode(new)
        self.db.execute(table.update, values + values[: len(table.key)])
        self.record(f"{table.name}/{table.row_id(values)}", row, new)
        return new

    def remove(self, table: Table, *key: str | int) -> bool:
        """Take a row away, and return whether it was there; the ledger has the removal either way."""
        before = self.find(table, *key)
        self.db.execute(table.delete, key)
        self.record(f"{table.name}/{table.row_id(key)}", before, None)
        return before is not None

    def record(self, entity: str, before: Row | None, after: Row | None) -> None:
        """Append the ledger row of one write; the methods above do it themselves."""
        op = Op.DELETE if after is None else Op.CREATE if before is None else Op.UPDATE
        old = "" if before is None else short_digest(before)
        new = "" if after is None else old if after == before else short_digest(after)
        self.effects.append(append(self.db, self._call, entity, op, old, new))

    def _insert(self, table: Table, row: Row, values: tuple[Any, ...]) -> None:
        self.db.execute(table.insert, values)
        self.record(f"{table.name}/{table.row_id(values)}", None, row)
