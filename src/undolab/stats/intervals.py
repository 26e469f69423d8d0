"""Intervals and tests: the task-clustered bootstrap (percentile or BCa), its two-sided p, TOST, Holm, and Wilson.

A replicate draws whole tasks, with replacement, each with all its trials: drawing trials inside a task as
well would count the same noise twice. All cells and contrasts share one matrix of draws, so a replicate's
sums are one matrix product. Its terms are whole numbers below 2**53, so floating point adds them without an
error, in any order. What follows is one IEEE operation at a time. No digit depends on threads or on the
width of vectors.
"""

from collections.abc import Sequence
from math import floor, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undolab.model.errors import UndolabError

_Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
_NORMAL = NormalDist()
_EXACT = 2**53
_BLOCK = 2**18
"""Multiplications in one block."""
_SLACK = 1e-12
"""A difference this near the margin counts as on it: the margin itself has no exact binary value."""


class Interval(NamedTuple):
    """Bounds of a 95 % interval, None where nothing is defined, and how many replicates were undefined."""

    lo: float | None
    hi: float | None
    dropped: int


class Equivalence(NamedTuple):
    """Two one-sided tests: bounds of the 90 % interval, the larger of the two p, and replicates without a value."""

    lo: float | None
    hi: float | None
    p: float | None
    dropped: int


def draws(tasks: int, replicates: int, seed: int) -> NDArray[np.int64]:
    """Return how often each replicate drew each task, shape (tasks, replicates); columns sum to `tasks`.

    The legacy generator is used because its stream is frozen for good; the published analysis used it too.
    """
    picks = np.random.RandomState(seed).randint(0, tasks, size=(replicates, tasks))
    flat = picks + tasks * np.arange(replicates)[:, None]
    weights = np.bincount(flat.ravel(), minlength=replicates * tasks).reshape(replicates, tasks)
    return np.ascontiguousarray(weights.T)


def drawn_sums(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of every column of `counts` (tasks, columns) in each replicate, shape (columns, replicates).

    Args:
        counts: whole numbers, a row a task.
        weights: `draws` as floats.

    Raises:
        UndolabError: a sum may lie above 2**53, where floats no longer hold every whole number.
    """
    if counts.size and len(counts) * int(np.abs(counts).max()) >= _EXACT:
        raise UndolabError(
            f"A count of {int(np.abs(counts).max())} in {len(counts)} tasks is too large to be added exactly;"
            " divide the counts."
        )
    return multiply(counts.T.astype(np.float64), weights)


def multiply(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix product, made in blocks so small that no library starts threads for one.

    Threads gain nothing here, and where cores are shared they wait for each other.
    """
    found = np.empty((left.shape[0], right.shape[1]))
    step = max(1, _BLOCK // max(1, left.size))
    for begin in range(0, right.shape[1], step):
        np.matmul(left, right[:, begin : begin + step], out=found[:, begin : begin + step])
    return found


def ratios(
    num: NDArray[np.int64] | NDArray[np.float64], den: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return num / den, NaN where den is 0."""
    if den.all():
        return np.true_divide(num, den)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(den == 0, np.nan, num / den)


def percentile_interval(
    replicates: NDArray[np.float64], shares: tuple[float, float] = (0.025, 0.975)
) -> Interval:
    """Return two points (linear interpolation) of the replicates that are not NaN; 2.5 and 97.5 % if not told."""
    kept = _kept(replicates)
    dropped = len(replicates) - len(kept)
    if len(kept) == 0:
        return Interval(None, None, dropped)
    low, high = (_point(kept, (len(kept) - 1) * share) for share in shares)
    return Interval(low, high, dropped)


def bca_interval(
    observed: float | None, replicates: NDArray[np.float64], left_out: NDArray[np.float64]
) -> Interval:
    """Return the bias-corrected and accelerated 95 % interval (Efron 1987).

    Args:
        observed: the value itself.
        replicates: its bootstrap replicates; NaN are dropped.
        left_out: its values with one task left out, a value a task.

    It is undefined where a value with a task left out is, or where the values vary too little to correct by.
    """
    kept = _kept(replicates)
    dropped = len(replicates) - len(kept)
    undefined = Interval(None, None, dropped)
    if observed is None or len(kept) == 0 or np.isnan(left_out).any():
        return undefined
    below = int(np.count_nonzero(kept < observed) + np.count_nonzero(kept <= observed)) / (2 * len(kept))
    away = [float(left_out.mean() - value) for value in left_out]
    spread = sum(value * value for value in away)
    if not 0 < below < 1 or spread == 0:
        return undefined
    bias = _NORMAL.inv_cdf(below)
    pull = sum(value**3 for value in away) / (6 * spread**1.5)
    shares = []
    for share in (0.025, 0.975):
        shifted = bias + _NORMAL.inv_cdf(share)
        shares.append(_NORMAL.cdf(bias + shifted / (1 - pull * shifted)))
    low, high = (_point(kept, (len(kept) - 1) * share) for share in shares)
    return Interval(low, high, dropped)


def equivalence(replicates: NDArray[np.float64], margin: float) -> Equivalence:
    """Return two one-sided bootstrap tests that a difference lies within minus and plus `margin`.

    The p is the larger share of kept replicates at or beyond either margin, at least one over their number.
    """
    low, high, dropped = percentile_interval(replicates, (0.05, 0.95))
    kept = _kept(replicates)
    if len(kept) == 0:
        return Equivalence(None, None, None, dropped)
    beyond = max(
        np.count_nonzero(kept <= _SLACK - margin),
        np.count_nonzero(kept >= margin - _SLACK),
    )
    return Equivalence(low, high, max(1, int(beyond)) / len(kept), dropped)


def two_sided_p(observed: float, replicates: NDArray[np.float64]) -> float | None:
    """Return twice the share of the kept replicates at or beyond zero, seen from `observed`, in [1/kept, 1].

    Where `observed` is 0 the p is 1; where every replicate is undefined it is None.
    """
    kept = _kept(replicates)
    if len(kept) == 0:
        return None
    if observed == 0:
        return 1.0
    crossed = int(np.count_nonzero(kept <= 0) if observed > 0 else np.count_nonzero(kept >= 0))
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


def _kept(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    lost = np.isnan(replicates)
    return replicates[~lost] if lost.any() else replicates


def _point(kept: NDArray[np.float64], place: float) -> float:
    """Return what stands at `place` of the sorted values; one partition finds it, and sorts nothing else."""
    below = min(floor(place), len(kept) - 1)
    parted = np.partition(kept, below)
    low = float(parted[below])
    if below + 1 == len(kept):
        return low
    return low + (float(parted[below + 1 :].min()) - low) * (place - below)
