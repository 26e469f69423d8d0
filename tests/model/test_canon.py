"""Canonical JSON: equal values have equal bytes, and they are those of RFC 8785."""

import math
import re
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.calls import Effect
from undolab.model.canon import bytes_digest, call_seed, canonical, digest, short_digest
from undolab.model.tools import Op

SAFE = 2**53 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from(
        [
            "\u0000\u001f\u007f\u0085",
            "\u2028\u2029",
            "😀",
            "\ufb33",
            "1e5",
            ":12345678901234567",
            "</x>",
            '\\"',
        ]
    )
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_bytes_are_those_of_rfc8785(value: Any) -> None:
    """Any JSON value has exactly the bytes that the reference implementation gives."""
    assert canonical(value) == rfc8785.dumps(value)


@given(st.dictionaries(TEXT, LEAVES, max_size=6))
def test_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    """A dictionary built in another order has the same digest."""
    assert digest(value) == digest(dict(reversed(value.items())))


@given(
    JSON.filter(lambda value: b"e+" not in canonical(value) and not re.search(rb"\d{16}", canonical(value)))
)
def test_reading_back_keeps_the_digest(value: Any) -> None:
    """Canonical bytes, parsed and made canonical once more, stay as they are (but for floats that read back as big integers)."""
    raw = canonical(value)
    assert canonical(msgspec.json.decode(raw)) == raw


@pytest.mark.parametrize("value", [{"😀": 1, "\ufb33": 2}, {"\ue000": 1, "\U00010000": 2}])
def test_keys_sort_by_utf16(value: dict[str, int]) -> None:
    """Names beyond the basic plane sort by UTF-16 units, as the standard says."""
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), 10**30, [2**60], {"a": 2**53 + 1}, [1, -(2**53)], {"a": {"b": [10**30]}}]
)
def test_integers_beyond_the_safe_range_are_refused(value: Any) -> None:
    """An integer that a double cannot hold has no canonical form."""
    with pytest.raises(ValueError, match=r"."):
        canonical(value)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, {"a": [math.nan]}, [1, math.nan], {"a": -math.inf}]
)
def test_numbers_that_are_none_are_refused(value: Any) -> None:
    """NaN and infinity have no canonical form."""
    with pytest.raises(ValueError, match=r"."):
        canonical(value)


@pytest.mark.parametrize("value", [-0.0, 1.0, 1e21, 1e-7, 333333333.33333329, 5e-324, [1.5, {"x": -0.0}]])
def test_floats_take_the_short_form(value: Any) -> None:
    """Floats are written as ECMAScript writes them."""
    assert canonical(value) == rfc8785.dumps(value)


def test_structs_are_their_json() -> None:
    """A struct has the bytes of the JSON object it stands for."""
    effect = Effect(id="e1", entity="accounts/😀", op=Op.UPDATE, before="", after="x")
    assert canonical(effect) == rfc8785.dumps(msgspec.to_builtins(effect))


def test_digests_have_their_lengths() -> None:
    """A digest is 64 hex digits, a short one its first 16, and both are of the canonical bytes."""
    assert digest({"b": 1, "a": 2}) == bytes_digest(b'{"a":2,"b":1}')
    assert short_digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})[:16]
    assert len(digest(None)) == 64


@given(st.integers(0, 10**9), st.integers(0, 100))
def test_call_seed_is_31_bits(seed: int, turn: int) -> None:
    """The seed of a call fits a signed 32-bit integer and depends on its inputs alone."""
    assert 0 <= call_seed(seed, turn) < 2**31
    assert call_seed(seed, turn) == call_seed(seed, turn)


def test_call_seeds_differ_by_turn() -> None:
    """Two turns of one trial, and one turn of two trials, draw from different seeds."""
    assert len({call_seed(seed, turn) for seed in (2001, 2002) for turn in range(1, 13)}) == 24
