"""Lost unsynced writes: after a power cut at any moment, every answered request is there, and no half of any other.

A workload runs through `disk.Disk`; then each image of each moment is opened by the production code, with the machine's
own SQLite, and must be exactly the rows after the last answered request or after the one that was running. The rest of
the workload, beginning with the request that had no answer, is then asked again and must end in the same rows.
"""

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.errors import UndolabError
from undolab.undo import schema
from undolab.undo.study import disk, state
from undolab.undo.study.mixture import mixture
from undolab.undo.study.requests import EFFECTS, ME, PEER, Op, opening
from undolab.undo.study.stores import Opened
from undolab.undo.study.suite import Case, Found

_DATABASE = "u.db"
BLOCK = 25  # events of the log in one case


class Workload(NamedTuple):
    """What is asked, and how the connection is set. `checkpoint`: pages after which the WAL goes back into the database."""

    name: str
    ops: list[Op]
    checkpoint: int = 1000
    synchronous: str = "FULL"


class Recorded(NamedTuple):
    """A workload's log, and all rows after each of its requests; the first entry is the empty store."""

    log: disk.Log
    rows: list[state.Dump]
    answers: list[str]


def workloads(seed: int) -> list[Workload]:
    """Return the workloads: one of each kind in turn, and random mixtures with the WAL folded back often or seldom."""
    lives = opening()
    for op in EFFECTS.values():
        lives += [op, Op("recover", ident=op.ident)]
    again = [
        op._replace(ident=f"{op.ident}-2", generation=op.generation and "g-again") for op in EFFECTS.values()
    ]
    theirs = Op("peer", PEER, "p-1", "add", "ticket", {"delta": 2})
    lives += [
        *again,
        theirs,
        Op("recover_run", ME),
        Op("forward", ME, "e-last", "add", "ticket", {"delta": 1}),
    ]
    return [
        Workload("lives", lives),
        Workload("lives, folded often", lives, checkpoint=8),
        Workload("mixture", mixture(seed, 40), checkpoint=16),
        Workload("mixture, folded often", mixture(seed + 1, 40), checkpoint=4),
    ]


def record(workload: Workload, seed: int) -> Recorded:
    """Run a workload from the making of the store to its closing, through the disk."""
    rows, answers = [], []
    with tempfile.TemporaryDirectory() as name:
        where = disk.Disk(seed)
        db: Any = where.connect(Path(name) / _DATABASE)
        db.execute("PRAGMA journal_mode=WAL")
        schema.build(db)
        where.acknowledge(0)
        opened = Opened.over(db)
        db.execute(f"PRAGMA synchronous={workload.synchronous}")
        db.execute(f"PRAGMA wal_autocheckpoint={workload.checkpoint}")
        rows.append(state.dump(db))
        for number, op in enumerate(workload.ops, 1):
            answers.append(opened.perform(op))
            where.acknowledge(number)
            rows.append(state.dump(db))
        opened.close()
        where.acknowledge(len(workload.ops))
        where.unregister()
    return Recorded(where.log, rows, answers)


def cases(seed: int, exhaustive: int, sample: int, block: int = BLOCK) -> list[Case]:
    """Return a case for each stretch of each workload's log."""
    found = []
    for workload in workloads(seed):
        recorded = record(workload, seed)
        found += [
            Case(
                f"{workload.name}/{first}",
                partial(check, workload, recorded, range(first, first + block), seed, exhaustive, sample),
            )
            for first in range(1, len(recorded.log) + 1, block)
        ]
    return found


def check(
    workload: Workload, recorded: Recorded, points: range, seed: int, exhaustive: int, sample: int
) -> Found:
    """Check every image of a power cut after these events."""
    counts, wrong = Counter[str](), list[str]()
    built = next(at for at, event in enumerate(recorded.log, 1) if isinstance(event, disk.Acknowledged))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for crash in disk.crashes(recorded.log, points, seed, exhaustive=exhaustive, sample=sample):
            disk.put(crash.files, folder)
            found = _look(
                workload, recorded, crash, folder / _DATABASE, made=crash.at >= built, counts=counts
            )
            counts.update(images=1, **{crash.damage.replace(" ", "_").replace(",", ""): 1})
            wrong += [f"event {crash.at}, {crash.damage}: {problem}" for problem in found]
        counts.update(moments=len([at for at in points if at <= len(recorded.log)]))
    return Found(counts, wrong)


def _look(
    workload: Workload, recorded: Recorded, crash: disk.Crash, path: Path, *, made: bool, counts: Counter[str]
) -> list[str]:
    try:
        opened = Opened(path)
    except UndolabError as error:
        if made:
            return [f"the store is gone: {error}"]
        counts.update(not_yet_a_store=1)
        return []
    try:
        wrong = state.problems(opened.db)
        found = state.dump(opened.db)
        for done in (crash.acknowledged, crash.acknowledged + 1):
            if done < len(recorded.rows) and found == recorded.rows[done]:
                counts.update(kept=done - crash.acknowledged, answered=1)
                return wrong + _again(opened, workload.ops[crash.acknowledged :], recorded)
        return [*wrong, _difference(found, recorded.rows, crash.acknowledged)]
    except sqlite3.DatabaseError as error:
        return [f"the store cannot be read: {error}"]
    finally:
        opened.close()


def _difference(found: state.Dump, rows: Sequence[state.Dump], acknowledged: int) -> str:
    for done in range(acknowledged - 1, -1, -1):
        if found == rows[done]:
            return f"{acknowledged} requests were answered and {acknowledged - done} of them are lost"
    return f"other rows than after {acknowledged} or {acknowledged + 1} requests"


def _again(opened: Opened, rest: Sequence[Op], recorded: Recorded) -> list[str]:
    """Ask for what was not answered, first the request that was running: its effect must not come twice."""
    for op in rest:
        opened.perform(op)
    wrong = state.problems(opened.db)
    if state.effects(state.dump(opened.db)) != state.effects(recorded.rows[-1]):
        wrong.append("asked again to the end: other rows than without the power cut")
    return wrong
