"""A file of counts, one row a task, model and method, read strictly: every problem at once, with its row and column."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from undolab.model.errors import UndolabError

NAMES = ("task", "model", "method")
NEEDED = ("n", "d", "r")
OPTIONAL = ("f", "dup", "miss")
IGNORED = ("source", "mark", "note")
"""Columns that may describe a row and are not read."""
_ALL = (*NAMES, *NEEDED, *OPTIONAL)
_WHOLE = re.compile(r"[0-9]{1,18}")
_LARGEST = 10**12
_MOST_TASKS = 2000


class CountRow(NamedTuple):
    """One row: trials n, capable d, recovered among these r; fault successes f, trials with a duplicate, with a loss."""

    task: str
    model: str
    method: str
    n: int
    d: int
    r: int
    f: int
    dup: int
    miss: int


class Counts(NamedTuple):
    """The rows, and which optional columns the file has; the others are 0, and `f` is `r`."""

    rows: list[CountRow]
    given: frozenset[str]


def read_counts(path: Path) -> Counts:
    """Return the rows of a CSV file (UTF-8, with or without a byte order mark, any line ends, quoted or not).

    Raises:
        UndolabError: the file is not such a file; each problem stands on a line with its row and column.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UndolabError(f"{path} is not UTF-8 at byte {error.start}; save it as CSV in UTF-8.") from error
    lines, problems = _lines(text)
    if not lines and not problems:
        raise UndolabError(f"{path} is empty; its first row must name the columns {', '.join(_ALL)}.")
    header: list[str] = []
    rows: list[CountRow] = []
    if lines:
        first, names = lines[0]
        header = [name.strip().lower() for name in names]
        problems += _bad_header(first, header)
        if not problems:
            rows, problems = _rows(lines[1:], header)
    if not problems and not rows:
        problems = [f"row {lines[0][0]}: there is no row of counts below the names of the columns"]
    tasks = len({row.task for row in rows})
    if tasks > _MOST_TASKS:
        problems = [f"column task: {tasks} tasks; at most {_MOST_TASKS} can be drawn"]
    if problems:
        raise UndolabError("\n".join([f"{path} cannot be read ({len(problems)} to mend):", *problems]))
    return Counts(rows, frozenset(header) & set(OPTIONAL))


def _lines(text: str) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Return (row number, fields) of every row that is not blank; a row is numbered by the line it begins on."""
    found: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    begin = 1
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                found.append((begin, fields))
            begin = reader.line_num + 1
    except csv.Error as error:
        return found, [f"row {begin}: {error}"]
    return found, []


def _bad_header(number: int, header: Sequence[str]) -> list[str]:
    if len(header) == 1 and re.search("[;\t|]", header[0]):
        return [f"row {number}: the columns are not separated by commas"]
    missing = [f"row {number}, column {name}: is missing" for name in (*NAMES, *NEEDED) if name not in header]
    twice = [
        f"row {number}, column {name}: is there twice"
        for name in dict.fromkeys(header)
        if header.count(name) > 1
    ]
    unknown = [
        f"row {number}, column {name or place}: is not one of {', '.join((*_ALL, *IGNORED))}"
        for place, name in enumerate(header, start=1)
        if name not in (*_ALL, *IGNORED)
    ]
    return missing + twice + unknown


def _rows(lines: Sequence[tuple[int, list[str]]], header: Sequence[str]) -> tuple[list[CountRow], list[str]]:
    rows: list[CountRow] = []
    problems: list[str] = []
    seen: dict[tuple[str, str, str], int] = {}
    for number, fields in lines:
        if len(fields) != len(header):
            place = header[len(fields)] if len(fields) < len(header) else len(header) + 1
            problems.append(
                f"row {number}, column {place}: the row has {len(fields)} fields, the first row {len(header)}"
            )
            continue
        cells = {name: field.strip() for name, field in zip(header, fields, strict=True)}
        values, bad = _numbers(number, cells)
        bad = _bad_names(number, cells) + bad + _bad_sums(number, values)
        key = (cells["task"], cells["model"], cells["method"])
        if all(key) and key in seen:
            bad.append(f"row {number}, columns task, model, method: the same as in row {seen[key]}")
        seen.setdefault(key, number)
        problems += bad
        if not bad:
            whole = {"f": values["r"], "dup": 0, "miss": 0} | values
            rows.append(CountRow(*key, *(whole[name] for name in (*NEEDED, *OPTIONAL))))
    return rows, problems


def _bad_names(number: int, cells: dict[str, str]) -> list[str]:
    return [
        f"row {number}, column {name}: is {'empty' if not cells[name] else 'no printable text'}"
        for name in NAMES
        if not cells[name] or not cells[name].isprintable()
    ]


def _numbers(number: int, cells: dict[str, str]) -> tuple[dict[str, int], list[str]]:
    values: dict[str, int] = {}
    problems = []
    for name in (*NEEDED, *OPTIONAL):
        if name not in cells:
            continue
        text = cells[name]
        if not _WHOLE.fullmatch(text) or int(text) > _LARGEST:
            shown = text if len(text) <= 24 else f"{text[:21]}..."
            problems.append(f"row {number}, column {name}: {shown!r} is no whole number from 0 to 10^12")
        else:
            values[name] = int(text)
    return values, problems


def _bad_sums(number: int, row: dict[str, int]) -> list[str]:
    """Name every count that is larger than what it is counted among; one that cannot be read is left out."""
    limits = [("d", "n"), ("r", "d"), ("f", "n"), ("dup", "n"), ("miss", "n")]
    problems = [
        f"row {number}, column {small}: {row[small]} is more than {large} = {row[large]}"
        for small, large in limits
        if {small, large} <= set(row) and row[small] > row[large]
    ]
    if problems or not {"n", "d", "r", "f"} <= set(row):
        return problems
    alone, spare = row["f"] - row["r"], row["n"] - row["d"]
    if alone < 0:
        return [f"row {number}, column f: {row['f']} is less than r = {row['r']}"]
    if alone > spare:
        return [f"row {number}, column f: f - r = {alone} is more than n - d = {spare}"]
    return []
