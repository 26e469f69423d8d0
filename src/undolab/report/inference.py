"""Tables of statistics that the stage `stats` leaves as CSV: equivalence, stability, support, gaps, repeats, power.

A statistic that was not computed has a row that says so, and no number: a missing file must not look like an empty result.
What each file holds is told in docs/reference/statistics.md.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.report.sheet import DASH, Sheet
from undolab.report.tex import escape, tabular
from undolab.report.words import place

_MISSING = "not computed"
_NOTHING = "nothing to compare"
_TRACKS = ("", "none", "track 2")
_POST = str(Boundary.POST_MUTATION_PRE_ACK)
_SCOPE = {"model": "Model", "framework": "Framework"}


class _Source(NamedTuple):
    """Where one table comes from, and what of it TeX shows; the table's CSV is the file as it is."""

    name: str
    file: str
    """Below the folder of the statistics."""
    keys: Mapping[str, str]
    """Columns that name a row, with their heads."""
    values: Mapping[str, str]
    """Columns of numbers, with their heads; with a pivot the one column that fills it."""
    percent: frozenset[str] = frozenset()
    """Columns in percent or percentage points."""
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Column and the values that TeX shows."""
    pivot: str = ""
    """Column whose values become columns."""
    summed: bool = False
    """True: rows with equal keys are added up."""

    @property
    def needed(self) -> list[str]:
        """The columns that the file must have."""
        return [
            *self.keys,
            *self.values,
            *(name for name, _ in self.only),
            *([self.pivot] if self.pivot else []),
        ]


_SOURCES = (
    _Source(
        "tableframeworks", "equivalence.csv",
        {"model": "Model", "boundary": "Boundary", "method": "Method", "metric": "Metric", "a": "A", "b": "B"},
        {"value": "A - B", "lo90": "90 % from", "hi90": "to", "p": "p", "equivalent": "Equivalent"},
        frozenset({"value", "lo90", "hi90"}),
        (("method", _TRACKS), ("metric", ("control", "crsr", "der"))),
    ),
    _Source(
        "tablegap", "gap_closure.csv", {**_SCOPE, "method": "Method", "reference": "Over"},
        {"num": "R", "den": "D", "value": "Closed", "lo": "95 % from", "hi": "to"}, frozenset({"value", "lo", "hi"}),
        (("boundary", (_POST,)), ("reference", ("B0", "B2"))),
    ),
    _Source(
        "tablepassk", "pass_k.csv", {**_SCOPE, "outcome": "Outcome", "method": "Method"}, {"value": ""},
        frozenset({"value"}), (("boundary", ("", _POST)), ("outcome", ("control", "fault"))), "k",
    ),
    _Source(
        "tablepower", "power.csv", {**_SCOPE, "reference": "Reference", "effect": "Effect", "test": "Test"},
        {"detectable": ""}, frozenset({"detectable"}), (), "tasks",
    ),
    _Source(
        "tableseeds", "stability.csv", {**_SCOPE, "outcome": "Outcome", "boundary": "Boundary"},
        {"tasks": "Cells", "all_pass": "All pass", "all_fail": "All fail", "mixed": "Mixed"},
        only=(("outcome", ("control", "fault")),), summed=True,
    ),
    _Source(
        "tablesignflip", "sign_flip.csv", {**_SCOPE, "a": "A", "b": "B"},
        {"tasks": "Tasks", "differing": "Differing", "mean": "Mean A - B", "p": "p", "p_least": "Least p", "p_holm": "Holm"},
        frozenset({"mean"}), (("boundary", (_POST,)), ("metric", ("crsr",))),
    ),
    _Source(
        "tablesupport", "support.csv",
        {"framework": "Framework", "boundary": "Boundary", "method": "Method", "a": "A", "b": "B"},
        {
            "tasks": "Tasks", "a_num": "R of A", "a_den": "D of A", "b_num": "R of B", "b_den": "D of B",
            "value": "A - B", "lo": "95 % from", "hi": "to", "p_holm": "Holm",
        },
        frozenset({"value", "lo", "hi"}), (("method", _TRACKS),),
    ),
)  # fmt: skip
_Row = dict[str, str]


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
    lacking = [name for name in source.needed if name not in columns]
    if lacking:
        raise UndolabError(f"{path} has no column {', '.join(lacking)}; compute the statistics again")
    rows = [columns, *([row[name] for name in columns] for row in found)]
    shown = [row for row in found if all(row[name] in values for name, values in source.only)]
    return Sheet(source.name, rows, _tex(source, shown))


def _tex(source: _Source, found: Sequence[_Row]) -> str:
    groups: dict[tuple[str, ...], list[_Row]] = {}
    for row in found:
        groups.setdefault(tuple(row[name] for name in source.keys), []).append(row)
    heads = list(source.values.values())
    levels: list[str] = []
    if source.pivot:
        levels = list(dict.fromkeys(row[source.pivot] for row in found))
        heads = [f"{source.pivot} = {level}" if source.pivot == "k" else f"K = {level}" for level in levels]
    blocks: dict[str, list[list[str]]] = {}
    for key, rows in groups.items():
        named = [_name(name, value) for name, value in zip(source.keys, key, strict=True)]
        blocks.setdefault(key[0], []).append([*named, *_numbers(source, rows, levels)])
    width = len(source.keys) + len(heads)
    header = [[*map(escape, source.keys.values()), *map(escape, heads)]]
    layout = "l" * len(source.keys) + "r" * len(heads)
    return tabular(layout, header, list(blocks.values()) or [[[_NOTHING, *[""] * (width - 1)]]])


def _numbers(source: _Source, rows: Sequence[_Row], levels: Sequence[str]) -> list[str]:
    if source.pivot:
        (value,) = source.values
        at = {row[source.pivot]: row[value] for row in rows}
        return [_number(at.get(level, ""), percent=value in source.percent) for level in levels]
    if source.summed:
        return [f"{sum(int(row[name]) for row in rows):,}" for name in source.values]
    return [_number(rows[0][name], percent=name in source.percent) for name in source.values]


def _name(column: str, value: str) -> str:
    return escape(place(value) if column == "boundary" else value) if value else DASH


def _number(value: str, *, percent: bool) -> str:
    """Return a value of the file: whole numbers and words as they are, shares in percent, other numbers to three places."""
    try:
        number = float(value)
    except ValueError:
        return escape(value) if value else DASH
    text = f"{100 * number:.1f}" if percent else f"{number:.3f}" if "." in value else value
    text = text.lstrip("-") if float(text) == 0 else text
    return text.replace("-", r"\ensuremath{-}")
