"""From counts to rows: metrics and intervals of each cell and task, and planned contrasts on shared draws."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undolab.stats.groups import Group, difference
from undolab.stats.intervals import Interval, holm, percentile_interval, two_sided_p, wilson
from undolab.stats.matrix import Family, Matrix
from undolab.stats.metrics import COUNTS, METRICS
from undolab.stats.rows import CellRow, ContrastRow, Estimate, Scope, in_family
from undolab.stats.tally import FAILURES, SUMMED, Cell, Replicates, Tally

_HEAD = ("N", "exposed", "D", "R", "F")


def cell_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[CellRow]:
    """Return a row for each cell over all tasks, then one for each cell and task, in the matrix's order."""
    pooled, single = [], []
    for cell in tally.cells:
        table = tally.everything(cell)
        pooled.append(_row(_scope(cell, matrix, "all"), table.sum(axis=0), _intervals(replicates.of(cell))))
        for task, sums in zip(tally.tasks, table, strict=True):
            single.append(_row(_scope(cell, matrix, task), sums, None))
    return pooled + single


def contrast_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[ContrastRow]:
    """Return every planned contrast, Holm-adjusted within its family, in each model and framework apart."""
    rows = []
    for model, framework, family in product(matrix.models, matrix.frameworks, matrix.families):
        found = [
            _contrast(family, a, b, tally, replicates, matrix)
            for a, b in compared(family, model, framework, matrix)
        ]
        rows += in_family(found, holm([row.p for row in found]))
    return rows


def compared(family: Family, model: str, framework: str, matrix: Matrix) -> list[tuple[Cell, Cell]]:
    """Return the two cells of each contrast of a family, in its order."""
    if family.boundary:
        at = family.boundary
        return [(Cell(model, framework, at, a), Cell(model, framework, at, b)) for a, b in family.contrasts]
    return [
        (Cell(model, framework, a, method), Cell(model, framework, b, method))
        for method in matrix.methods
        for a, b in family.contrasts
    ]


class Named(NamedTuple):
    """What names a planned contrast in every file that tests it."""

    family: str
    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    metric: str
    a: str
    b: str


def named(family: Family, a: Cell, b: Cell, matrix: Matrix) -> Named:
    """Return the names of a minus b: methods at a boundary, or boundaries under a method."""
    methods = bool(family.boundary)
    return Named(
        family=family.name,
        model=a.model,
        framework=a.framework,
        prompt=matrix.prompt,
        examples=matrix.examples,
        boundary=family.boundary,
        method="" if methods else a.method,
        metric=family.metric,
        a=a.method if methods else a.boundary,
        b=b.method if methods else b.boundary,
    )


def _scope(cell: Cell, matrix: Matrix, task: str) -> Scope:
    return Scope(**cell._asdict(), prompt=matrix.prompt, examples=matrix.examples, task=task)


def _intervals(replicates: NDArray[np.float64]) -> list[Interval]:
    """Return an interval for each metric; metrics with the same counts share one."""
    found: dict[tuple[str, str], Interval] = {}
    for metric, row in zip(METRICS.values(), replicates, strict=True):
        if (metric.num, metric.den) not in found:
            found[metric.num, metric.den] = percentile_interval(row)
    return [found[metric.num, metric.den] for metric in METRICS.values()]


def _row(scope: Scope, sums: NDArray[np.int64], intervals: Sequence[Interval] | None) -> CellRow:
    numbers: list[int] = sums.tolist()
    counts = dict(zip(COUNTS, numbers, strict=False))
    added, failed = numbers[len(COUNTS) :][: len(SUMMED)], numbers[-len(FAILURES) :]
    metrics = {}
    for index, (name, metric) in enumerate(METRICS.items()):
        num, den = counts[metric.num], counts[metric.den]
        low, high, dropped = intervals[index] if intervals is not None else wilson(num, den)
        value = num / den if den else None
        metrics[name] = Estimate(num=num, den=den, value=value, lo=low, hi=high, dropped=dropped)
    return CellRow(
        scope=scope,
        **{name: counts[name] for name in _HEAD},
        interval="wilson" if intervals is None else "cluster_bootstrap",
        metrics=metrics,
        failures=dict(sorted((str(name), n) for name, n in zip(FAILURES, failed, strict=True) if n)),
        sums=dict(zip(SUMMED, added, strict=True)),
    )


def _contrast(
    family: Family, a: Cell, b: Cell, tally: Tally, replicates: Replicates, matrix: Matrix
) -> ContrastRow:
    """Return a minus b over the tasks in which both are applicable."""
    kept = tally.both(a, b)
    left, right = Group(tally, [a], kept), Group(tally, [b], kept)
    value = difference(left.value(family.metric), right.value(family.metric))
    spread = left.replicates(family.metric, replicates) - right.replicates(family.metric, replicates)
    return ContrastRow(
        **named(family, a, b, matrix)._asdict(),
        value=value,
        **percentile_interval(spread)._asdict(),
        p=None if value is None else two_sided_p(value, spread),
        p_holm=None,
        family_size=0,
    )
