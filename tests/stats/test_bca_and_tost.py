"""BCa against scipy on the same draws, and the two one-sided tests on values worked out by hand."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from undolab.model.errors import UndolabError
from undolab.stats.intervals import (
    Equivalence,
    Interval,
    bca_interval,
    drawn_sums,
    draws,
    equivalence,
    percentile_interval,
    ratios,
)

_NUM = np.array([3, 0, 5, 2, 5, 1, 0, 4, 5, 2, 3, 1])
_DEN = np.array([5, 4, 5, 5, 5, 3, 5, 5, 5, 4, 5, 2])


def _replicates() -> np.ndarray:
    weights = draws(len(_NUM), 4000, 42).astype(float)
    num, den = drawn_sums(np.stack([_NUM, _DEN], axis=1), weights)
    return ratios(num, den)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_equal_scipys_on_the_same_draws(method: str) -> None:
    """Both kinds of interval are those of scipy.stats.bootstrap, which draws the same tasks from the same generator."""
    theirs = bootstrap(
        (_NUM, _DEN),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        n_resamples=4000,
        paired=True,
        vectorized=True,
        method=method,
        random_state=np.random.RandomState(42),
    ).confidence_interval
    left_out = (_NUM.sum() - _NUM) / (_DEN.sum() - _DEN)
    observed = _NUM.sum() / _DEN.sum()
    ours = (
        percentile_interval(_replicates())
        if method == "percentile"
        else bca_interval(observed, _replicates(), left_out)
    )
    assert (ours.lo, ours.hi) == (pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12))


def test_bca_is_undefined_where_nothing_varies() -> None:
    """Equal replicates, an undefined value with a task left out, and no value at all give no bounds."""
    same = np.full(10, 0.5)
    assert bca_interval(0.5, same, np.full(3, 0.5)) == Interval(None, None, 0)
    assert bca_interval(0.5, _replicates(), np.array([0.4, np.nan])) == Interval(None, None, 0)
    assert bca_interval(None, np.full(10, np.nan), same) == Interval(None, None, 10)


def test_tost_takes_the_worse_side() -> None:
    """Of 100 differences 3 lie at or beyond +0.1 and 1 at or beyond -0.1: p is 0.03, whatever binary makes of 0.1."""
    spread = np.array([0.3 - 0.2, 0.7 - 0.6, 0.5, -0.4] + [0.0] * 96)
    found = equivalence(spread, 0.1)
    assert (found.lo, found.hi, found.p) == (0.0, 0.0, 0.03)
    assert equivalence(np.zeros(50), 0.1).p == 0.02
    assert equivalence(np.full(4, 0.5), 0.1).p == 1.0
    assert equivalence(np.full(3, np.nan), 0.1) == Equivalence(None, None, None, 3)


def test_sums_that_a_float_cannot_hold_are_refused() -> None:
    """Exact below 2**53, refused from there."""
    weights = draws(2, 10, 42).astype(float)
    assert drawn_sums(np.array([[2**51], [1]]), weights).max() <= 2**52
    with pytest.raises(UndolabError, match="too large"):
        drawn_sums(np.array([[2**52], [1]]), weights)
