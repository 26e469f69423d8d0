"""Intervals and tests: the task-clustered percentile bootstrap, its two-sided p, Holm, and Wilson.

A replicate draws whole tasks, with replacement, each with all its trials: drawing trials inside a task as
well would count the same noise twice. All cells and contrasts share one matrix of draws, so a replicate's
sums are one matrix product, and one of integers: exact, and without the threads of a linear-algebra library.
What follows is one IEEE operation at a time. No digit depends on threads or on the width of vectors.
"""

from collections.abc import Sequence
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class Interval(NamedTuple):
    """Bounds of a 95 % interval, None where nothing is defined, and how many replicates were undefined."""

    lo: float | None
    hi: float | None
    dropped: int


def draws(tasks: int, replicates: int, seed: int) -> NDArray[np.int64]:
    """Return how often each replicate drew each task, shape (tasks, replicates); columns sum to `tasks`.

    The legacy generator is used because its stream is frozen for good; the published analysis used it too.
    """
    picks = np.random.RandomState(seed).randint(0, tasks, size=(replicates, tasks))
    flat = picks + tasks * np.arange(replicates)[:, None]
    weights = np.bincount(flat.ravel(), minlength=replicates * tasks).reshape(replicates, tasks)
    return np.ascontiguousarray(weights.T)


def ratios(num: NDArray[np.int64], den: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return num / den, NaN where den is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(den == 0, np.nan, num / den)


def percentile_interval(replicates: NDArray[np.float64]) -> Interval:
    """Return the 2.5 and 97.5 % points (linear interpolation) of the replicates that are not NaN."""
    kept = replicates[~np.isnan(replicates)]
    dropped = len(replicates) - len(kept)
    if len(kept) == 0:
        return Interval(None, None, dropped)
    places = [(len(kept) - 1) * share for share in (0.025, 0.975)]
    wanted = sorted({min(floor(place) + step, len(kept) - 1) for place in places for step in (0, 1)})
    ordered = np.partition(kept, wanted)
    low, high = (_point(ordered, place) for place in places)
    return Interval(low, high, dropped)


def two_sided_p(observed: float, replicates: NDArray[np.float64]) -> float | None:
    """Return twice the share of the kept replicates at or beyond zero, seen from `observed`, in [1/kept, 1].

    Where `observed` is 0 the p is 1; where every replicate is undefined it is None.
    """
    kept = replicates[~np.isnan(replicates)]
    if len(kept) == 0:
        return None
    if observed == 0:
        return 1.0
    crossed = int((kept <= 0).sum() if observed > 0 else (kept >= 0).sum())
    return min(1.0, max(1 / len(kept), 2 * crossed / len(kept)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values: monotone, at most 1.

    None (an undefined contrast) stays None but counts in the family's size, which was fixed before the data.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    highest = 0.0
    for rank, (p, index) in enumerate(known):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p))
        adjusted[index] = highest
    return adjusted


def wilson(num: int, den: int) -> Interval:
    """Return Wilson's 95 % interval for num of den independent trials; undefined for den 0."""
    if den == 0:
        return Interval(None, None, 0)
    share, z2 = num / den, _Z * _Z
    centre = (share + z2 / (2 * den)) / (1 + z2 / den)
    half = _Z / (1 + z2 / den) * sqrt(share * (1 - share) / den + z2 / (4 * den * den))
    return Interval(max(0.0, centre - half), min(1.0, centre + half), 0)


def _point(ordered: NDArray[np.float64], place: float) -> float:
    below = floor(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return low + (high - low) * (place - below)
