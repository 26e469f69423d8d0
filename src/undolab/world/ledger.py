"""The world's own account of every committed effect, written in the transaction of the change itself."""

from sqlite3 import Connection

import msgspec

from undolab.model.calls import Effect, LedgerRow
from undolab.model.tools import Op

DDL = (
    "CREATE TABLE _ledger (seq INTEGER PRIMARY KEY, attempt TEXT NOT NULL, tool TEXT NOT NULL,"
    " arguments TEXT NOT NULL, key TEXT, entity TEXT NOT NULL, op TEXT NOT NULL, before TEXT NOT NULL,"
    " after TEXT NOT NULL) STRICT"
)
_decode = msgspec.json.Decoder(dict).decode


def append(
    db: Connection, call: tuple[str, str, str, str | None], entity: str, op: Op, before: str, after: str
) -> Effect:
    """Write one row and return its effect.

    Args:
        db: the connection, with the change's transaction open.
        call: attempt, tool, arguments as canonical JSON, key.
        entity: `table/row id`.
        op: what happened to it.
        before: digest of the row before, empty where there was none.
        after: digest of the row after, empty where there is none.
    """
    row = (*call, entity, op.value, before, after)
    seq = db.execute("INSERT INTO _ledger VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid
    return Effect(id=f"e{seq}", entity=entity, op=op, before=before, after=after)


def read(db: Connection) -> list[LedgerRow]:
    """Return every row in order."""
    return [
        LedgerRow(
            seq=seq,
            attempt=attempt,
            tool=tool,
            arguments=_decode(arguments),
            effect=Effect(id=f"e{seq}", entity=entity, op=Op(op), before=before, after=after),
            key=key,
        )
        for seq, attempt, tool, arguments, key, entity, op, before, after in db.execute(
            "SELECT * FROM _ledger ORDER BY seq"
        )
    ]
