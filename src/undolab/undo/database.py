"""What the undo layer asks of a database, and the choice between the two there are: an SQLite file or a PostgreSQL server.

The statements are the same for both. Where the two differ, the PostgreSQL side translates (`undolab.undo.postgres`).
"""

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from undolab.undo import schema

_SERVER = ("postgresql://", "postgres://")


class Rowset(Protocol):
    """The answer to a statement."""

    def fetchone(self) -> Any:
        """Return the next row as a tuple, None where there is none."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""


class Database(Protocol):
    """One connection. `BEGIN` opens a transaction that only reads, of one moment; `BEGIN IMMEDIATE` one that writes."""

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Rowset:
        """Run one statement; `?` stands for a parameter."""

    def close(self) -> None:
        """Close the connection; what was not committed is gone."""


def create(target: Path | str) -> None:
    """Make an empty store: a new file, or new tables in a PostgreSQL database (`postgresql://…`).

    Raises:
        UndolabError: there is something already, or it cannot be made.
    """
    if _on_server(target):
        from undolab.undo import postgres

        postgres.create(str(target))
    else:
        schema.create(Path(target))


def connect(target: Path | str) -> Database:
    """Open a store that exists.

    Raises:
        UndolabError: there is none, or it is no undo store of this version.
    """
    if _on_server(target):
        from undolab.undo import postgres

        return postgres.connect(str(target))
    return schema.connect(Path(target))


def failures() -> tuple[type[Exception], ...]:
    """Return what a connection of either kind raises when the database itself fails."""
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error,) if psycopg is None else (sqlite3.Error, psycopg.Error)


def _on_server(target: Path | str) -> bool:
    return isinstance(target, str) and target.startswith(_SERVER)
