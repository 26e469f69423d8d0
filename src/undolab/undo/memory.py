"""The kernel's rows in plain dicts: the model that stores are checked against, and the world of the bounded histories."""

from collections.abc import Iterable
from typing import Any

from undolab.undo.types import Hold, Put, Resource, Table, Version

_OF_GENERATION = (Table.HEAD, Table.VERSION, Table.CREDIT, Table.TAG, Table.HOLD)


class Memory:
    """A `View` over dicts, one a table; `apply` writes changes in place, `copy` is cheap enough for small worlds."""

    __slots__ = ("rows",)

    def __init__(self, rows: dict[Table, dict[tuple[str, ...], Any]] | None = None) -> None:
        self.rows = {table: {} for table in Table} if rows is None else rows

    def copy(self) -> "Memory":
        """Return an independent copy (rows themselves are immutable)."""
        return Memory({table: dict(rows) for table, rows in self.rows.items()})

    def apply(self, changes: Iterable[Put]) -> None:
        """Write changes; the rows of an incarnation go when it is buried."""
        for table, key, row in changes:
            if row is None:
                self.rows[table].pop(key, None)
                continue
            self.rows[table][key] = row
            if table is Table.RESOURCE and not row.alive:
                for other in _OF_GENERATION:
                    for gone in [k for k in self.rows[other] if k[0] == key[0]]:
                        del self.rows[other][gone]

    def named(self, name: str) -> str | None:
        """Return the generation that has the name now."""
        return self.rows[Table.NAME].get((name,))

    def resource(self, generation: str) -> Resource | None:
        """Return an incarnation, living or buried."""
        return self.rows[Table.RESOURCE].get((generation,))

    def head(self, generation: str, field: str) -> str | None:
        """Return the writer of the value that a field shows."""
        return self.rows[Table.HEAD].get((generation, field))

    def version(self, generation: str, field: str, writer: str) -> Version | None:
        """Return what a writer wrote to a field."""
        return self.rows[Table.VERSION].get((generation, field, writer))

    def written(self, generation: str, writer: str) -> list[str]:
        """Return the fields that hold a version of this writer, sorted."""
        return sorted(f for g, f, w in self.rows[Table.VERSION] if g == generation and w == writer)

    def credit(self, generation: str, writer: str) -> int | None:
        """Return a writer's contribution to the balance."""
        return self.rows[Table.CREDIT].get((generation, writer))

    def tag(self, generation: str, writer: str) -> str | None:
        """Return the member that a writer's grant names."""
        return self.rows[Table.TAG].get((generation, writer))

    def tagged(self, generation: str, member: str) -> list[str]:
        """Return the writers of every grant that names this member, sorted."""
        tags = self.rows[Table.TAG].items()
        return sorted(key[1] for key, named in tags if key[0] == generation and named == member)

    def hold(self, generation: str, writer: str) -> Hold | None:
        """Return a writer's reservation."""
        return self.rows[Table.HOLD].get((generation, writer))
