"""One side of a comparison: its counts by task, its replicates on shared draws, its values with one task left out."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from undolab.stats.counts import CountRow
from undolab.stats.intervals import drawn_sums, draws
from undolab.stats.recipe import Recipe

REPLICATES, SEED = 10_000, 42
COLUMNS = ("n", "d", "r", "f", "dup", "miss")
RATIOS = {
    "control": ("d", "n"),
    "rsr": ("f", "n"),
    "crsr": ("r", "d"),
    "der": ("dup", "n"),
    "mer": ("miss", "n"),
}
"""Metric to its two counts."""
GAP = "gap"
"""Control minus CRSR: what the fault costs those that are capable."""
NEEDS = {"der": "dup", "mer": "miss"}
"""Metrics that need an optional column."""
_Floats = NDArray[np.float64]


class Side:
    """The rows of one side over some tasks; a task without a row counts nothing."""

    def __init__(self, rows: Sequence[CountRow], tasks: Sequence[str], recipe: Recipe) -> None:
        place = {task: index for index, task in enumerate(tasks)}
        table = np.zeros((len(tasks), len(COLUMNS)), dtype=np.int64)
        for row in rows:
            if row.task in place:
                table[place[row.task]] += [getattr(row, name) for name in COLUMNS]
        total = table.sum(axis=0)
        self.tasks = {row.task for row in rows}
        self.total: dict[str, int] = dict(zip(COLUMNS, total.tolist(), strict=True))
        self._rows: list[list[int]] = table.tolist()
        self._sums = drawn_sums(table, _weights(len(tasks)))
        self._left = (total - table).T.astype(np.float64)
        self._recipe = recipe

    def value(self, metric: str) -> float | None:
        """Return the metric over all tasks; None where it is undefined."""
        total = np.array(list(self.total.values()), dtype=np.float64)
        found = float(self._of(metric, total[:, None])[0])
        return None if np.isnan(found) else found

    def replicates(self, metric: str) -> _Floats:
        """Return the metric in every replicate."""
        return self._of(metric, self._sums)

    def left_out(self, metric: str) -> _Floats:
        """Return the metric with one task left out, a value a task."""
        return self._of(metric, self._left)

    def by_task(self, metric: str) -> list[tuple[int, int]]:
        """Return the two counts of a metric for each task."""
        num, den = (COLUMNS.index(name) for name in RATIOS[metric])
        return [(row[num], row[den]) for row in self._rows]

    def _of(self, metric: str, sums: _Floats) -> _Floats:
        if metric == GAP:
            return self._of("control", sums) - self._of("crsr", sums)
        num, den = (COLUMNS.index(name) for name in RATIOS[metric])
        return self._recipe.ratio(sums[num], sums[den])


@cache
def _weights(tasks: int) -> _Floats:
    if tasks == 0:
        return np.zeros((0, REPLICATES))
    return draws(tasks, REPLICATES, SEED).astype(np.float64)
