"""The sign-flip test against enumeration, and its laws."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undolab.stats.signflip import sign_flip

_RATE = st.integers(0, 6).flatmap(lambda den: st.tuples(st.integers(0, den), st.just(den)))


def _slow(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> float:
    found = [Fraction(*x) - Fraction(*y) for x, y in zip(a, b, strict=True) if x[1] and y[1]]
    sums = [
        abs(sum(s * v for s, v in zip(signs, found, strict=True)))
        for signs in product((1, -1), repeat=len(found))
    ]
    return sum(value >= abs(sum(found)) for value in sums) / len(sums)


def test_four_differing_tasks_cannot_go_below_an_eighth() -> None:
    """Of twelve tasks four differ, all the same way: p is 2/16, which is also the least there can be."""
    a = [(40, 40)] * 4 + [(0, 40)] * 8
    b = [(1, 40), (2, 40), (3, 40), (4, 40)] + [(0, 40)] * 8
    found = sign_flip(a, b)
    assert (found.tasks, found.differing, found.p, found.p_least, found.exact) == (12, 4, 0.125, 0.125, True)
    assert found.mean == pytest.approx((39 + 38 + 37 + 36) / 40 / 12)


def test_ties_are_ties_although_thirds_have_no_binary_value() -> None:
    """1/3 + 1/3 against 2/3 is exactly zero, so every pattern reaches it."""
    found = sign_flip([(1, 3), (1, 3), (0, 3)], [(0, 3), (0, 3), (2, 3)])
    assert (found.mean, found.p) == (0.0, 1.0)


def test_tasks_without_a_value_are_left_out() -> None:
    """A task whose rate is undefined on either side is not counted; with none left there is no p."""
    assert sign_flip([(0, 0), (1, 1)], [(1, 1), (0, 1)])[:2] == (1, 1)
    assert sign_flip([(0, 0)], [(1, 1)]) == (0, 0, None, None, None, True)
    assert sign_flip([(1, 2)], [(2, 4)]) == (1, 0, 0.0, 1.0, 1.0, True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_RATE, _RATE), max_size=9))
def test_it_equals_the_enumeration(pairs: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """The p is that of all patterns, is the same with the sides swapped, and never below its least."""
    a, b = [list(side) for side in zip(*pairs, strict=True)] if pairs else ([], [])
    found, swapped = sign_flip(a, b), sign_flip(b, a)
    if found.p is None:
        assert not any(x[1] and y[1] for x, y in pairs)
        return
    assert found.p == _slow(a, b) == swapped.p
    assert found.p_least is not None
    assert found.p_least <= found.p <= 1


def test_many_tasks_are_sampled_and_say_so() -> None:
    """Beyond 36 differing tasks seeded patterns stand for all: near the exact value, and repeatable."""
    a = [(i % 7, 7) for i in range(60)]
    b = [(3, 7)] * 60
    found = sign_flip(a, b)
    assert (found.tasks, found.exact, found.p) == (60, False, sign_flip(a, b).p)
    assert sign_flip(a[:36], b[:36]).exact
    huge = sign_flip([(10**11 + i, 10**12 + 7 * i) for i in range(50)], [(0, 1)] * 50)
    assert (huge.exact, huge.p) == (False, pytest.approx(1 / 20_001))
