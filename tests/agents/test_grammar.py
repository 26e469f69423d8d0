"""The grammar: what it takes, what it refuses, and that it forbids no allowed tool."""

from pathlib import Path
from typing import Any

import pytest

from undolab.agents.base import PublicTool
from undolab.agents.grammar import build_grammar
from undolab.agents.line import NUMBERS
from undolab.model.errors import UndolabError
from undolab.model.load import load_tools

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "minLength": 1, "description": "x"}, "string"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": True}, "object"),
        ({"type": "array", "items": {"type": "string"}}, "strings"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "strings"),
        ({"type": "string", "enum": ["a b", 'c"d']}, r'("\"a b\"" | "\"c\\\"d\"")'),
        ({"enum": [1, 2]}, '("1" | "2")'),
    ],
)
def test_supported_types(make_tool: Any, schema: dict[str, Any], rule: str) -> None:
    """Each supported type becomes its rule, and limits are left to the service."""
    grammar = build_grammar([make_tool("t", {"x": schema})])
    assert f'tool-0 ::= "t(" "x=" {rule} ")"\n' in grammar


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"type": "string", "pattern": "\\d+"}, "pattern"),
        ({"type": "string", "format": "date"}, "format"),
        ({"type": "array", "items": {"type": "integer"}}, "type"),
        ({"type": "array"}, "type"),
        ({"anyOf": [{"type": "string"}]}, "anyOf"),
        ({}, "type"),
        ({"type": "object", "patternProperties": {}}, "patternProperties"),
    ],
)
def test_what_the_grammar_cannot_take_is_named(make_tool: Any, schema: dict[str, Any], what: str) -> None:
    """A schema beyond the grammar is refused in one sentence that names tool, property and keyword."""
    with pytest.raises(UndolabError, match=rf"tool t, property x: .*`{what}") as caught:
        build_grammar([make_tool("t", {"x": schema})])
    assert "\n" not in str(caught.value)


def test_a_very_long_text_is_refused(make_tool: Any) -> None:
    """A length beyond what a line holds is refused by tool and property; a shorter one is left to the service."""
    with pytest.raises(UndolabError, match="tool t, property x: maxLength 20000"):
        build_grammar([make_tool("t", {"x": {"type": "string", "maxLength": 20000}})])
    assert '"x=" string' in build_grammar([make_tool("t", {"x": {"type": "string", "maxLength": 80}})])


def test_a_required_argument_must_be_described(make_tool: Any) -> None:
    """A required argument without a schema is refused by name."""
    with pytest.raises(UndolabError, match="tool t: y is required"):
        build_grammar([make_tool("t", {"x": {"type": "string"}}, required=["y"])])


def test_optional_arguments_may_be_left_out(make_tool: Any) -> None:
    """Optional arguments follow the required ones, each of them or none; without required ones any may come first."""
    text = {"type": "string"}
    some = build_grammar([make_tool("t", {"a": text, "b": text, "c": text}, required=["b"])])
    assert '"t(" "b=" string (", " "a=" string)? (", " "c=" string)? ")"' in some
    none = build_grammar([make_tool("t", {"a": text, "b": text}, required=[])])
    assert '"t(" ("a=" string (", " "b=" string)? | "b=" string)? ")"' in none
    assert 'tool-0 ::= "t(" ")"\n' in build_grammar([make_tool("t", {})])


def test_any_tool_may_be_called_at_any_time(make_tool: Any) -> None:
    """Every tool, read or write, stands under every number, beside all three finishes."""
    grammar = build_grammar([make_tool("a", {}, reads=True), make_tool("b", {})])
    root, *rules = grammar.splitlines()
    ends = '"finish: " ("done" | "not done" | "unknown")'
    assert root == f'root ::= "task step " ordinal ": " (call | {ends}) "\\n"'
    assert "call ::= tool-0 | tool-1" in rules
    assert f"ordinal ::= {' | '.join(f'{chr(34)}{word}{chr(34)}' for word in NUMBERS)}" in rules


def test_every_tool_of_the_benchmark_has_a_grammar() -> None:
    """All released tools have schemas that the grammar takes."""
    tools = load_tools(ROOT / "data" / "tools")
    public = [
        PublicTool(name=name, description=tool.description, parameters=tool.parameters, reads=not tool.writes)
        for name, tool in tools.items()
    ]
    grammar = build_grammar(public)
    assert all(f'"{name}("' in grammar for name in tools)


def test_a_type_that_is_a_list_is_refused_by_name(make_tool: Any) -> None:
    """A nullable type is refused in one sentence that names tool and property."""
    with pytest.raises(UndolabError, match="tool t, property a: the grammar cannot take"):
        build_grammar([make_tool("t", {"a": {"type": ["string", "null"]}})])
