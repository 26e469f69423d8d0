"""The fold's rows and the effects of the call that is running; it knows tables, not tools."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from undolab.model.calls import Effect
from undolab.model.canon import short_digest
from undolab.model.ids import seeded_id
from undolab.model.tools import Op
from undolab.model.workflow import Row, State


class Refused(Exception):  # noqa: N818 -- the refusal of a service, not a fault of ours
    """A tool's answer when a check fails; nothing was written."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.output = {"code": code, "message": message}


class Died(Exception):  # noqa: N818 -- the end of a service, not a fault of ours
    """The service stops between two parts of a call: what the parts before wrote stands, and nobody is answered."""


class Table(msgspec.Struct, frozen=True):
    """What the page says of one table."""

    noun: str
    key: tuple[str, ...]
    """Columns that make the row id, joined by a slash."""
    prefix: str = ""
    """Of the ids that the service chooses; empty where it chooses none."""


class Store:
    """All rows of one folded world."""

    def __init__(self, tables: Mapping[str, Table], seed: int) -> None:
        """Start empty."""
        self._tables = tables
        self._rows: State = {name: {} for name in tables}
        self._seed = seed
        self._handed_out: dict[str, int] = {}
        self._effects = 0
        self._running: list[Effect] = []
        self._parts_left: int | None = None

    def seed_row(self, table: str, row: Row) -> None:
        """Put a row of the fixture; no effect."""
        self._rows[table]["/".join(str(row[column]) for column in self._tables[table].key)] = row

    def seed_named(self, table: str, row_id: str, row: Row) -> None:
        """Put a row under a given id; no effect."""
        self._rows[table][row_id] = row

    def get(self, table: str, row_id: str) -> Row | None:
        """Return a row or None."""
        return self._rows[table].get(row_id)

    def need(self, table: str, row_id: str) -> Row:
        """Return a row.

        Raises:
            Refused: there is none.
        """
        row = self._rows[table].get(row_id)
        if row is None:
            raise Refused("not_found", f"no {self._tables[table].noun} {row_id}")
        return row

    def items(self, table: str, **equal: Any) -> dict[str, Any]:
        """Return the rows with these columns, sorted by row id, as a list tool answers them."""
        rows = self._rows[table]
        found = (rows[row_id] for row_id in sorted(rows))
        return {"items": [row for row in found if all(row[column] == want for column, want in equal.items())]}

    def put(self, table: str, row_id: str, row: Row) -> Row:
        """Write a whole row and return it."""
        before = self._rows[table].get(row_id)
        self._rows[table][row_id] = row
        self._note(table, row_id, Op.CREATE if before is None else Op.UPDATE, before, row)
        return row

    def change(self, table: str, row_id: str, **columns: Any) -> Row:
        """Set columns of a row that is there and return the row."""
        return self.put(table, row_id, {**self._rows[table][row_id], **columns})

    def append(self, table: str, **columns: Any) -> Row:
        """Add a row under the next id of the table's prefix and return it."""
        kind = self._tables[table]
        number = self._handed_out.get(kind.prefix, 0) + 1
        self._handed_out[kind.prefix] = number
        row_id = seeded_id(self._seed, kind.prefix, number)
        return self.put(table, row_id, {kind.key[0]: row_id, **columns})

    def remove(self, table: str, row_id: str) -> bool:
        """Remove a row and return True if it was there; removing nothing is an effect too."""
        before = self._rows[table].pop(row_id, None)
        self._note(table, row_id, Op.DELETE, before, None)
        return before is not None

    def begin(self, stop_after: int | None) -> None:
        """Begin a call that dies once `stop_after` of its parts are committed; None: it lives."""
        self._parts_left = stop_after

    def next_part(self) -> None:
        """End a part of a composite call and go on with the next.

        Raises:
            Died: the service dies here.
        """
        if self._parts_left is not None:
            self._parts_left -= 1
            if self._parts_left == 0:
                raise Died

    def take_effects(self) -> list[Effect]:
        """Return the effects since the last taking."""
        taken, self._running = self._running, []
        return taken

    def state(self) -> State:
        """Return all rows; empty tables are left out. The rows themselves are never changed in place."""
        return {table: dict(rows) for table, rows in self._rows.items() if rows}

    def _note(self, table: str, row_id: str, op: Op, before: Row | None, after: Row | None) -> None:
        self._effects += 1
        self._running.append(
            Effect(
                id=f"e{self._effects}",
                entity=f"{table}/{row_id}",
                op=op,
                before=_digest(before),
                after=_digest(after),
            )
        )


def _digest(row: Row | None) -> str:
    return "" if row is None else short_digest(row)


Handler = Callable[[Store, Mapping[str, Any]], dict[str, Any]]
"""One tool: reads and writes the store, returns the output; raises `Refused` before its first write."""
