"""What must be true of a database after whatever happened to it, and all its rows for comparison."""

# ruff: noqa: S608 - table names come from the database's own schema, quoted; values are always parameters
import sqlite3
from typing import Any

from undolab.undo import audit

Dump = dict[str, list[tuple[Any, ...]]]
_CHECKS = {
    "a balance is not the sum of its credits": """SELECT generation FROM incarnations i WHERE alive AND balance !=
        (SELECT coalesce(sum(amount), 0) FROM credits WHERE incarnation = i.id)""",
    "a held amount is not the sum of its holds": """SELECT generation FROM incarnations i WHERE alive AND held !=
        (SELECT coalesce(sum(amount), 0) FROM holds WHERE incarnation = i.id)""",
    "an invariant is broken": """SELECT generation FROM incarnations WHERE alive
        AND NOT (balance >= floor AND held BETWEEN 0 AND "limit" AND edits BETWEEN 0 AND rev)""",
    "a buried incarnation has rows": """SELECT generation FROM incarnations i WHERE NOT alive AND (
        EXISTS (SELECT 1 FROM credits WHERE incarnation = i.id) OR EXISTS (SELECT 1 FROM heads WHERE incarnation = i.id)
        OR EXISTS (SELECT 1 FROM versions WHERE incarnation = i.id) OR EXISTS (SELECT 1 FROM tags WHERE incarnation = i.id)
        OR EXISTS (SELECT 1 FROM holds WHERE incarnation = i.id))""",
    "a receipt has not one accepted row in the audit": """SELECT id FROM receipts r WHERE 1 !=
        (SELECT count(*) FROM audit WHERE action = 'forward' AND outcome = 'accepted' AND reason = '' AND receipt = r.id)""",
    "an accepted effect has no receipt": """SELECT receipt FROM audit WHERE action = 'forward' AND outcome = 'accepted'
        AND receipt NOT IN (SELECT id FROM receipts)""",
    "a consumed bit and the audit differ": """SELECT id FROM receipts r WHERE (outcome IS NOT NULL) !=
        (SELECT count(*) FROM audit WHERE action IN ('recover', 'recover_run') AND receipt = r.id
         AND outcome IN ('compensated', 'already_absent') AND reason != 'repeated')""",
    "a consumed bit is another outcome than the audit's": """SELECT r.id FROM receipts r JOIN audit a ON a.receipt = r.id
        WHERE a.action IN ('recover', 'recover_run') AND a.outcome IN ('compensated', 'already_absent')
        AND a.outcome IS NOT r.outcome""",
    "a peer's event has not one accepted row in the audit": """SELECT id FROM events e WHERE 1 != (SELECT count(*) FROM audit
        WHERE action LIKE 'peer %' AND outcome = 'accepted' AND receipt = e.id AND tenant = e.tenant)""",
    "a peer's accepted event is lost": """SELECT receipt FROM audit a WHERE action LIKE 'peer %' AND outcome = 'accepted'
        AND NOT EXISTS (SELECT 1 FROM events WHERE tenant = a.tenant AND id = a.receipt)""",
    "a compensated effect has left rows": """SELECT r.id FROM receipts r WHERE outcome = 'compensated' AND (
        EXISTS (SELECT 1 FROM credits WHERE writer = 'a:' || r.id) OR EXISTS (SELECT 1 FROM tags WHERE writer = 'a:' || r.id)
        OR EXISTS (SELECT 1 FROM versions WHERE writer = 'a:' || r.id)
        OR EXISTS (SELECT 1 FROM holds WHERE writer = 'a:' || r.id))""",
    "a live effect has lost its row": """SELECT r.id FROM receipts r JOIN incarnations i ON i.id = r.incarnation
        LEFT JOIN incarnations o ON o.id = r.other WHERE outcome IS NULL AND i.alive AND (
        (kind IN ('add', 'transfer') AND NOT EXISTS
            (SELECT 1 FROM credits WHERE incarnation = i.id AND writer = 'a:' || r.id))
        OR (kind = 'transfer' AND o.alive AND NOT EXISTS
            (SELECT 1 FROM credits WHERE incarnation = o.id AND writer = 'a:' || r.id))
        OR (kind IN ('set', 'update') AND NOT EXISTS
            (SELECT 1 FROM versions WHERE incarnation = i.id AND writer = 'a:' || r.id))
        OR (kind = 'reserve' AND NOT EXISTS (SELECT 1 FROM holds WHERE incarnation = i.id AND writer = 'a:' || r.id)))""",
    "an agent's row has no receipt": """SELECT writer FROM (SELECT writer FROM credits UNION SELECT writer FROM tags
        UNION SELECT writer FROM versions UNION SELECT writer FROM holds)
        WHERE writer LIKE 'a:%' AND substr(writer, 3) NOT IN (SELECT id FROM receipts)""",
}


def problems(db: Any) -> list[str]:
    """Return everything that is wrong with a store: pages, keys, sums, consumed bits, effects, the audit's chain."""
    try:
        return _problems(db)
    except sqlite3.DatabaseError as error:
        return [f"integrity: {error}"]


def _problems(db: Any) -> list[str]:
    found = [
        f"integrity: {row[0]}" for row in db.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"
    ]
    found += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check").fetchall()]
    for says, sql in _CHECKS.items():
        found += [f"{says}: {row[0]}" for row in db.execute(sql).fetchall()]
    return found + audit.problems(db)


def dump(db: Any) -> Dump:
    """Return every row of every table, in the tables' own order."""
    names = [
        row[0]
        for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    ]
    return {name: [tuple(row) for row in db.execute(f'SELECT * FROM "{name}"').fetchall()] for name in names}


def effects(dumped: Dump) -> Dump:
    """Return the rows that say what is so: all but audit and clock, which a repeated request moves on purpose."""
    return {name: rows for name, rows in dumped.items() if name not in {"audit", "clock"}}
