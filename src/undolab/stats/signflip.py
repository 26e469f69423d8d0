"""The exact sign-flip test over tasks: how often chance alone, giving each task's difference a sign, does as much.

Tasks are the units, each with the same weight, so nothing is assumed about the trials inside one. With m tasks that
differ no p lies below 2 / 2**m: with four, 0.125. Differences are fractions with one denominator, so sums are whole
numbers and a tie is a tie.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undolab.stats.intervals import multiply

_EXACT_TASKS = 36
_FLIPS = 20_000
_SEED = 42
_LARGEST = 2**62
_TASKS_AT_ONCE = 64
_SLACK = 1e-9


class SignFlip(NamedTuple):
    """The result."""

    tasks: int
    """Tasks in which both sides are defined."""
    differing: int
    """Those of them with a difference."""
    mean: float | None
    """Mean difference over these tasks, each with the same weight."""
    p: float | None
    """Two-sided; None where no task has both sides."""
    p_least: float | None
    """The smallest p that this number of differing tasks can give."""
    exact: bool
    """False where more than 36 tasks differ: then 20,000 seeded sign patterns stand for all."""


def sign_flip(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> SignFlip:
    """Test the difference of two rates over tasks.

    Args:
        a: (numerator, denominator) of each task on one side; denominator 0 leaves the task out.
        b: the same on the other side, in the same order of tasks.
    """
    found = [
        Fraction(*left) - Fraction(*right) for left, right in zip(a, b, strict=True) if left[1] and right[1]
    ]
    if not found:
        return SignFlip(0, 0, None, None, None, exact=True)
    moved = [value for value in found if value]
    mean = float(sum(found) / len(found))
    if not moved:
        return SignFlip(len(found), 0, mean, 1.0, 1.0, exact=True)
    scale = lcm(*(value.denominator for value in moved))
    whole = [int(value * scale) for value in moved]
    exact = len(moved) <= _EXACT_TASKS and sum(map(abs, whole)) < _LARGEST
    p = _all_patterns(whole) if exact else _some_patterns([float(value) for value in moved])
    least = 2 / (1 << len(moved)) if exact else 1 / (_FLIPS + 1)
    return SignFlip(len(found), len(moved), mean, p, least, exact=exact)


def _all_patterns(whole: Sequence[int]) -> float:
    """Return the share of all sign patterns whose sum is as far from zero as the one seen.

    Both halves of the tasks are enumerated; a search in the second says how many sums each of the first completes.
    Turning all signs round mirrors the sums, so as many lie on the other side.
    """
    size = abs(sum(whole))
    if size == 0:
        return 1.0
    half = len(whole) // 2
    first, second = np.sort(_sums(whole[:half])), np.sort(_sums(whole[half:]))
    above = len(second) - np.searchsorted(second, size - first, side="left")
    patterns: int = 1 << len(whole)
    return 2 * int(above.sum()) / patterns


def _sums(whole: Sequence[int]) -> NDArray[np.int64]:
    sums = np.zeros(1, dtype=np.int64)
    for value in whole:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _some_patterns(values: Sequence[float]) -> float:
    """Return the share among seeded patterns, the one seen counted in; a sum within 1e-9 of the one seen reaches it."""
    sums = np.zeros(_FLIPS)
    for begin in range(0, len(values), _TASKS_AT_ONCE):
        some = np.array([values[begin : begin + _TASKS_AT_ONCE]])
        sums += multiply(some, _signs(begin)[: some.shape[1]])[0]
    reached = int(np.count_nonzero(np.abs(sums) >= abs(sum(values)) - _SLACK))
    return (1 + reached) / (1 + _FLIPS)


@cache
def _signs(begin: int) -> NDArray[np.float64]:
    """Return a sign for each pattern of each of the tasks from the one numbered `begin` on."""
    rng = np.random.RandomState(_SEED + begin)
    return (rng.randint(0, 2, size=(_TASKS_AT_ONCE, _FLIPS)) * 2 - 1).astype(np.float64)
