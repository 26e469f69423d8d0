"""The world's speed: fresh worlds and calls per second, beside a peer in the same run.

The peer is the plain way to the same rows: a SQLite file in a directory of its own, a connection for each call, no ledger
and no checks of arguments. Every line of the world includes arguments checked, ledger rows and digests.

Run: python benchmarks/world.py
"""

import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _record import ROOT, record

from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.world import World

CALLS = 5
ROUNDS = 7


def best(work: Callable[[], object], times: int) -> float:
    """Return the seconds of processor time that `work` took in the best of several rounds."""
    work()
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - start) / times)
    return min(found)


def fresh_arm(workflow: Workflow, tools: dict[str, ToolSpec]) -> Callable[[], None]:
    """Return a run of a fresh world, the plan's calls up to five, and its final state."""

    def run() -> None:
        world = World(workflow.fixture, tools, seed=1)
        for n in range(CALLS):
            step = workflow.plan[n % len(workflow.plan)]
            world.call(step.tool, step.arguments, attempt=f"{n}.1.1")
        world.snapshot()
        world.close()

    return run


def peer_arm(path: Path) -> Callable[[], None]:
    """Return the same number of calls on a fresh file database with a connection each: read a row, write it."""

    def call(sql: list[tuple[str, tuple[object, ...]]]) -> None:
        db = sqlite3.connect(path)
        with db:
            for text, values in sql:
                db.execute(text, values).fetchall()
        db.close()

    def run() -> None:
        path.unlink(missing_ok=True)
        call(
            [
                ("CREATE TABLE accounts (account_id TEXT PRIMARY KEY, balance INTEGER)", ()),
                ("INSERT INTO accounts VALUES (?, ?)", ("acc", 100)),
            ]
        )
        for _ in range(CALLS):
            call(
                [
                    ("SELECT balance FROM accounts WHERE account_id = ?", ("acc",)),
                    ("UPDATE accounts SET balance = balance + 1 WHERE account_id = ?", ("acc",)),
                ]
            )

    return run


def main() -> None:
    """Print the table."""
    specs = load_tools(ROOT / "data" / "tools")
    print(f"{'fresh world + 5 calls + snapshot':34}{'ms':>8}{'worlds/s':>10}{'calls/s':>10}")
    slowest = 0.0
    for workflow in load_workflows(ROOT / "data" / "workflows", "test"):
        seconds = best(fresh_arm(workflow, {name: specs[name] for name in workflow.tools}), 200)
        print(f"{workflow.id:34}{seconds * 1e3:8.3f}{1 / seconds:10.0f}{CALLS / seconds:10.0f}")
        slowest = max(slowest, seconds if workflow.domain != "git" else 0.0)
    with tempfile.TemporaryDirectory() as folder:
        peer = best(peer_arm(Path(folder) / "peer.db"), 20)
    print(f"{'peer: file, a connection a call':34}{peer * 1e3:8.3f}{1 / peer:10.0f}{CALLS / peer:10.0f}")
    ratio = peer / slowest
    print(
        f"peer / slowest non-git world: {ratio:.1f}x (processor time; the peer's waits for the disk are left out)"
    )

    workflow = next(w for w in load_workflows(ROOT / "data" / "workflows", "test") if w.id == "RB-DB-005")
    world = World(workflow.fixture, {name: specs[name] for name in workflow.tools}, seed=1)
    step = next(s for s in workflow.plan if specs[s.tool].writes)
    write = best(lambda: world.call(step.tool, step.arguments, attempt="1.1.1"), 500)
    world.restore(saved := world.save())
    save, restore = best(world.save, 500), best(lambda: world.restore(saved), 100)
    print(
        f"one write with ledger row: {write * 1e6:.0f} us; save: {save * 1e6:.0f} us; restore: {restore * 1e6:.0f} us"
    )
    world.close()
    record(
        "world",
        {
            "slowest_non_git_world_ms": round(slowest * 1e3, 3),
            "peer_ms": round(peer * 1e3, 3),
            "peer_to_slowest": round(ratio, 1),
            "write_us": round(write * 1e6, 1),
            "save_us": round(save * 1e6, 1),
            "restore_us": round(restore * 1e6, 1),
        },
    )


if __name__ == "__main__":
    main()
