"""Recovery against size: does it cost the same at a million receipts, and at 100,000 contributions on one object?

Three questions, each answered by ratios within one run: the median of `recover` against the number of receipts in the
store; the same against the contributions on the object; the bytes of a receipt against both. For comparison stands a
store that keeps a whole copy of the object before and after in each receipt and rewrites the object on each write.
The wait for the disk (synchronous FULL) would drown every difference, so ratios are taken with it off; the first line
says what a recovery costs with it. Targets: medians flat within 1.2 times, under 300 bytes a receipt whatever the sizes.
Run: `python benchmarks/undo.py` (`--quick` stops at 10,000; `--record` keeps the numbers).
"""

import argparse
import json
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _record import record

from undolab.undo import schema
from undolab.undo.store import Store
from undolab.undo.types import Context, Effect, Outcome

ME = Context("acme", "agent", "run-1")
OTHER = Context("acme", "agent", "history")
ADD = Effect("add", "ledger", {"delta": 1})
_ROUNDS, _COPY_ROUNDS = 200, 5


def _store(folder: Path, receipts: int, credits_: int, sync: str = "OFF") -> Store:
    """Return a store with so many old receipts (on another object) and so many contributions on the one object."""
    path = folder / f"{receipts}-{credits_}-{sync}.db"
    schema.create(path)
    store = Store.open(path)
    store.permit("acme", "agent", "allow")
    for name in ("ledger", "old"):
        store.seed("acme", name, {"fields": {"status": "open"}})
    store.forward(OTHER, Effect("add", "old", {"delta": 1}))
    db = store._db
    found = dict(db.execute("SELECT name, id FROM incarnations"))
    context = db.execute("SELECT id FROM contexts WHERE run = 'history'").fetchone()[0]
    db.execute("BEGIN")
    rows = ((secrets.token_hex(16), context, found["old"], secrets.token_hex(16)) for _ in range(receipts))
    insert = "INSERT INTO receipts (id, context, kind, incarnation, request, expires) VALUES (?,?,'add',?,?,9999999999999)"
    db.executemany(insert, rows)
    parts = ((found["ledger"], f"p:{number:06}") for number in range(credits_))
    db.executemany("INSERT INTO credits VALUES (?,?,1)", parts)
    db.execute("UPDATE incarnations SET balance = ? WHERE name = 'ledger'", (credits_,))
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute(f"PRAGMA synchronous={sync}")
    return store


def _recoveries(store: Store) -> Callable[[], float]:
    def one() -> float:
        receipt = store.forward(ME, ADD)
        begin = time.perf_counter()
        answer = store.recover(ME, receipt.id)
        spent = time.perf_counter() - begin
        assert answer.outcome is Outcome.COMPENSATED
        return spent

    return one


def _snapshots(folder: Path, credits_: int) -> tuple[Callable[[], float], Callable[[], int]]:
    """Return one recovery of a store with whole copies, and its bytes a receipt."""
    db = sqlite3.connect(folder / f"snapshots-{credits_}.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=OFF")
    db.execute("CREATE TABLE objects (name TEXT PRIMARY KEY, body TEXT NOT NULL)")
    db.execute(
        "CREATE TABLE receipts (id TEXT PRIMARY KEY, body TEXT NOT NULL, consumed INTEGER NOT NULL DEFAULT 0)"
    )
    body = {"credits": {f"p:{number:06}": 1 for number in range(credits_)}}
    db.execute("INSERT INTO objects VALUES ('ledger', ?)", (json.dumps(body),))

    def load() -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = json.loads(db.execute("SELECT body FROM objects").fetchone()[0])
        return found

    def one() -> float:
        ident = secrets.token_hex(16)
        before = load()
        after = {"credits": {**before["credits"], ident: 1}}
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE objects SET body = ?", (json.dumps(after),))
        receipt = json.dumps({"id": ident, "before": before, "after": after})
        db.execute("INSERT INTO receipts (id, body) VALUES (?,?)", (ident, receipt))
        db.execute("COMMIT")
        begin = time.perf_counter()
        db.execute("BEGIN IMMEDIATE")
        json.loads(
            db.execute("SELECT body FROM receipts WHERE id = ? AND NOT consumed", (ident,)).fetchone()[0]
        )
        now = load()
        del now["credits"][ident]
        assert sum(now["credits"].values()) >= 0
        db.execute("UPDATE objects SET body = ?", (json.dumps(now),))
        db.execute("UPDATE receipts SET consumed = 1 WHERE id = ?", (ident,))
        db.execute("COMMIT")
        return time.perf_counter() - begin

    def size() -> int:
        found: int = db.execute("SELECT max(length(body)) FROM receipts").fetchone()[0]
        return found

    return one, size


