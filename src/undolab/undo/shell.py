"""One connection, its transactions, its time, and the look-up of receipts: what host and agent sides share."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from undolab.undo.authority import Permissions, known_id
from undolab.undo.database import Database, connect
from undolab.undo.types import Context, Receipt

_RECEIPT = """SELECT r.id, r.kind, i.generation, coalesce(o.generation, ''), i.name, coalesce(o.name, ''), r.expires, r.outcome,
c.tenant, c.principal, c.run, r.request
FROM receipts r JOIN contexts c ON c.id = r.context JOIN incarnations i ON i.id = r.incarnation
LEFT JOIN incarnations o ON o.id = r.other """


# A writer's first statement: in PostgreSQL the lock of this one row is the write lock.
_TICK = "UPDATE clock SET now = CASE WHEN now < ? THEN ? ELSE now END"


class Listed(NamedTuple):
    """One effect of a run: its receipt's id, kind and resource, and `live` or the outcome of its recovery."""

    id: str
    kind: str
    resource: str
    state: str


class Found(NamedTuple):
    """A receipt with what the store keeps beside it; `outcome` is None while the effect is live.

    `other` is the name of the second resource of a transfer, else "".
    """

    receipt: Receipt
    resource: str
    other: str
    expires: int
    outcome: str | None
    owner: Context
    request: str


Approval = Callable[[Context, Listed], bool]


def _clock() -> int:
    return time.time_ns() // 1_000_000


class Shell:
    """An undo store's connection; the methods built on it may be called from any thread.

    `approval` is asked, outside every lock, where a permission says `approve`; without it such a recovery is refused.
    `clock` gives milliseconds; the store's own time never goes back, whatever the clock does.
    """

    def __init__(
        self, db: Database, *, approval: Approval | None = None, clock: Callable[[], int] = _clock
    ) -> None:
        self._db = db
        self._approval = approval
        self._clock = clock
        self._lock = threading.RLock()
        self._permissions = Permissions(db)

    @classmethod
    def open(
        cls, target: Path | str, *, approval: Approval | None = None, clock: Callable[[], int] = _clock
    ) -> Self:
        """Open a store that exists: a file, or a PostgreSQL database (`postgresql://…`).

        Raises:
            UndolabError: it does not exist, or is no undo store of this version.
        """
        return cls(connect(target), approval=approval, clock=clock)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _reading(self) -> Iterator[int]:
        with self._lock:
            self._db.execute("BEGIN")
            try:
                yield max(self._clock(), self._db.execute("SELECT now FROM clock").fetchone()[0])
            finally:
                if self._db.in_transaction:  # not where the connection is lost
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[int]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                at = self._clock()
                self._db.execute(_TICK, (at, at))
                yield self._db.execute("SELECT now FROM clock").fetchone()[0]
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _find(self, ident: object) -> Found | None:
        if not known_id(ident):
            return None
        row = self._db.execute(_RECEIPT + "WHERE r.id = ?", (ident,)).fetchone()
        return None if row is None else _found(row)

    def _of_run(self, context: Context, rest: str, *values: int) -> list[Found]:
        where = f"WHERE c.tenant = ? AND c.principal = ? AND c.run = ? {rest}"
        return [_found(row) for row in self._db.execute(_RECEIPT + where, (*context, *values))]


def _found(row: tuple[Any, ...]) -> Found:
    ident, kind, generation, other, name, other_name, expires, outcome, tenant, principal, run, request = row
    owner = Context(tenant, principal, run)
    return Found(Receipt(ident, kind, generation, other), name, other_name, expires, outcome, owner, request)
