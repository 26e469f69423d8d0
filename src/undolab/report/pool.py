"""Cells put together: counts of several cells summed by task, with the interval that the study's statistics use.

A group of cells (a stratum, all models together) has no row in `metrics.json`. Its interval is made in the same way:
whole tasks are drawn, each with all its trials in all cells of the group, on draws from the study's own seed.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from undolab.stats.intervals import Interval, drawn_sums, draws, percentile_interval, ratios
from undolab.stats.rows import CellRow, Estimate, Study


def pool(cells: Iterable[CellRow], metric: str, study: Study) -> Estimate:
    """Return one metric over cells of single tasks, with the task-clustered percentile bootstrap; one task has no interval.

    Args:
        cells: cells of single tasks; those of one task are summed.
        metric: a name of `undolab.stats.metrics.METRICS`.
        study: whose replicates and seed are used.
    """
    sums: dict[str, list[int]] = {}
    for cell in cells:
        found = cell.metrics[metric]
        entry = sums.setdefault(cell.scope.task, [0, 0])
        entry[0] += found.num
        entry[1] += found.den
    table = np.array([sums[task] for task in sorted(sums)], dtype=np.int64).reshape(-1, 2)
    total, base = table.sum(axis=0).tolist()
    if not len(table):
        return Estimate(num=0, den=0, value=None, lo=None, hi=None, dropped=0)
    bounds = Interval(None, None, 0)
    if len(table) > 1:
        drawn = drawn_sums(table, _draws(len(table), study.replicates, study.bootstrap_seed))
        bounds = percentile_interval(ratios(*drawn))
    value = total / base if base else None
    return Estimate(num=total, den=base, value=value, lo=bounds.lo, hi=bounds.hi, dropped=bounds.dropped)


def total(cells: Iterable[CellRow], name: str) -> int:
    """Return the sum of a size (`N`, `exposed`, `D`, `R`, `F`) or of a total over fault arms."""
    return sum(cell.sums[name] if name in cell.sums else int(getattr(cell, name)) for cell in cells)


@lru_cache(maxsize=32)
def _draws(tasks: int, replicates: int, seed: int) -> NDArray[np.float64]:
    return draws(tasks, replicates, seed).astype(np.float64)
