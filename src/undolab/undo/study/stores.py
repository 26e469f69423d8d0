"""How the study opens a store and looks at its connection: the one place that knows how the shell keeps it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from undolab.undo import schema
from undolab.undo.store import Store
from undolab.undo.study.requests import NOW, Op, approve, perform


class Clock:
    """Milliseconds that only the study moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        """Return the time that is set."""
        return self.now


class Opened:
    """A store of the study: clock and approver are the study's own, and its statements can be watched."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self.store = Store.open(path, approval=approve, clock=self.clock)

    @classmethod
    def over(cls, db: Any) -> "Opened":
        """Open a store over a connection that somebody else made, as `schema.connect` would."""
        made = cls.__new__(cls)
        made.clock = Clock()
        schema.prepare(db)
        made.store = Store(db, approval=approve, clock=made.clock)
        return made

    @property
    def db(self) -> Any:
        """Return the connection."""
        return self.store._db  # noqa: SLF001 - see the top of the file

    def perform(self, op: Op) -> str:
        """Make a request at the time that it carries."""
        self.clock.now = op.at
        return perform(self.store, op)

    def watch(self, seen: Callable[[str], None] | None) -> None:
        """Call `seen` with each statement just before SQLite begins it."""
        self.db.set_trace_callback(seen)

    def close(self) -> None:
        """Close the connection."""
        self.store.close()


def copied(source: Path, target: Path) -> Path:
    """Copy a closed database, which is one file, over another one; return the copy."""
    for suffix in ("-wal", "-shm", "-journal"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    target.write_bytes(source.read_bytes())
    return target
