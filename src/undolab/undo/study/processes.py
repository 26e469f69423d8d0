"""Several real processes on one database: forwards, peers, recoveries, permissions, readers, some of them killed.

What each process saw is held against the pure model: there must be an order that keeps real time, yields the audit's rows
in theirs, and ends in the database's own rows.
"""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from undolab.undo import schema
from undolab.undo.study import state
from undolab.undo.study.children import Children, Lines, read_lines
from undolab.undo.study.mixture import requests, start
from undolab.undo.study.model import AuditRow, Model
from undolab.undo.study.requests import Op
from undolab.undo.study.serial import NEVER, Done, Order, explain
from undolab.undo.study.stores import Opened
from undolab.undo.study.suite import Case, Found
from undolab.undo.types import Table

PROCESSES = 4
REQUESTS = 12  # of each process
_HEAD_START_NS = 20_000_000  # until all have opened the database


def cases(children: Children, seed: int, rounds: int) -> list[Case]:
    """Return a case for each round; in every third one two of the processes are killed at some moment."""
    return [Case(f"round {number}", partial(_round, children, seed, number)) for number in range(rounds)]


def process(job: list[Any]) -> None:
    """Make requests one after another in a child, and note each before it is made and after it was answered."""
    path, lines, ops, begin, pause = job
    out = Lines(Path(lines))
    opened = Opened(Path(path))
    time.sleep(max(0.0, (begin - time.monotonic_ns()) / 1e9))
    for number, raw in enumerate(ops):
        op = msgspec.convert(raw, Op)
        time.sleep(pause)  # else SQLite's back-off lets one process do all of its requests at a time
        out.write([number, time.monotonic_ns()])
        answer = opened.perform(op)
        out.write([number, time.monotonic_ns(), answer])
    opened.close()


def _round(children: Children, seed: int, number: int) -> Found:
    dice = random.Random(f"processes-{seed}-{number}")  # noqa: S311 - the same each time is the point
    plans = [requests(dice, REQUESTS, f"{name}-", ids=PROCESSES * 3) for name in "abcdefgh"[:PROCESSES]]
    kill_after = [
        _HEAD_START_NS // 1000 + dice.randrange(60_000) if number % 3 == 0 and place < 2 else 0
        for place in range(PROCESSES)
    ]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "u.db"
        schema.create(path)
        opened = Opened(path)
        before = Model()
        for op in start():
            opened.perform(op)
            before.perform(op)
        opened.close()
        begin = time.monotonic_ns() + _HEAD_START_NS
        jobs: list[list[Any]] = [
            [str(path), str(Path(name) / f"lines-{place}"), plan, begin, dice.uniform(0, 0.002)]
            for place, plan in enumerate(plans)
        ]
        codes = children.run("processes:process", jobs, kill_after)
        wrong = [
            f"a process ended with {code}"
            for code, after in zip(codes, kill_after, strict=True)
            if code not in ({0, -9} if after else {0})
        ]
        history = [
            done
            for job, plan in zip(jobs, plans, strict=True)
            for done in seen(read_lines(Path(job[1])), plan)
        ]
        opened = Opened(path)
        wrong += state.problems(opened.db)
        audit = audit_rows(opened)[len(start()) :]
        order = explain(before, history, audit)
        if order is None:
            wrong.append("no order of the requests explains what the processes saw")
        else:
            wrong += disagreements(opened, order.model)
        opened.close()
    return Found(_counts(history, codes, audit, order), wrong)


def _counts(
    history: Sequence[Done], codes: Sequence[int], audit: Sequence[AuditRow], order: Order | None
) -> Counter[str]:
    counts = Counter(done.op.do for done in history)
    latest, overlapping = 0, 0
    for done in sorted(history, key=lambda done: done.start):
        overlapping += done.start < latest
        latest = max(latest, done.end)
    counts.update(
        requests=len(history),
        killed=codes.count(-9),
        unanswered=sum(done.answer is None for done in history),
        overlapping=overlapping,
        audit_rows=len(audit),
        compensated=sum(row[6] == "compensated" for row in audit),
        orders_tried=order.tried if order else 0,
    )
    return counts


def seen(lines: Sequence[Any], plan: Sequence[Op]) -> list[Done]:
    """Return what one process saw, from its lines."""
    found: dict[int, Done] = {}
    for line in lines:
        number, at = line[:2]
        found[number] = (
            found[number]._replace(answer=line[2], end=at)
            if len(line) > 2
            else Done(plan[number], None, at, NEVER)
        )
    return list(found.values())


def audit_rows(opened: Opened) -> list[AuditRow]:
    """Return the audit's rows without number and chain."""
    return [entry[1:-1] for entry in opened.store.audit_entries()]


def disagreements(opened: Opened, model: Model) -> list[str]:
    """Return where the database's rows are not the model's."""
    db = opened.db
    wrong = []
    for tenant, memory in model.rows.items():
        generations = dict(
            db.execute("SELECT id, generation FROM incarnations WHERE tenant = ?", (tenant,)).fetchall()
        )
        for table, sql, keys in _TABLES:
            found = {
                (generations[row[0]], *row[1:keys]): row[keys:]
                for row in db.execute(sql).fetchall()
                if row[0] in generations
            }
            expected = {
                key: row if isinstance(row, tuple) else (row,) for key, row in memory.rows[table].items()
            }
            if found != expected:
                wrong.append(f"{table.value}: other rows than the model's")
        sql = 'SELECT generation, name, rev, edits, balance, floor, held, "limit", alive FROM incarnations WHERE tenant = ?'
        if {(row[0],): row[1:] for row in db.execute(sql, (tenant,)).fetchall()} != memory.rows[
            Table.RESOURCE
        ]:
            wrong.append("resource: other rows than the model's")
    kept = {ident: item.outcome and item.outcome.value for ident, item in model.kept.items()}
    if dict(db.execute("SELECT id, outcome FROM receipts").fetchall()) != kept:
        wrong.append("receipts: other outcomes than the model's")
    return wrong


_TABLES = (
    (Table.HEAD, "SELECT incarnation, field, writer FROM heads", 2),
    (Table.VERSION, "SELECT incarnation, field, writer, value, prev FROM versions", 3),
    (Table.CREDIT, "SELECT incarnation, writer, amount FROM credits", 2),
    (Table.TAG, "SELECT incarnation, writer, member FROM tags", 2),
    (Table.HOLD, "SELECT incarnation, writer, amount, settled FROM holds", 2),
)
