"""Counts of every cell by task, in one array: all that any statistic needs of the verdicts."""

from collections.abc import Iterator, Sequence
from itertools import product
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undolab.model.verdict import FailureClass
from undolab.stats.intervals import drawn_sums, draws, ratios
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import COUNTS, DEN, FIELD, NUM, Pair, count

SUMMED = (
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
"""Numbers of a fault arm's verdict that are added up."""
FAILURES = tuple(FailureClass)
_FAILURE = {name: index for index, name in enumerate(FAILURES)}
_summed = attrgetter(*SUMMED)


Tasks = NDArray[np.bool_]
"""Which tasks count, in the tally's order."""


class Cell(NamedTuple):
    """Model, framework, boundary and method."""

    model: str
    framework: str
    boundary: str
    method: str


class Tally:
    """Integer counts of every cell by task, in the order of `COUNTS`, `SUMMED` and `FAILURES`."""

    def __init__(self, pairs: Sequence[Pair], matrix: Matrix) -> None:
        self.tasks = sorted(matrix.workflows)
        self.cells = list(cells(matrix))
        places = [{name: index for index, name in enumerate(levels)} for levels in (self.cells, self.tasks)]
        self._cell: dict[Cell, int] = {cell: index for index, cell in enumerate(self.cells)}
        columns = len(COUNTS) + len(SUMMED) + len(FAILURES)
        self._tables = np.zeros((len(self.cells), len(self.tasks), columns), dtype=np.int64)
        where, rows = [], []
        for pair in pairs:
            arm, failed = pair.fault.arm, [0] * len(FAILURES)
            failed[_FAILURE[pair.fault.failure]] = 1
            rows.append((*count(pair), *_summed(pair.fault), *failed))
            where.append(
                (
                    places[0][Cell(arm.model, arm.framework, arm.boundary, arm.method)],
                    places[1][arm.workflow],
                )
            )
        if rows:
            np.add.at(self._tables, tuple(np.array(where).T), np.array(rows, dtype=np.int64))

    def counts(self, cell: Cell) -> NDArray[np.int64]:
        """Return the counts of a cell, a row a task, in the order of `COUNTS`."""
        return self.everything(cell)[:, : len(COUNTS)]

    def everything(self, cell: Cell) -> NDArray[np.int64]:
        """Return the counts of a cell followed by `SUMMED` and `FAILURES`, a row a task."""
        found: NDArray[np.int64] = self._tables[self._cell[cell]]
        return found

    def both(self, a: Cell, b: Cell) -> Tasks | None:
        """Return the tasks in which both cells have arms; None where both have the same, so that all may count."""
        left, right = (self.counts(cell)[:, FIELD["N"]] > 0 for cell in (a, b))
        return None if (left == right).all() else left & right


class Replicates:
    """The bootstrap of every cell: one row a metric, one column a replicate, all on the same draws."""

    def __init__(self, tally: Tally, matrix: Matrix) -> None:
        self._matrix = matrix
        self._tally = tally
        self._drawn: dict[int, NDArray[np.float64]] = {}
        self._kept: dict[tuple[tuple[Cell, ...], bytes | None], NDArray[np.float64]] = {}

    def of(self, *pooled: Cell, kept: Tasks | None = None) -> NDArray[np.float64]:
        """Return the replicates of every metric of the cells taken together, (metrics, B); NaN where undefined.

        Of fewer than two tasks there are none: the shape is (metrics, 0).

        Args:
            pooled: the cells.
            kept: the tasks that count; all if not told.
        """
        key = (pooled, None if kept is None else kept.tobytes())
        if key not in self._kept:
            counts = sum((self._tally.counts(cell) for cell in pooled[1:]), self._tally.counts(pooled[0]))
            counts = held(counts) if kept is None else counts[kept]
            sums = drawn_sums(counts, self.draw(len(counts)))
            found = np.empty((len(NUM), sums.shape[1]))
            for row, (num, den) in enumerate(zip(NUM, DEN, strict=True)):
                found[row] = ratios(sums[num], sums[den])
            self._kept[key] = found
        return self._kept[key]

    def draw(self, tasks: int) -> NDArray[np.float64]:
        """Return how often each of so many tasks is drawn in each replicate; cells with as many share the draws.

        One task would be drawn alone every time, as if nothing could have come out otherwise: it has no replicate.
        """
        if tasks < 2:
            return np.empty((tasks, 0))
        if tasks not in self._drawn:
            drawn = draws(tasks, self._matrix.replicates, self._matrix.bootstrap_seed)
            self._drawn[tasks] = drawn.astype(np.float64)
        return self._drawn[tasks]


def held(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the tasks with a pair: one that the boundary does not apply to is no cluster of the cell.

    Args:
        table: Counts in the order of `COUNTS`, a row a task.
    """
    found: NDArray[np.int64] = table[table[:, FIELD["N"]] > 0]
    return found


def cells(matrix: Matrix) -> Iterator[Cell]:
    """Yield every cell in the matrix's order."""
    for key in product(matrix.models, matrix.frameworks, matrix.boundaries, matrix.methods):
        yield Cell(*key)
