"""The small schema checker."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.schema import UnknownKeywordError, first_problem, pointer, problems

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "amount"],
    "properties": {
        "id": {"type": "string", "minLength": 2, "maxLength": 4},
        "amount": {"type": "integer", "minimum": 1, "maximum": 9},
        "tier": {"enum": ["A", "B"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "free": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        "pair": {"$ref": "#/$defs/Pair"},
    },
    "$defs": {
        "Pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "boolean"}],
            "minItems": 2,
            "maxItems": 2,
            "items": False,
        }
    },
}
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 11),
    st.sampled_from(["", "A", "ab", "abcde", 1.5]),
    st.lists(st.sampled_from(["a", True, 1]), max_size=3),
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other"]), VALUES))
def test_agrees_with_jsonschema(value: dict[str, Any]) -> None:
    """A value fits exactly when the full library says so."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert (not problems(SCHEMA, value)) is validator.is_valid(value)


def test_lists_all_problems_with_pointers() -> None:
    """Every problem is named, each at its own pointer."""
    found = problems(SCHEMA, {"amount": "x", "tier": "C", "tags": ["a", 1], "other/~": 1})
    assert found == [
        ("/id", "is missing"),
        ("/amount", "must be integer, is string"),
        ("/tier", "must be one of A, B"),
        ("/tags/1", "must be string, is integer"),
        ("/other~1~0", "is not known here"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": "ab", "amount": 1}, ""),
        ({"id": "ab"}, "arguments/amount is missing"),
        ({"id": "ab", "amount": True}, "arguments/amount must be integer, is boolean"),
        ({"id": "ab", "amount": 1.0}, "arguments/amount must be integer, is number"),
        ({"id": "ab", "amount": 0}, "arguments/amount must be at least 1"),
        ({"id": "ab", "amount": 10}, "arguments/amount must be at most 9"),
        ({"id": "a", "amount": 1}, "arguments/id must have at least 2 characters"),
        ({"id": "ab", "amount": 1, "tags": list("abc")}, "arguments/tags must have at most 2 items"),
    ],
)
def test_messages(arguments: dict[str, Any], message: str) -> None:
    """Bad arguments get one plain sentence, the same in world and judge."""
    assert first_problem(SCHEMA, arguments) == message


def test_unknown_keyword_is_an_error() -> None:
    """A keyword that would be ignored is refused."""
    with pytest.raises(UnknownKeywordError, match="pattern"):
        problems({"type": "string", "pattern": "x"}, "x")


def test_pointer_escapes() -> None:
    """Slash and tilde in a name are escaped as RFC 6901 says."""
    assert pointer("/a", "b/c~d") == "/a/b~1c~0d"
