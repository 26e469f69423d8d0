"""Tables as data: one declaration gives the STRICT table, the statements that touch it, and the words for its rows."""

from collections.abc import Sequence
from typing import Any

from undolab.model.workflow import Row

_SQL = {str: "TEXT", int: "INTEGER"}


class Table:
    """One table of the world.

    Args:
        name: its name, also the first part of an entity.
        noun: what a row is called in messages.
        columns: column name to type, `str` or `int`; none is ever null.
        key_columns: how many of the first columns are the primary key; a row's id is their values joined by `/`.
        prefix: prefix of the ids that the world chooses for the rows; empty where the caller names them.
    """

    def __init__(
        self, name: str, noun: str, columns: dict[str, type], *, key_columns: int = 1, prefix: str = ""
    ) -> None:
        self.name = name
        self.noun = noun
        self.prefix = prefix
        self.types = columns
        self.columns = tuple(columns)
        self.key = self.columns[:key_columns]
        self._width = key_columns
        # Names come from our own declarations, never from a caller; values are always bound.
        names = ", ".join(f'"{c}"' for c in columns)
        order = ", ".join(f'"{c}"' for c in self.key)
        where = " AND ".join(f'"{c}" = ?' for c in self.key)
        defs = ", ".join(f'"{c}" {_SQL[t]} NOT NULL' for c, t in columns.items())
        self.ddl = f'CREATE TABLE "{name}" ({defs}, PRIMARY KEY ({order})) STRICT, WITHOUT ROWID'
        self.select_all = f'SELECT {names} FROM "{name}" ORDER BY {order}'  # noqa: S608
        self.select_one = f'SELECT {names} FROM "{name}" WHERE {where}'  # noqa: S608
        self.select_by = {
            c: f'SELECT {names} FROM "{name}" WHERE "{c}" = ? ORDER BY {order}'  # noqa: S608
            for c in columns
        }
        self.insert = f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})'  # noqa: S608
        self.update = f'UPDATE "{name}" SET ({names}) = ({", ".join("?" * len(columns))}) WHERE {where}'  # noqa: S608
        self.delete = f'DELETE FROM "{name}" WHERE {where}'  # noqa: S608

    def row_id(self, values: Sequence[Any]) -> str:
        """Return the id of the row with these values, of which the first are the primary key."""
        return str(values[0]) if self._width == 1 else "/".join(map(str, values[: self._width]))

    def encode(self, row: Row) -> tuple[Any, ...]:
        """Return the row's values in column order."""
        return tuple([row[c] for c in self.columns])

    def decode(self, values: tuple[Any, ...]) -> Row:
        """Return the row of values as read."""
        return dict(zip(self.columns, values, strict=True))

    def problem(self, row: Row) -> str | None:
        """Return what is wrong with a row from outside, or None.

        STRICT tables would quietly turn a number into text, and a bool into a number; a fixture shall mean what it says.
        """
        for column in self.types:
            if column not in row:
                return f"column {column} is missing"
        for column, value in row.items():
            want = self.types.get(column)
            if want is None:
                return f"there is no column {column}"
            if type(value) is not want:
                return f"column {column} is {type(value).__name__}, not {want.__name__}"
        return None
