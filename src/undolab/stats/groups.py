"""What the further statistics share: groups of methods, sums of several cells, and a metric of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from undolab.stats.matrix import Matrix
from undolab.stats.metrics import COLUMN, FIELD, METRICS
from undolab.stats.tally import Cell, Replicates, Tally, Tasks

TRACK = "track 2"
"""Every recovery method pooled; `none` is track 1 and never pooled with them."""
_NONE = "none"


def groups(matrix: Matrix) -> list[tuple[str, list[str]]]:
    """Return each method by itself, then the recovery methods together where there are several."""
    together = [method for method in matrix.methods if method != _NONE]
    alone = [(method, [method]) for method in matrix.methods]
    return [*alone, (TRACK, together)] if len(together) > 1 else alone


class Group:
    """Some cells of one model, framework and boundary, taken together, over all tasks or those that are kept."""

    def __init__(self, tally: Tally, cells: Sequence[Cell], kept: Tasks | None = None) -> None:
        self.cells = tuple(cells)
        self._kept = kept
        table: NDArray[np.int64] = np.sum([tally.counts(cell) for cell in cells], axis=0)
        self.table = table if kept is None else table * kept[:, None]

    def by_task(self, metric: str) -> list[tuple[int, int]]:
        """Return the two counts of a metric for each task, in the tally's order."""
        num, den = FIELD[METRICS[metric].num], FIELD[METRICS[metric].den]
        return [(row[num], row[den]) for row in self.table.tolist()]

    def counts(self, metric: str) -> tuple[int, int]:
        """Return the two counts of a metric over all tasks."""
        pairs = self.by_task(metric)
        return sum(num for num, _ in pairs), sum(den for _, den in pairs)

    def value(self, metric: str) -> float | None:
        """Return the metric over all tasks, None where it is undefined."""
        num, den = self.counts(metric)
        return num / den if den else None

    def replicates(self, metric: str, replicates: Replicates) -> NDArray[np.float64]:
        """Return the metric in every replicate."""
        found: NDArray[np.float64] = replicates.of(*self.cells, kept=self._kept)[COLUMN[metric]]
        return found


def difference(a: float | None, b: float | None) -> float | None:
    """Return a - b, None where either is undefined."""
    return None if a is None or b is None else a - b
