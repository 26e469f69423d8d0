"""Intervals and tests on numbers small enough to work out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.stats.intervals import Interval, draws, holm, percentile_interval, ratios, two_sided_p, wilson

_P = st.one_of(st.none(), st.floats(0, 1))


def test_draws_are_the_published_stream() -> None:
    """Each replicate draws as many tasks as there are, by the legacy generator's `choice` with seed 42."""
    weights = draws(12, 50, 42)
    legacy = np.random.RandomState(42)
    expected = [np.bincount(legacy.choice(12, size=12, replace=True), minlength=12) for _ in range(50)]
    assert weights.T.tolist() == np.array(expected).tolist()


def test_percentiles_interpolate_between_neighbours() -> None:
    """On 0, 1, ..., 40 the 2.5 % point is 1 and the 97.5 % point 39; on two values it lies between them."""
    assert percentile_interval(np.arange(41.0)[::-1]) == Interval(1.0, 39.0, 0)
    low, high, dropped = percentile_interval(np.array([0.0, 1.0]))
    assert (low, high, dropped) == (pytest.approx(0.025), pytest.approx(0.975), 0)


def test_undefined_replicates_are_dropped_and_counted() -> None:
    """A replicate with denominator 0 is left out of the interval, and none left means no interval at all."""
    assert ratios(np.array([0, 1, 1]), np.array([0, 2, 1])).tolist()[1:] == [0.5, 1.0]
    assert percentile_interval(np.array([np.nan, 0.5, np.nan, 0.5])) == Interval(0.5, 0.5, 2)
    assert percentile_interval(np.array([np.nan, np.nan])) == Interval(None, None, 2)


def test_p_is_twice_the_share_beyond_zero() -> None:
    """Of eight replicates one is at zero: p is 2/8; with none it is the floor 1/8; observed zero gives 1."""
    one_at_zero = np.array([0.0, 1, 1, 1, 1, 1, 1, 1])
    assert two_sided_p(1.0, one_at_zero) == 0.25
    assert two_sided_p(-1.0, -one_at_zero) == 0.25
    assert two_sided_p(1.0, np.ones(8)) == 0.125
    assert two_sided_p(0.0, one_at_zero) == 1.0
    assert two_sided_p(1.0, -np.ones(8)) == 1.0
    assert two_sided_p(1.0, np.full(3, np.nan)) is None


def test_holm_on_the_textbook_case() -> None:
    """0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02, and an undefined one still counts in the family."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, None]) == [0.02, None]
    assert holm([]) == []


@given(st.lists(_P, max_size=8))
def test_holm_is_monotone_and_never_smaller(p_values: list[float | None]) -> None:
    """Adjusted values keep the order of the raw ones, are not below them and not above 1."""
    adjusted = holm(p_values)
    pairs = sorted((p, a) for p, a in zip(p_values, adjusted, strict=True) if p is not None and a is not None)
    assert len(pairs) == sum(p is not None for p in p_values)
    assert all(p <= a <= 1 for p, a in pairs)
    assert [a for _, a in pairs] == sorted(a for _, a in pairs)


def test_wilson_gives_the_published_bounds() -> None:
    """2406 of 2880 has the published Wilson interval 0.8214 to 0.8485; 0 of 0 has none."""
    low, high, _ = wilson(2406, 2880)
    assert low is not None
    assert high is not None
    assert (round(low, 4), round(high, 4)) == (0.8214, 0.8485)
    assert wilson(0, 0) == Interval(None, None, 0)


@given(st.integers(1, 60).flatmap(lambda den: st.tuples(st.integers(0, den), st.just(den))))
def test_wilson_holds_the_share(cell: tuple[int, int]) -> None:
    """The interval lies within 0 and 1 and holds the observed share."""
    num, den = cell
    low, high, _ = wilson(num, den)
    assert low is not None
    assert high is not None
    assert 0 <= low <= num / den + 1e-12
    assert num / den - 1e-12 <= high <= 1
    assert not math.isnan(low + high)
