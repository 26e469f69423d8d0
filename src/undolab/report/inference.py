"""Tables of statistics that the stage `stats` leaves as CSV: equivalence, stability, gaps, repeated success, power.

A statistic that was not computed has a row that says so, and no number: a missing file must not look like an empty result.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.errors import UndolabError
from undolab.report.sheet import DASH, Sheet
from undolab.report.tex import escape, tabular

_MISSING = "not computed"


class _Source(NamedTuple):
    """Where one table comes from."""

    name: str
    file: str
    """Below the folder of the statistics."""
    shown: dict[str, str]
    """Column of the file to head of the column in TeX, in order; the CSV of the table has every column of the file."""
    percent: frozenset[str] = frozenset()
    """Columns in percent or percentage points in TeX."""
    only: tuple[tuple[str, str], ...] = ()
    """Column and value of the rows that TeX shows; all rows if empty."""


_SOURCES: tuple[_Source, ...] = ()


def sheets(stats_dir: Path) -> list[Sheet]:
    """Return a table for each of these statistics.

    Args:
        stats_dir: `build/stats`.

    Raises:
        UndolabError: a file is there, and lacks a column.
    """
    return [_sheet(source, stats_dir / source.file) for source in _SOURCES]


def _sheet(source: _Source, path: Path) -> Sheet:
    if not path.is_file():
        rows: list[list[Any]] = [["statistic", "state"], [source.file, _MISSING]]
        tex = tabular("ll", [["Statistic", "State"]], [[[escape(source.file), _MISSING]]])
        return Sheet(source.name, rows, tex)
    with path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        columns, found = list(reader.fieldnames or ()), list(reader)
    lacking = [name for name in (*source.shown, *dict(source.only)) if name not in columns]
    if lacking:
        raise UndolabError(f"{path} has no column {', '.join(lacking)}; compute the statistics again")
    rows = [columns, *([row[name] for name in columns] for row in found)]
    lines = [
        [_cell(row[name], percent=name in source.percent) for name in source.shown]
        for row in found
        if all(row[name] == value for name, value in source.only)
    ]
    layout = "".join("r" if _numeric([row[name] for row in found]) else "l" for name in source.shown)
    header = [[escape(title) for title in source.shown.values()]]
    return Sheet(
        source.name, rows, tabular(layout, header, [lines or [[_MISSING, *[""] * (len(layout) - 1)]]])
    )


def _numeric(values: Sequence[str]) -> bool:
    return all(_number(value) is not None for value in values if value)


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _cell(value: str, *, percent: bool) -> str:
    """Return a value of the file for TeX: whole numbers as they are, shares in percent, other numbers to three places."""
    number = _number(value)
    if value == "":
        return DASH
    if number is None:
        return escape(value)
    if percent:
        text = f"{100 * number:.1f}"
    elif "." in value:
        text = f"{number:.3f}"
    else:
        text = value
    text = text.lstrip("-") if float(text) == 0 else text
    return text.replace("-", r"\ensuremath{-}")
