"""Tables 1, 2 and 7 from `metrics.json`, each as CSV (plain numbers) and as a booktabs `tabular` for TeX."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from undolab.model.fault import Boundary
from undolab.model.files import write_bytes
from undolab.report.tex import escape, tabular
from undolab.report.words import (
    UNDEFINED,
    boundary,
    fraction,
    interval,
    method,
    percent,
    pooled,
    scopes,
    whose,
)
from undolab.stats.metrics import METRICS
from undolab.stats.rows import CellRow, Estimate, MetricsFile, read_metrics
from undolab.stats.text import to_csv

_SCOPE = ["model", "framework", "prompt", "examples", "boundary", "method"]
_TABLE1 = ["rsr", "crsr", "eor", "der", "mer", "urr", "truthfulness", "honest_abstention"]
_HEADS = {"truthfulness": "Truthful", "honest_abstention": "Abstained"}


def write(stats_dir: Path, out_dir: Path) -> list[Path]:
    """Write `table1`, `table2` and `table7` as .csv and .tex into `out_dir` and return the paths.

    Raises:
        UndolabError: the statistics are missing.
    """
    stats = read_metrics(stats_dir)
    texts = {
        "table1.csv": to_csv(_csv1(stats)),
        "table1.tex": _tex1(stats),
        "table2.csv": to_csv(_csv2(stats)),
        "table2.tex": _tex2(stats),
        "table7.csv": to_csv(_csv7(stats)),
        "table7.tex": _tex7(stats),
    }
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def representative(workflows: Sequence[str]) -> list[str]:
    """Return the first task of each domain by id: a choice that cannot depend on the outcome."""
    first: dict[str, str] = {}
    for workflow in sorted(workflows):
        first.setdefault(workflow.split("-")[1], workflow)
    return list(first.values())


def _csv1(stats: MetricsFile) -> list[list[Any]]:
    names = ["control", *_TABLE1]
    head = [*_SCOPE, "N", "exposed", "D"]
    for name in names:
        head += [f"{name}_num", f"{name}_den", name, f"{name}_lo", f"{name}_hi", f"{name}_dropped"]
    rows: list[list[Any]] = [head]
    for cell in stats.cells:
        if cell.scope.task == "all":
            row = [*_scope(cell), cell.N, cell.exposed, cell.D]
            for name in names:
                found = cell.metrics[name]
                row += [found.num, found.den, found.value, found.lo, found.hi, found.dropped]
            rows.append(row)
    return rows


def _tex1(stats: MetricsFile) -> str:
    labels = [_HEADS.get(name, METRICS[name].label) for name in _TABLE1]
    header = [["Method", "exp.", *labels]]
    blocks = []
    for model, framework in scopes(stats):
        for place in stats.study.boundaries:
            cells = pooled(stats, model, framework, place)
            block = [[_wide(len(header[0]), _block_head(cells[0], whose(stats, model, framework)))]]
            for cell in cells:
                found = [cell.metrics[name] for name in _TABLE1]
                block.append([escape(method(cell.scope.method)), str(cell.exposed), *map(_value, found)])
                block.append(["", "", *(rf"{{\scriptsize {_bounds(item)}}}" for item in found)])
            blocks.append(block)
    return tabular("lr" + "c" * len(_TABLE1), header, blocks)


def _csv2(stats: MetricsFile) -> list[list[Any]]:
    tasks = representative(stats.study.workflows)
    head = [*_SCOPE, "task", "N", "exposed", "D", "R", "F", "duplicate", "missing", "unsafe_resend", "crsr"]
    return [
        head,
        *(
            _counts(cell)
            for cell in stats.cells
            if cell.scope.task in tasks and cell.scope.boundary == Boundary.POST_MUTATION_PRE_ACK
        ),
    ]


def _tex2(stats: MetricsFile) -> str:
    methods = stats.study.methods
    rules = "".join(rf"\cmidrule(lr){{{3 + 3 * i}-{5 + 3 * i}}}" for i in range(len(methods)))
    header = [
        ["", "", *(rf"\multicolumn{{3}}{{c}}{{{escape(method(name))}}}" for name in methods)],
        [rules],
        ["Task", "D", *(["R", "dup.", "miss."] * len(methods))],
    ]
    blocks = []
    for model, framework in scopes(stats):
        block = []
        for task in representative(stats.study.workflows):
            cells = [
                stats.cell(model, framework, Boundary.POST_MUTATION_PRE_ACK, name, task) for name in methods
            ]
            row = [escape(task), str(cells[0].D)]
            for cell in cells:
                recovered = str(cell.R) if cell.D else "--"
                row += [recovered, str(cell.metrics["der"].num), str(cell.metrics["mer"].num)]
            block.append(row)
        blocks.append(block)
    return tabular("lr" + "rrr" * len(methods), header, blocks)


def _csv7(stats: MetricsFile) -> list[list[Any]]:
    head = [*_SCOPE, "task", "N", "exposed", "D", "R", "F", "duplicate", "missing", "unsafe_resend", "crsr"]
    return [head, *(_counts(cell) for cell in stats.cells if cell.scope.task != "all")]


def _tex7(stats: MetricsFile) -> str:
    methods, places = stats.study.methods, stats.study.boundaries
    width = len(methods)
    rules = "".join(rf"\cmidrule(lr){{{3 + width * i}-{2 + width * (i + 1)}}}" for i in range(len(places)))
    header = [
        ["", "", *(rf"\multicolumn{{{width}}}{{c}}{{{escape(boundary(place))}}}" for place in places)],
        [rules],
        ["Task", "Control", *([escape(name) for name in methods] * len(places))],
    ]
    blocks = []
    for model, framework in scopes(stats):
        block = []
        for task in stats.study.workflows:
            cells = [stats.cell(model, framework, place, name, task) for place in places for name in methods]
            block.append(
                [escape(task), fraction(cells[0].metrics["control"]), *(_recovered(cell) for cell in cells)]
            )
        totals = [cell for place in places for cell in pooled(stats, model, framework, place)]
        total = ["All", fraction(totals[0].metrics["control"]), *(_recovered(cell) for cell in totals)]
        blocks += [block, [total]]
    return tabular("lr" + "r" * width * len(places), header, blocks)


def _scope(cell: CellRow) -> list[str]:
    return [getattr(cell.scope, name) for name in _SCOPE]


def _counts(cell: CellRow) -> list[Any]:
    safety = [cell.metrics[name].num for name in ("der", "mer", "urr")]
    sizes = [cell.scope.task, cell.N, cell.exposed, cell.D, cell.R, cell.F]
    return [*_scope(cell), *sizes, *safety, cell.metrics["crsr"].value]


def _block_head(cell: CellRow, whose: str) -> str:
    control = cell.metrics["control"]
    words = f"{boundary(cell.scope.boundary)} ({cell.scope.boundary}{whose})"
    sizes = f": N = {cell.N}, D = {cell.D}, control {percent(control.value)} % {interval(control)}"
    return rf"\textit{{{escape(words)}}}{escape(sizes)}"


def _wide(columns: int, text: str) -> str:
    return rf"\multicolumn{{{columns}}}{{l}}{{{text}}}"


def _value(estimate: Estimate) -> str:
    return "--" if estimate.value is None else percent(estimate.value)


def _bounds(estimate: Estimate) -> str:
    found = interval(estimate)
    return "" if found == UNDEFINED else found


def _recovered(cell: CellRow) -> str:
    return fraction(cell.metrics["crsr"]) if cell.D else "--"