def _file_bytes(store: Store) -> int:
    """Return the pages of the database, in bytes."""
    pages, size = (store._db.execute(f"PRAGMA page_{what}").fetchone()[0] for what in ("count", "size"))
    return int(pages * size)


def _receipt_bytes(store: Store) -> int:
    row = store._db.execute("SELECT * FROM receipts ORDER BY seq DESC LIMIT 1").fetchone()
    return sum(8 if isinstance(cell, int) else len(cell or "") for cell in row)


def _times(cases: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Time all cases in turn, round by round, so that a slow moment of the machine meets them all."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for one in cases.values():
        one()
    for _ in range(rounds):
        for name, one in cases.items():
            times[name].append(one())
    return times


def _table(title: str, times: dict[str, list[float]], sizes: dict[str, int]) -> dict[str, Any]:
    """Print one sweep and return it for the record."""
    print(title)
    medians = {name: statistics.median(found) for name, found in times.items()}
    base = next(iter(medians.values()))
    for name, median in medians.items():
        print(
            f"  {name:>9}: {median * 1e3:8.3f} ms, {median / base:6.2f} times the first; {sizes[name]:>10,} bytes a receipt"
        )
    return {
        "median_ms": {name: round(median * 1e3, 4) for name, median in medians.items()},
        "largest_to_smallest_median": round(max(medians.values()) / min(medians.values()), 3),
        "receipt_bytes": sizes,
    }


def main() -> None:
    """Build each store, time the recoveries in turn, print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synced = _times({"": _recoveries(_store(folder, 100, 1, "FULL"))}, _ROUNDS)[""]
        print(f"one recovery with each commit synced to disk: {statistics.median(synced) * 1e3:.3f} ms")
        counts = [100, 10_000] if quick else [100, 10_000, 1_000_000]
        stores = {f"{count:,}": _store(folder, count, 1) for count in counts}
        on_disk = (_file_bytes(stores[f"{counts[-1]:,}"]) - _file_bytes(stores["100"])) / (counts[-1] - 100)
        print(f"a receipt on disk, with its indexes: {on_disk:.0f} bytes")
        times = _times({key: _recoveries(store) for key, store in stores.items()}, _ROUNDS)
        sizes = {key: _receipt_bytes(store) for key, store in stores.items()}
        by_receipts = _table("receipts in the store", times, sizes)
        counts = [1, 1_000, 10_000] if quick else [1, 100, 1_000, 10_000, 100_000]
        stores = {f"{count:,}": _store(folder, 0, count) for count in counts}
        times = _times({key: _recoveries(store) for key, store in stores.items()}, _ROUNDS)
        sizes = {key: _receipt_bytes(store) for key, store in stores.items()}
        by_contributions = _table("contributions on the object", times, sizes)
        whole = {f"{count:,}": _snapshots(folder, count) for count in counts}
        copies = _times({key: one for key, (one, _) in whole.items()}, _COPY_ROUNDS)
        sizes = {key: size() for key, (_, size) in whole.items()}
        by_copies = _table("the same, whole copies in each receipt", copies, sizes)
        ratios = {key: statistics.median(copies[key]) / statistics.median(times[key]) for key in whole}
        for key, ratio in ratios.items():
            print(f"  {key:>9}: whole copies take {ratio:.1f} times as long")
        record(
            "undo",
            {
                "rounds": _ROUNDS,
                "synced_median_ms": round(statistics.median(synced) * 1e3, 4),
                "receipt_on_disk_bytes": round(on_disk),
                "by_receipts": by_receipts,
                "by_contributions": by_contributions,
                "whole_copies": by_copies,
                "whole_copies_to_ours": {key: round(ratio, 2) for key, ratio in ratios.items()},
            },
        )


if __name__ == "__main__":
    main()
