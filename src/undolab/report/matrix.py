"""Tables of the scripted matrix: how the gold script ends at each boundary with each method, and what budgets change."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from undolab.model.fault import Boundary
from undolab.model.files import write_bytes
from undolab.report.evidence import Ending, cases, cells, ending, sweep
from undolab.report.tex import escape, tabular
from undolab.report.words import boundary
from undolab.stats.text import to_csv

_Rows = list[list[str | int]]


def write(build: Path, out_dir: Path) -> list[Path]:
    """Write `tablevalidity` and `tablesweep` as .csv and .tex into `out_dir` and return the paths.

    Raises:
        UndolabError: the build lacks a table of the conformance run or of the validity suite.
    """
    matrix, points = _matrix(build), _points(build)
    texts = {
        "tablevalidity.csv": to_csv(matrix),
        "tablevalidity.tex": _matrix_tex(matrix),
        "tablesweep.csv": to_csv(points),
        "tablesweep.tex": _points_tex(points),
    }
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def _matrix(build: Path) -> _Rows:
    """Return a row a boundary: cases of the validity suite, then arms and endings of each method."""
    arms, judged = cells(build), cases(build)
    ends = Counter((row["boundary"], row["method"], ending(row["found"])) for row in arms)
    every = Counter(row["boundary"] for row in judged)
    right = Counter(row["boundary"] for row in judged if row["expected"] == row["found"])
    methods = sorted({row["method"] for row in arms}, key=_method_order)
    head: list[str | int] = ["boundary", "cases", "cases as expected"]
    head += [f"{method} {end}" for method in methods for end in Ending]
    table: _Rows = [head]
    for place in _in_order({row["boundary"] for row in arms}):
        counts = [ends[place, method, end] for method in methods for end in Ending]
        table.append([place, every[place], right[place], *counts])
    return table


def _matrix_tex(table: _Rows) -> str:
    head, *body = table
    width = len(Ending)
    methods = [str(name).rsplit(" ", 1)[0] for name in head[3::width]]
    lines = []
    for place, every, right, *counts in body:
        groups = [counts[at : at + width] for at in range(0, len(counts), width)]
        parts = ["/".join(map(str, group)) if any(group) else "--" for group in groups]
        lines.append([escape(boundary(str(place))), *parts, f"{right}/{every}"])
    header = [["Boundary", *map(escape, methods), "Cases"]]
    return tabular("l" + "r" * len(methods) + "r", header, [lines[:1], lines[1:]])


def _points(build: Path) -> _Rows:
    """Return a row for each boundary, method and budget: least and most over the back-offs."""
    table: _Rows = [
        ["boundary", "method", "attempts", "backoffs", "arms", "passed least", "passed most", "harmed most"]
    ]
    groups: dict[tuple[str, str, int], list[dict[str, str]]] = {}
    for row in sweep(build):
        groups.setdefault((row["boundary"], row["method"], int(row["attempts"])), []).append(row)
    for (place, method, attempts), points in groups.items():
        passed = [int(point["passed"]) for point in points]
        harmed = max(int(point["duplicates"]) for point in points)
        arms = int(points[0]["arms"])
        table.append([place, method, attempts, len(points), arms, min(passed), max(passed), harmed])
    return table


def _points_tex(table: _Rows) -> str:
    body = table[1:]
    budgets = sorted({int(row[2]) for row in body})
    found = {(row[0], row[1], row[2]): row for row in body}
    blocks: list[list[list[str]]] = []
    for place in dict.fromkeys(row[0] for row in body):
        methods = list(dict.fromkeys(row[1] for row in body if row[0] == place))
        blocks.append(
            [
                [
                    escape(boundary(str(place))) if method == methods[0] else "",
                    escape(str(method)),
                    *(_span(found[place, method, budget]) for budget in budgets),
                ]
                for method in methods
            ]
        )
    header = [["Boundary", "Method", *map(str, budgets)]]
    return tabular("ll" + "r" * len(budgets), header, blocks)


def _span(row: Sequence[str | int]) -> str:
    """Return `least to most`, or the one number, and the arms harmed where there are any."""
    least, most, harmed = row[5:8]
    text = str(least) if least == most else f"{least}--{most}"
    return f"{text} ({harmed})" if harmed else text


def _in_order(places: set[str]) -> list[str]:
    return [place.value for place in Boundary if place.value in places]


def _method_order(name: str) -> tuple[bool, str]:
    return name != "none", name
