"""One table as data: its CSV rows, its TeX, and the few shapes of cells that all tables share."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.files import write_bytes
from undolab.report.pool import pool, total
from undolab.report.tex import escape, tabular
from undolab.report.words import UNDEFINED, interval, percent
from undolab.stats.metrics import METRICS
from undolab.stats.rows import CellRow, Estimate, Study
from undolab.stats.text import to_csv

SIZES = ("N", "exposed", "D", "R", "F")
DASH = "--"


class Sheet(NamedTuple):
    """A table: name of its files, rows for CSV (header first), and a `tabular` for TeX."""

    name: str
    rows: list[list[Any]]
    tex: str


def write_sheets(sheets: Iterable[Sheet], out_dir: Path) -> list[Path]:
    """Write `<name>.csv` and `<name>.tex` of each table and return the paths."""
    written = []
    for sheet in sheets:
        for kind, text in (("csv", to_csv(sheet.rows)), ("tex", sheet.tex)):
            write_bytes(out_dir / f"{sheet.name}.{kind}", text.encode())
            written.append(out_dir / f"{sheet.name}.{kind}")
    return written


def head(labels: Sequence[str], metrics: Sequence[str], sizes: Sequence[str] = SIZES) -> list[Any]:
    """Return the header of a table with a row a group of cells: labels, sizes, six columns a metric."""
    columns = [
        f"{name}{suffix}" for name in metrics for suffix in ("_num", "_den", "", "_lo", "_hi", "_dropped")
    ]
    return [*labels, *sizes, *columns]


def group_row(
    labels: Sequence[Any], cells: Sequence[CellRow], metrics: Sequence[str], study: Study,
    sizes: Sequence[str] = SIZES,
) -> list[Any]:  # fmt: skip
    """Return the row that `head` names, for cells of single tasks taken together."""
    row = [*labels, *(total(cells, name) for name in sizes)]
    for name in metrics:
        found = pool(cells, name, study)
        row += [found.num, found.den, found.value, found.lo, found.hi, found.dropped]
    return row


def share(estimate: Estimate) -> str:
    """Return a percentage for TeX, or a dash where it is undefined."""
    return DASH if estimate.value is None else percent(estimate.value)


def with_interval(estimate: Estimate) -> str:
    """Return a percentage and its interval for TeX, or a dash."""
    found = interval(estimate)
    small = "" if found == UNDEFINED else rf" {{\scriptsize {found}}}"
    return share(estimate) + small


def wide(columns: int, text: str) -> str:
    """Return a TeX cell over all columns: the head of a block."""
    return rf"\multicolumn{{{columns}}}{{l}}{{{text}}}"


def block_head(columns: int, text: str) -> list[str]:
    """Return a row that names the block below it."""
    return [wide(columns, rf"\textit{{{escape(text)}}}")]


def spanned(groups: Sequence[tuple[str, int]], first: int) -> list[list[str]]:
    """Return the two header rows of titles over several columns each, with rules below them.

    Args:
        groups: title (TeX source) and width of each.
        first: the number of columns before them.
    """
    titles = [""] * first + [rf"\multicolumn{{{width}}}{{c}}{{{title}}}" for title, width in groups]
    rules, at = "", first + 1
    for _, width in groups:
        rules += rf"\cmidrule(lr){{{at}-{at + width - 1}}}"
        at += width
    return [titles, [rules]]


def empty(columns: Sequence[str], why: str) -> str:
    """Return the `tabular` of a table that this study cannot fill, and why."""
    header = [[escape(name) for name in columns]]
    return tabular("l" * len(columns), header, [[block_head(len(columns), why)]])


def label(metric: str) -> str:
    """Return what tables call a metric."""
    return {"truthfulness": "Truthful", "honest_abstention": "Abstained"}.get(metric, METRICS[metric].label)
