"""The tables that the conformance run and the validity suite leave in a build, read strictly: no row is guessed."""

import csv
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from undolab.model.errors import UndolabError
from undolab.model.verdict import FailureClass

_HARM = {FailureClass.DUPLICATE_EFFECT, FailureClass.ORPHAN_EFFECT, FailureClass.FORBIDDEN_EFFECT}


class Ending(StrEnum):
    """How an arm of the gold script ended, in three words."""

    PASSED = "passed"
    HARMED = "harmed"
    """An effect too many: a harmful duplicate, an orphan, a forbidden effect."""
    SHORT = "short"
    """No effect too many, and not right: something is missing, mostly because the agent stopped."""


def rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file with a header.

    Args:
        path: the file, as a build leaves it.
        columns: names that the header must hold.

    Raises:
        UndolabError: the file is missing, lacks one of the columns, or has no row.
    """
    if not path.is_file():
        raise UndolabError(f"{path} is missing; `snakemake build` makes it")
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        lacking = [name for name in columns if name not in (reader.fieldnames or ())]
        found = list(reader)
    if lacking or not found:
        what = f"has no column {', '.join(lacking)}" if lacking else "has no row"
        raise UndolabError(f"{path} {what}; make it again with `snakemake build`")
    return found


def cells(build: Path) -> list[dict[str, str]]:
    """Return the arms of the gold script beside what was foretold: `conformance/cells.csv` of a build."""
    columns = ("workflow", "boundary", "method", "expected", "found", "exposure")
    return rows(build / "conformance" / "cells.csv", columns)


def cases(build: Path) -> list[dict[str, str]]:
    """Return the cases of the validity suite: `validity/cases.csv` of a build."""
    return rows(build / "validity" / "cases.csv", ("workflow", "boundary", "kind", "expected", "found"))


def sweep(build: Path) -> list[dict[str, str]]:
    """Return the points of the sweep of budgets and back-offs: `conformance/sweep.csv` of a build."""
    columns = ("boundary", "method", "backoff", "attempts", "passed", "duplicates", "arms")
    return rows(build / "conformance" / "sweep.csv", columns)


def repeats(build: Path) -> dict[str, str]:
    """Return what the target call of each workflow does a second time: `harm`, `same`, `exists` or `refused`."""
    found = rows(build / "conformance" / "classes.csv", ("workflow", "repeat"))
    return {row["workflow"]: row["repeat"] for row in found}


def ending(found: str) -> Ending:
    """Return how an arm ended, from a verdict in the words of `cells.csv`."""
    word = found.split(" ", 1)[0]
    if word == "pass":
        return Ending.PASSED
    return Ending.HARMED if FailureClass(word) in _HARM else Ending.SHORT
