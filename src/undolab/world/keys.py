"""Idempotency keys, as in the IETF draft: scoped by tool, bound to a fingerprint of the arguments, answered once.

The key is claimed in the transaction of the call's first effect and settled in that of its last, so that a call that
died in between is found in flight.
"""

from sqlite3 import Connection

import msgspec

from undolab.model.calls import Outcome
from undolab.model.canon import canonical
from undolab.world.errors import ToolError

DDL = (
    "CREATE TABLE _keys (tool TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, attempt TEXT NOT NULL,"
    " output TEXT, PRIMARY KEY (tool, key)) STRICT, WITHOUT ROWID"
)
_decode = msgspec.json.Decoder(dict).decode


def look_up(db: Connection, tool: str, key: str, fingerprint: str) -> Outcome | None:
    """Return the stored answer as a replay, or None for a key not seen before.

    Raises:
        ToolError: `key_conflict` (422) for a key used with other arguments, `key_in_flight` (409) for an unfinished call.
    """
    found = db.execute(
        "SELECT fingerprint, attempt, output FROM _keys WHERE tool = ? AND key = ?", (tool, key)
    ).fetchone()
    if found is None:
        return None
    known, attempt, output = found
    if known != fingerprint:
        raise ToolError("key_conflict", f"key {key} was used with other arguments")
    if output is None:
        raise ToolError("key_in_flight", f"a call with key {key} is in progress")
    return Outcome(ok=True, output=_decode(output), replay_of=attempt)


def claim(db: Connection, tool: str, key: str, fingerprint: str, attempt: str) -> None:
    """Write the key as in flight."""
    db.execute("INSERT INTO _keys VALUES (?, ?, ?, ?, NULL)", (tool, key, fingerprint, attempt))


def settle(db: Connection, tool: str, key: str, outcome: Outcome) -> None:
    """Store the answer that later calls with the key get."""
    db.execute(
        "UPDATE _keys SET output = ? WHERE tool = ? AND key = ?",
        (canonical(outcome.output).decode(), tool, key),
    )
