"""A long suite: cases one after another, what is done kept on disk, progress said, evidence at the end."""

import hashlib
import json
import os
import platform
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.files import write_bytes

_SAY_EVERY = 5.0  # seconds


class Found(NamedTuple):
    """What one case counted, and what was wrong."""

    counts: Mapping[str, int]
    problems: Sequence[str] = ()


class Case(NamedTuple):
    """One resumable piece of a suite."""

    name: str
    run: Callable[[], Found]


def sampled(cases: Iterable[Case], number: int, seed: int) -> list[Case]:
    """Return so many of the cases, drawn by the seed; all of them for 0."""
    every = list(cases)
    if not 0 < number < len(every):
        return every
    return random.Random(seed).sample(every, number)  # noqa: S311 - a sample, no secret


def run(
    suite: str, cases: Sequence[Case], folder: Path, parameters: Mapping[str, Any], *, quiet: bool = False
) -> dict[str, Any]:
    """Run the cases that the folder's journal lacks; return the evidence over all of them.

    A journal of other parameters or of other code is begun anew.
    """
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / f"{suite}.jsonl"
    head = {"suite": suite, "parameters": dict(parameters), "cases": len(cases), "code": code()}
    done = _resumed(journal, head)
    say = _Progress(suite, len(cases), quiet=quiet)
    with journal.open("a") as out:
        for case in cases:
            if case.name not in done:
                began, used = time.monotonic(), time.process_time()
                counts, wrong = case.run()
                done[case.name] = {
                    "case": case.name,
                    "counts": dict(counts),
                    "problems": list(wrong),
                    "seconds": round(time.monotonic() - began, 3),
                    "processor_seconds": round(time.process_time() - used, 3),
                }
                out.write(json.dumps(done[case.name]) + "\n")
                out.flush()
            say.step(done[case.name]["problems"])
    lines = [done[case.name] for case in cases]
    counts = Counter[str]()
    for line in lines:
        counts.update(line["counts"])
    return {
        **head,
        "machine": {**machine(), "commit": commit()},
        "seconds": round(sum(line["seconds"] for line in lines), 1),
        "processor_seconds": round(sum(line["processor_seconds"] for line in lines), 1),
        "counts": dict(sorted(counts.items())),
        "problems": [f"{line['case']}: {problem}" for line in lines for problem in line["problems"]],
    }


def _resumed(journal: Path, head: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is done already; a line that was being written when the machine stopped does not count."""
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    if not lines or json.loads(lines[0]) != head:
        lines = [json.dumps(head)]
    journal.write_text("".join(f"{line}\n" for line in lines))
    return {line["case"]: line for line in map(json.loads, lines[1:])}


class _Progress:
    def __init__(self, suite: str, total: int, *, quiet: bool) -> None:
        self._suite, self._total, self._quiet = suite, total, quiet
        self._done = self._wrong = 0
        self._said = 0.0

    def step(self, wrong: Sequence[str]) -> None:
        self._done += 1
        self._wrong += len(wrong)
        last = self._done == self._total
        if self._quiet or not (last or wrong or time.monotonic() - self._said > _SAY_EVERY):
            return
        self._said = time.monotonic()
        print(
            f"  {self._suite}: {self._done} of {self._total} cases, {self._wrong} problems", file=sys.stderr
        )
        for line in wrong[:3]:
            print(f"    {line}", file=sys.stderr)


def write_evidence(path: Path, evidence: Mapping[str, Any]) -> None:
    """Write evidence as JSON, whole or not at all."""
    write_bytes(path, (json.dumps(evidence, indent=2) + "\n").encode())


def machine() -> dict[str, Any]:
    """Return what the suite ran on."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def code() -> str:
    """Return the digest of this room's source, to which a journal is bound."""
    room = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(room.rglob("*.py")):
        found.update(f"{path.relative_to(room).as_posix()}\0".encode() + path.read_bytes())
    return found.hexdigest()


def commit() -> str:
    """Return the commit, with `+` where files in src have changed since; empty outside a work tree."""

    def git(*arguments: str) -> str:
        try:
            return subprocess.run(
                ["git", *arguments], capture_output=True, text=True, check=False
            ).stdout.strip()
        except OSError:
            return ""

    return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "src") else "")
