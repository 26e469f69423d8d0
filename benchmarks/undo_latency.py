"""One recovery, from the question to the synced commit: our store beside the published policies on whole-copy receipts.

The published policies need a copy of the object before and after in each receipt; the small store below keeps them so,
with the published steps (permission, receipt, object, policy, write, audit row, commit). It is written for this
comparison only. Both stores sync each commit. Every round takes each of them once, in a shuffled order, on a fresh
object with one clean `add`; the first rounds are not counted.
Run: `python benchmarks/undo_latency.py` (`--quick` for a tenth of the rounds; `--record` keeps the times).
"""

import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _record import record

from undolab.undo import schema
from undolab.undo.policies.receipt import Context, Receipt, forward
from undolab.undo.policies.resource import Cell, Event, Resource, blank
from undolab.undo.policies.table import COMPENSATED, PUBLISHED, Authority, authorise, transform
from undolab.undo.store import Store
from undolab.undo.types import Context as Caller
from undolab.undo.types import Effect, Outcome

ROUNDS, WARM_UP = 250, 20
ME = Context("acme", "agent", "run-1")
ADD = Event("add", delta=4)
_SEED = 77231
_TABLES = """
CREATE TABLE objects (name TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE receipts (id TEXT PRIMARY KEY, body TEXT NOT NULL, consumed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE policy (tenant TEXT, principal TEXT, allowed INTEGER, PRIMARY KEY (tenant, principal));
CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, receipt TEXT NOT NULL, status TEXT NOT NULL);
INSERT INTO policy VALUES ('acme', 'agent', 1);
"""


class Copies:
    """Objects and receipts as JSON, each receipt with two whole objects."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON"):
            self.db.execute(f"PRAGMA {pragma}")
        self.db.executescript(_TABLES)

    def prepare(self, number: int) -> str:
        """Write a fresh object with one effect; return the receipt's id."""
        name, ident = f"object-{number}", f"effect-{number}"
        receipt = forward(blank(f"generation-{number}"), ADD, ident, "", ME, 9_999_999_999)
        assert receipt is not None
        body = {
            "name": name,
            "context": ME,
            "before": _json(receipt.before),
            "after": _json(receipt.after),
            "expires": receipt.expires,
        }
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("INSERT INTO objects VALUES (?,?)", (name, json.dumps(_json(receipt.after))))
        self.db.execute("INSERT INTO receipts (id, body) VALUES (?,?)", (ident, json.dumps(body)))
        self.db.execute("COMMIT")
        return ident

    def recover(self, ident: str, policy: str) -> str:
        """Take one effect back under a policy; the published steps in their order."""
        self.db.execute("BEGIN IMMEDIATE")
        text, consumed = self.db.execute(
            "SELECT body, consumed FROM receipts WHERE id = ?", (ident,)
        ).fetchone()
        body = json.loads(text)
        owner = Context(*body["context"])
        allowed = self.db.execute(
            "SELECT allowed FROM policy WHERE tenant = ? AND principal = ?", owner[:2]
        ).fetchone()
        before, after = (_resource(body[name]) for name in ("before", "after"))
        receipt = Receipt(ident, owner, ADD, before, after, body["expires"])
        facts = Authority(ME, bool(allowed[0]), int(time.time()), bool(consumed))
        status = authorise(facts, receipt)
        if not status:
            now = _resource(
                json.loads(
                    self.db.execute("SELECT body FROM objects WHERE name = ?", (body["name"],)).fetchone()[0]
                )
            )
            status, left = transform(PUBLISHED[policy], now, receipt, None)
            assert left is not None
            self.db.execute(
                "UPDATE objects SET body = ? WHERE name = ?", (json.dumps(_json(left)), body["name"])
            )
            self.db.execute("UPDATE receipts SET consumed = 1 WHERE id = ?", (ident,))
            self.db.execute("INSERT INTO audit (receipt, status) VALUES (?,?)", (ident, status))
        self.db.execute("COMMIT")
        return status


def _json(state: Resource | None) -> dict[str, object]:
    assert state is not None
    return {**state._asdict(), "component": dict(state.component)}


def _resource(body: dict[str, dict[str, list[str]]]) -> Resource:
    fields = {name: Cell(*cell) for name, cell in body["fields"].items()}
    return Resource(**{**body, "fields": fields})


def _ours(folder: Path) -> Callable[[int], float]:
    path = folder / "undo.db"
    schema.create(path)
    store = Store.open(path)
    store.permit("acme", "agent", "allow")
    caller = Caller(*ME)

    def one(number: int) -> float:
        name = f"object-{number}"
        store.seed("acme", name, {"opening": 10, "fields": {"status": "open", "note": "original"}})
        receipt = store.forward(caller, Effect("add", name, {"delta": 4}))
        begin = time.perf_counter()
        answer = store.recover(caller, receipt.id)
        spent = time.perf_counter() - begin
        assert answer.outcome is Outcome.COMPENSATED
        return spent

    return one


def _theirs(folder: Path, policy: str) -> Callable[[int], float]:
    store = Copies(folder / f"{policy}.db")

    def one(number: int) -> float:
        ident = store.prepare(number)
        begin = time.perf_counter()
        status = store.recover(ident, policy)
        spent = time.perf_counter() - begin
        assert status == COMPENSATED, status
        return spent

    return one


def main() -> None:
    """Take the rounds, print median, 95th and 99th of a hundred, record the samples."""
    rounds = ROUNDS // 10 if "--quick" in sys.argv[1:] else ROUNDS
    dice = random.Random(_SEED)
    with tempfile.TemporaryDirectory(dir=Path()) as name:
        folder = Path(name)
        cases = {policy: _theirs(folder, policy) for policy in PUBLISHED if policy != "deny"}
        cases["undolab"] = _ours(folder)
        samples: dict[str, list[float]] = {case: [] for case in cases}
        for number in range(WARM_UP + rounds):
            order = list(cases)
            dice.shuffle(order)
            for case in order:
                spent = cases[case](number)
                if number >= WARM_UP:
                    samples[case].append(round(spent * 1e6, 1))
    for case, found in samples.items():
        cuts = statistics.quantiles(found, n=100, method="inclusive")
        print(
            f"{case:10} median {statistics.median(found):9.1f} us, p95 {cuts[94]:9.1f} us, p99 {cuts[98]:9.1f} us"
        )
    record("undo-latency", {"rounds": rounds, "warm_up": WARM_UP, "microseconds": samples})


if __name__ == "__main__":
    main()
