"""The audit: one row for every request, refusals too, each row's digest covering the row before it."""

# ruff: noqa: S608 - every statement is put together from constants of this module; values are always parameters
from collections.abc import Iterator
from typing import NamedTuple

from undolab.model.canon import digest
from undolab.undo.database import Database
from undolab.undo.types import Context

GENESIS = "0" * 64
_COLUMNS = "seq, at, tenant, principal, run, action, receipt, outcome, reason, evidence, chain"


class Entry(NamedTuple):
    """One request: when, by whom, about which receipt, its outcome, the full reason, and a digest of what it changed."""

    seq: int
    at: int
    tenant: str
    principal: str
    run: str
    action: str
    receipt: str
    outcome: str
    reason: str
    evidence: str
    chain: str


def append(
    db: Database,
    at: int,
    context: Context,
    *,
    action: str,
    receipt: str,
    outcome: str,
    reason: str,
    evidence: str = "",
) -> None:
    """Write one row in the transaction that is open."""
    last = db.execute("SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    seq, before = last or (0, GENESIS)
    row = (seq + 1, at, *context, action, receipt, outcome, reason, evidence)
    db.execute(
        f"INSERT INTO audit ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", (*row, digest([before, *row]))
    )


def entries(db: Database) -> Iterator[Entry]:
    """Yield the rows in order."""
    for row in db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY seq"):
        yield Entry(*row)


def problems(db: Database, head: str | None = None) -> list[str]:
    """Return what is wrong with the chain: [] when every row follows from the one before it.

    `head`, a digest that was kept elsewhere, must still be in the chain: only that shows a cut tail.
    """
    found, before, seen = [], GENESIS, head is None or head == GENESIS
    for number, entry in enumerate(entries(db), 1):
        if entry.seq != number:
            found.append(f"row {number} is missing: the next one there is is {entry.seq}")
            break
        if _chained(before, entry) != entry.chain:
            found.append(f"row {number} does not follow from the one before it")
            break
        before = entry.chain
        seen = seen or before == head
    if not found and not seen:
        found.append(
            "the chain does not hold the head that was kept: its tail was cut or it was written anew"
        )
    return found


def _chained(before: str, entry: Entry) -> str:
    try:
        return digest([before, *entry[:-1]])
    except ValueError:  # a number that no row of ours has
        return ""


def head(db: Database) -> str:
    """Return the digest of the last row."""
    last = db.execute("SELECT chain FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return GENESIS if last is None else str(last[0])
