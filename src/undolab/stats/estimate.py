"""From pairs to rows: counts of each cell and task, then metrics, intervals and contrasts on shared draws."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from undolab.model.verdict import Verdict
from undolab.stats.intervals import Interval, draws, holm, percentile_interval, ratios, two_sided_p, wilson
from undolab.stats.matrix import Family, Matrix
from undolab.stats.metrics import COLUMN, COUNTS, DEN, FIELD, METRICS, NUM, Pair, count
from undolab.stats.rows import CellRow, ContrastRow, Estimate, Scope

_SUMMED = (
    "physical",
    "committed",
    "harmful_duplicates",
    "harmless_repeats",
    "replays",
    "second_commits",
    "missing",
    "orphans",
    "forbidden",
    "unsafe_resends",
    "reads_after_fault",
    "turns",
)


class Cell(NamedTuple):
    """Model, framework, boundary and method."""

    model: str
    framework: str
    boundary: str
    method: str


class Tally:
    """Integer counts of every cell, by task, and the arms behind them."""

    def __init__(self, pairs: Sequence[Pair], matrix: Matrix) -> None:
        self.tasks = sorted(matrix.workflows)
        self._row = {task: index for index, task in enumerate(self.tasks)}
        self.counts: dict[Cell, NDArray[np.int64]] = {}
        self.faults: dict[tuple[Cell, str], list[Verdict]] = {}
        for pair in pairs:
            arm = pair.fault.arm
            cell = Cell(arm.model, arm.framework, arm.boundary, arm.method)
            table = self.counts.setdefault(cell, np.zeros((len(self.tasks), len(COUNTS)), dtype=np.int64))
            table[self._row[arm.workflow]] += count(pair)
            self.faults.setdefault((cell, arm.workflow), []).append(pair.fault)


class Replicates:
    """The bootstrap of every cell: one row a metric, one column a replicate, all on the same draws."""

    def __init__(self, tally: Tally, matrix: Matrix) -> None:
        self._weights = draws(len(tally.tasks), matrix.replicates, matrix.bootstrap_seed)
        self._tally = tally
        self._kept: dict[Cell, NDArray[np.float64]] = {}

    def of(self, cell: Cell) -> NDArray[np.float64]:
        """Return the replicates of every metric of a cell, shape (metrics, B); NaN where undefined."""
        if cell not in self._kept:
            sums = self._tally.counts[cell].T @ self._weights
            self._kept[cell] = ratios(sums[NUM], sums[DEN])
        return self._kept[cell]


def cell_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[CellRow]:
    """Return a row for each cell over all tasks, then one for each cell and task, in the matrix's order."""
    pooled, single = [], []
    for cell in _cells(matrix):
        table = tally.counts[cell]
        intervals = [percentile_interval(row) for row in replicates.of(cell)]
        faults = [fault for task in tally.tasks for fault in tally.faults[cell, task]]
        pooled.append(_row(_scope(cell, matrix, "all"), table.sum(axis=0), intervals, faults))
        for task, sums in zip(tally.tasks, table, strict=True):
            single.append(_row(_scope(cell, matrix, task), sums, None, tally.faults[cell, task]))
    return pooled + single


def contrast_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[ContrastRow]:
    """Return every planned contrast, Holm-adjusted within its family, in each model and framework apart."""
    rows = []
    for model, framework, family in product(matrix.models, matrix.frameworks, matrix.families):
        found = [
            _contrast(family, a, b, tally, replicates, matrix)
            for a, b in _compared(family, model, framework, matrix)
        ]
        adjusted = holm([row.p for row in found])
        rows += [
            msgspec.structs.replace(row, p_holm=p, family_size=len(found))
            for row, p in zip(found, adjusted, strict=True)
        ]
    return rows


def _cells(matrix: Matrix) -> list[Cell]:
    return [
        Cell(*key) for key in product(matrix.models, matrix.frameworks, matrix.boundaries, matrix.methods)
    ]


def _scope(cell: Cell, matrix: Matrix, task: str) -> Scope:
    return Scope(**cell._asdict(), prompt=matrix.prompt, examples=matrix.examples, task=task)


def _row(
    scope: Scope, sums: NDArray[np.int64], intervals: Sequence[Interval] | None, faults: Sequence[Verdict]
) -> CellRow:
    counts = {name: int(sums[index]) for name, index in FIELD.items()}
    metrics = {}
    for (name, metric), index in zip(METRICS.items(), COLUMN.values(), strict=True):
        num, den = counts[metric.num], counts[metric.den]
        bounds = intervals[index] if intervals is not None else wilson(num, den)
        value = num / den if den else None
        metrics[name] = Estimate(num=num, den=den, value=value, **bounds._asdict())
    return CellRow(
        scope=scope,
        **{name: counts[name] for name in ("N", "exposed", "D", "R", "F")},
        interval="wilson" if intervals is None else "cluster_bootstrap",
        metrics=metrics,
        failures=dict(sorted(Counter(str(fault.failure) for fault in faults).items())),
        sums={name: sum(getattr(fault, name) for fault in faults) for name in _SUMMED},
    )


def _compared(family: Family, model: str, framework: str, matrix: Matrix) -> list[tuple[Cell, Cell]]:
    if family.boundary:
        at = family.boundary
        return [(Cell(model, framework, at, a), Cell(model, framework, at, b)) for a, b in family.contrasts]
    return [
        (Cell(model, framework, a, method), Cell(model, framework, b, method))
        for method in matrix.methods
        for a, b in family.contrasts
    ]


def _contrast(
    family: Family, a: Cell, b: Cell, tally: Tally, replicates: Replicates, matrix: Matrix
) -> ContrastRow:
    metric = METRICS[family.metric]
    sums_a, sums_b = (tally.counts[cell].sum(axis=0).tolist() for cell in (a, b))
    num, den = FIELD[metric.num], FIELD[metric.den]
    defined = sums_a[den] > 0 and sums_b[den] > 0
    value = sums_a[num] / sums_a[den] - sums_b[num] / sums_b[den] if defined else None
    column = COLUMN[family.metric]
    spread = replicates.of(a)[column] - replicates.of(b)[column]
    methods = bool(family.boundary)
    return ContrastRow(
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
        value=value,
        **percentile_interval(spread)._asdict(),
        p=None if value is None else two_sided_p(value, spread),
        p_holm=None,
        family_size=0,
    )
