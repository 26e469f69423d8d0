"""The compared policies on disk: whole objects and whole receipts in JSON, under the same transactions as the real store.

It exists for this study alone, so that kills and races meet policies that are *not* idempotent too: a second commit
of `mapped` shows in the balance, while the kernel's inverses would hide it. Only the four published kinds are here.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from undolab.undo import audit, schema
from undolab.undo.histories.grammar import CONTEXT
from undolab.undo.policies.receipt import Receipt, forward
from undolab.undo.policies.resource import Event, Resource, blank, write
from undolab.undo.policies.table import COMPENSATED, POLICIES, Authority, authorise, transform
from undolab.undo.shell import Shell
from undolab.undo.types import Context

_NAME = "resource"
_LIFE = 10_000
_NOW = 101  # seconds, as in the published fixture
_TABLES = (
    "CREATE TABLE objects (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT",
    "CREATE TABLE whole (id TEXT PRIMARY KEY, body TEXT NOT NULL, consumed INTEGER NOT NULL) STRICT",
    "CREATE TABLE log (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL) STRICT",
)


def create(path: Path, *, seeded: bool) -> None:
    """Make an undo store with the shelf's tables beside its own, and the published resource if it is to be there."""
    schema.create(path)
    db = schema.connect(path)
    for statement in _TABLES:
        db.execute(statement)
    if seeded:
        db.execute("INSERT INTO objects VALUES (?,?)", (_NAME, _encode(blank("generation-original"))))
    db.close()


class Shelf(Shell):
    """One resource under one policy."""

    def act(self, ident: str, event: Event) -> str:
        """Write an agent's effect; the same id again changes nothing."""
        with self._writing() as now:
            said = "repeated" if self._has(ident) else ""
            if not said:
                generation, context = f"generation-{ident}", CONTEXT
                receipt = forward(self._load(), event, ident, generation, context, _NOW + _LIFE)
                if receipt is None:
                    said = "rejected"
                else:
                    self._save(receipt.after)
                    self._db.execute("INSERT INTO whole VALUES (?,?,0)", (ident, _encode(receipt)))
                    self._log(ident, event)
            self._say(now, "forward", ident, "rejected" if said == "rejected" else "accepted", said)
        return said or "accepted"

    def peer(self, ident: str, event: Event) -> str:
        """Write a peer's event; the same id again changes nothing."""
        with self._writing() as now:
            said = "repeated" if self._has(ident) else ""
            if not said:
                resource, accepted = write(self._load(), event, ident)
                if accepted:
                    self._save(resource)
                    self._log(ident, event)
                else:
                    said = "rejected"
            self._say(now, "peer", ident, "rejected" if said == "rejected" else "accepted", said)
        return said or "accepted"

    def recover(self, policy: str, ident: str) -> str:
        """Take an effect back as the policy does; return the published status."""
        with self._writing() as now:
            row = self._db.execute("SELECT body, consumed FROM whole WHERE id = ?", (ident,)).fetchone()
            receipt = None if row is None else msgspec.json.decode(row[0], type=Receipt)
            consumed = row is not None and bool(row[1])
            facts = Authority(CONTEXT, allowed=True, now=_NOW, consumed=consumed)
            status = authorise(facts, receipt)
            if receipt is not None and not status:
                status, after = transform(POLICIES[policy], self._load(), receipt, self._rebuilt(receipt))
                if status == COMPENSATED:
                    self._save(after)
                    self._db.execute("UPDATE whole SET consumed = 1 WHERE id = ?", (ident,))
            self._say(now, "recover", ident, status, "")
        return status

    def watch(self, seen: Callable[[str], None]) -> None:
        """Call `seen` with each statement just before SQLite begins it."""
        db: Any = self._db
        db.set_trace_callback(seen)

    def show(self) -> Resource | None:
        """Return the resource."""
        with self._reading():
            return self._load()

    def problems(self) -> list[str]:
        """Return what is wrong: pages, the audit's chain, receipts used other than the audit says, effects lost or twice."""
        with self._reading():
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            used = """SELECT id FROM whole w WHERE consumed !=
                (SELECT count(*) FROM audit WHERE action = 'recover' AND receipt = w.id AND outcome = 'compensated')"""
            found += [f"a consumed bit and the audit differ: {row[0]}" for row in self._db.execute(used)]
            written = """SELECT id FROM log l WHERE 1 != (SELECT count(*) FROM audit
                WHERE action IN ('forward', 'peer') AND receipt = l.id AND outcome = 'accepted' AND reason = '')"""
            found += [f"a write and the audit differ: {row[0]}" for row in self._db.execute(written)]
            return found + audit.problems(self._db)

    def _has(self, ident: str) -> bool:
        return self._db.execute("SELECT 1 FROM log WHERE id = ?", (ident,)).fetchone() is not None

    def _load(self) -> Resource | None:
        row = self._db.execute("SELECT body FROM objects WHERE name = ?", (_NAME,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Resource)

    def _save(self, resource: Resource | None) -> None:
        if resource is None:
            self._db.execute("DELETE FROM objects WHERE name = ?", (_NAME,))
        else:
            self._db.execute("INSERT OR REPLACE INTO objects VALUES (?,?)", (_NAME, _encode(resource)))

    def _log(self, ident: str, event: Event) -> None:
        self._db.execute("INSERT INTO log (id, body) VALUES (?,?)", (ident, _encode(event)))

    def _rebuilt(self, receipt: Receipt) -> Resource | None:
        """Return what the log gives when everything after the effect is played on what was before it."""
        state = receipt.before
        later = "SELECT id, body FROM log WHERE seq > (SELECT seq FROM log WHERE id = ?) ORDER BY seq"
        for ident, body in self._db.execute(later, (receipt.ident,)).fetchall():
            state, _ = write(state, msgspec.json.decode(body, type=Event), ident)
        return state

    def _say(self, now: int, action: str, ident: str, outcome: str, reason: str) -> None:
        context = Context(*CONTEXT)
        audit.append(self._db, now, context, action=action, receipt=ident, outcome=outcome, reason=reason)


def _encode(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), sort_keys=True)
