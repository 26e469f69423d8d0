"""The kernel's rows in a database: each read is one look-up in an index, each change one statement."""

# ruff: noqa: S608 - every statement is put together from constants of this module; values are always parameters
from collections.abc import Iterable
from typing import Any

from undolab.undo.database import Database
from undolab.undo.types import Hold, Put, Resource, Table, Version

_ID = "(SELECT id FROM incarnations WHERE generation = ?)"
_COLUMNS = 'name, rev, edits, balance, floor, held, "limit", alive'
_RESOURCE = f"""INSERT INTO incarnations (generation, tenant, {_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)
ON CONFLICT (generation) DO UPDATE SET
rev = excluded.rev, edits = excluded.edits, balance = excluded.balance, held = excluded.held, alive = excluded.alive"""
_PUT = {
    Table.HEAD: f"""INSERT INTO heads (incarnation, field, writer) VALUES ({_ID},?,?)
ON CONFLICT (incarnation, field) DO UPDATE SET writer = excluded.writer""",
    Table.VERSION: f"INSERT INTO versions (incarnation, field, writer, value, prev) VALUES ({_ID},?,?,?,?)",
    Table.CREDIT: f"INSERT INTO credits (incarnation, writer, amount) VALUES ({_ID},?,?)",
    Table.TAG: f"INSERT INTO tags (incarnation, writer, member) VALUES ({_ID},?,?)",
    Table.HOLD: f"""INSERT INTO holds (incarnation, writer, amount, settled) VALUES ({_ID},?,?,?)
ON CONFLICT (incarnation, writer) DO UPDATE SET amount = excluded.amount, settled = excluded.settled""",
}
_REMOVE = {
    Table.VERSION: f"DELETE FROM versions WHERE incarnation = {_ID} AND field = ? AND writer = ?",
    Table.CREDIT: f"DELETE FROM credits WHERE incarnation = {_ID} AND writer = ?",
    Table.TAG: f"DELETE FROM tags WHERE incarnation = {_ID} AND writer = ?",
    Table.HOLD: f"DELETE FROM holds WHERE incarnation = {_ID} AND writer = ?",
}
_CHILDREN = ("heads", "versions", "credits", "tags", "holds")


class Rows:
    """A `View` of one tenant's rows, inside whatever transaction the connection is in."""

    def __init__(self, db: Database, tenant: str) -> None:
        self._db = db
        self._tenant = tenant

    def _one(self, sql: str, *values: str) -> Any:
        return self._db.execute(sql, values).fetchone()

    def _first(self, sql: str, *values: str) -> Any:
        found = self._one(sql, *values)
        return None if found is None else found[0]

    def _column(self, sql: str, *values: str) -> list[str]:
        return [row[0] for row in self._db.execute(sql, values)]

    def named(self, name: str) -> str | None:
        """Return the generation that has the name now."""
        sql = "SELECT generation FROM incarnations WHERE tenant = ? AND name = ? AND alive"
        found: str | None = self._first(sql, self._tenant, name)
        return found

    def resource(self, generation: str) -> Resource | None:
        """Return an incarnation, living or buried; another tenant's is shown too, so that it cannot be made twice."""
        found = self._one(f"SELECT {_COLUMNS} FROM incarnations WHERE generation = ?", generation)
        return None if found is None else Resource(*found)._replace(alive=bool(found[-1]))

    def head(self, generation: str, field: str) -> str | None:
        """Return the writer of the value that a field shows."""
        sql = f"SELECT writer FROM heads WHERE incarnation = {_ID} AND field = ?"
        found: str | None = self._first(sql, generation, field)
        return found

    def version(self, generation: str, field: str, writer: str) -> Version | None:
        """Return what a writer wrote to a field."""
        sql = f"SELECT value, prev FROM versions WHERE incarnation = {_ID} AND field = ? AND writer = ?"
        found = self._one(sql, generation, field, writer)
        return None if found is None else Version(*found)

    def written(self, generation: str, writer: str) -> list[str]:
        """Return the fields that hold a version of this writer, sorted."""
        sql = f"SELECT field FROM versions WHERE incarnation = {_ID} AND writer = ? ORDER BY field"
        return self._column(sql, generation, writer)

    def credit(self, generation: str, writer: str) -> int | None:
        """Return a writer's contribution to the balance."""
        sql = f"SELECT amount FROM credits WHERE incarnation = {_ID} AND writer = ?"
        found: int | None = self._first(sql, generation, writer)
        return found

    def tag(self, generation: str, writer: str) -> str | None:
        """Return the member that a writer's grant names."""
        sql = f"SELECT member FROM tags WHERE incarnation = {_ID} AND writer = ?"
        found: str | None = self._first(sql, generation, writer)
        return found

    def tagged(self, generation: str, member: str) -> list[str]:
        """Return the writers of every grant that names this member, sorted."""
        sql = f"SELECT writer FROM tags WHERE incarnation = {_ID} AND member = ? ORDER BY writer"
        return self._column(sql, generation, member)

    def hold(self, generation: str, writer: str) -> Hold | None:
        """Return a writer's reservation."""
        sql = f"SELECT amount, settled FROM holds WHERE incarnation = {_ID} AND writer = ?"
        found = self._one(sql, generation, writer)
        return None if found is None else Hold(found[0], bool(found[1]))

    def apply(self, changes: Iterable[Put]) -> None:
        """Write the kernel's changes."""
        for table, key, row in changes:
            if table is Table.NAME:
                continue  # the index of the living ones says it
            if row is None:
                self._db.execute(_REMOVE[table], key)
            elif table is Table.RESOURCE:
                self._db.execute(_RESOURCE, (key[0], self._tenant, *row))
                if not row.alive:
                    for child in _CHILDREN:
                        self._db.execute(f"DELETE FROM {child} WHERE incarnation = {_ID}", key)
            else:
                values = tuple(row) if isinstance(row, tuple) else (row,)
                self._db.execute(_PUT[table], (*key, *values))

    def visible(self, name: str) -> dict[str, Any] | None:
        """Return what shows of a resource to somebody who reads it; None where there is none."""
        generation = self.named(name)
        row = None if generation is None else self.resource(generation)
        if generation is None or row is None:
            return None
        sql = f"""SELECT h.field, v.value FROM heads h JOIN versions v USING (incarnation, field, writer)
        WHERE h.incarnation = {_ID} ORDER BY h.field"""
        members = f"SELECT DISTINCT member FROM tags WHERE incarnation = {_ID} ORDER BY member"
        return {
            "fields": dict(self._db.execute(sql, (generation,)).fetchall()),
            "balance": row.balance,
            "members": self._column(members, generation),
            "held": row.held,
            "limit": row.limit,
        }
