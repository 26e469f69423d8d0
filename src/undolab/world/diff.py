"""What changed between two snapshots, row by row: for reports, and for tests that name what a call may touch."""

from typing import Literal

import msgspec

from undolab.model.workflow import Row, State


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One row that is not the same in both states."""

    entity: str
    """`table/row id`."""
    kind: Literal["added", "removed", "changed"]
    before: Row | None = None
    after: Row | None = None
    columns: list[str] = []
    """The columns that differ, sorted; only where both rows are there."""


def diff(a: State, b: State) -> list[Change]:
    """Return the changes that turn `a` into `b`, sorted by table and row id."""
    changes = []
    for table in sorted(a.keys() | b.keys()):
        old, new = a.get(table, {}), b.get(table, {})
        for row in sorted(old.keys() | new.keys()):
            before, after = old.get(row), new.get(row)
            if before != after:
                changes.append(_change(f"{table}/{row}", before, after))
    return changes


def _change(entity: str, before: Row | None, after: Row | None) -> Change:
    if before is None:
        return Change(entity=entity, kind="added", after=after)
    if after is None:
        return Change(entity=entity, kind="removed", before=before)
    names = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    return Change(entity=entity, kind="changed", before=before, after=after, columns=names)
