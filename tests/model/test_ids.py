"""Seeded ids."""

import re

from hypothesis import given
from hypothesis import strategies as st

from undolab.model.ids import seeded_id


@given(st.integers(0, 2**31), st.sampled_from(["wir", "aud"]), st.integers(1, 10**6))
def test_form(seed: int, prefix: str, n: int) -> None:
    """An id is its prefix and eight hex digits, the same each time."""
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{8}}", seeded_id(seed, prefix, n))
    assert seeded_id(seed, prefix, n) == seeded_id(seed, prefix, n)


def test_known_value() -> None:
    """The rule is frozen: a change of it would change every released log."""
    assert seeded_id(2001, "wir", 1) == "wir_2a0350fd"


def test_ids_differ() -> None:
    """Seeds, prefixes and counts all tell ids apart."""
    ids = [seeded_id(seed, prefix, n) for seed in (1, 2) for prefix in ("wir", "aud") for n in range(1, 200)]
    assert len(set(ids)) == len(ids)
