"""A grammar (GBNF of llama.cpp) from the tools' schemas: one line, a call of any allowed tool at any time, or a finish.

It holds the shape of a line and the types of its values. Limits such as `minimum` are left to the service, which answers
a value outside them with an error, as it would for any other client.
"""

import json
from collections.abc import Sequence
from typing import Any

from undolab.agents.base import PublicTool
from undolab.agents.line import NUMBERS, REPORTS, TASK_LABEL, argument_names
from undolab.model.errors import UndolabError

_VALUES = r"""
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
strings ::= "[" (string ("," " "? string)*)? "]"
object ::= "{" (member ("," " "? member)*)? "}"
member ::= string ":" " "? value
array ::= "[" (value ("," " "? value)*)? "]"
value ::= string | number | boolean | "null" | object | array
"""
_SIMPLE = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
}
_NOTES = {"title", "description", "default", "examples"}
_LIMITS = {"minLength", "maxLength", "minimum", "maximum"}
_LONGEST = 2000
"""A longer `maxLength` says that a text is meant that no line of a transcript holds."""


def build_grammar(tools: Sequence[PublicTool]) -> str:
    """Return the grammar of one line.

    Raises:
        UndolabError: a schema says something that the grammar does not know; names tool and property.
    """
    rules = []
    for number, tool in enumerate(tools):
        rules.append(f"tool-{number} ::= {_call(tool)}")
    calls = " | ".join(f"tool-{number}" for number in range(len(tools)))
    rules.append(f"ordinal ::= {' | '.join(_literal(word) for word in NUMBERS)}")
    if tools:
        rules.append(f"call ::= {calls}")
    ends = '"finish: " (' + " | ".join(_literal(word) for word in REPORTS) + ")"
    what = f"(call | {ends})" if tools else ends
    return f'root ::= "{TASK_LABEL} step " ordinal ": " {what} "\\n"\n' + "\n".join(rules) + _VALUES


def _call(tool: PublicTool) -> str:
    extra = (
        tool.parameters.keys()
        - {"type", "properties", "required", "additionalProperties", "$schema"}
        - _NOTES
    )
    if tool.parameters.get("type", "object") != "object" or extra:
        what = min(extra) if extra else "type"
        raise UndolabError(
            f"tool {tool.name}: the grammar cannot take `{what}` of its parameters; leave it out."
        )
    properties = tool.parameters.get("properties", {})
    required, optional = argument_names(tool.parameters)
    missing = set(tool.parameters.get("required", [])) - set(required)
    if missing:
        raise UndolabError(f"tool {tool.name}: {min(missing)} is required but not described; describe it.")
    terms = {
        name: f"{_literal(name + '=')} {_type(tool.name, name, properties[name])}" for name in properties
    }
    body = ' ", " '.join(terms[name] for name in required)
    if required:
        body += "".join(f' (", " {terms[name]})?' for name in optional)
    elif optional:
        # Without a required argument, any of the optional ones may come first.
        starts = [
            terms[name] + "".join(f' (", " {terms[later]})?' for later in optional[place + 1 :])
            for place, name in enumerate(optional)
        ]
        body = f"({' | '.join(starts)})?"
    return f'{_literal(tool.name + "(")} {body} ")"' if body else f'{_literal(tool.name + "(")} ")"'


def _type(tool: str, name: str, schema: dict[str, Any]) -> str:
    keys = schema.keys() - _NOTES
    if "enum" in schema and keys <= {"type", "enum"}:
        return (
            "("
            + " | ".join(_literal(json.dumps(value, ensure_ascii=False)) for value in schema["enum"])
            + ")"
        )
    kind = schema.get("type")
    if kind == "array":
        keys -= {"items", "minItems", "maxItems"}
        of_strings = schema.get("items", {}).get("type") == "string"
        if keys == {"type"} and of_strings and schema["items"].keys() - _NOTES - _LIMITS == {"type"}:
            return "strings"
    elif isinstance(kind, str) and kind in _SIMPLE:
        if schema.get("maxLength", 0) > _LONGEST:
            raise UndolabError(
                f"tool {tool}, property {name}: maxLength {schema['maxLength']} is more than a line holds; use {_LONGEST}."
            )
        unknown = keys - {"type"} - (_LIMITS if kind != "object" else {"properties", "additionalProperties"})
        if not unknown:
            return _SIMPLE[str(kind)]
        keys = unknown
    what = min(keys - {"type"}) if keys - {"type"} else f"type {json.dumps(kind)}"
    raise UndolabError(
        f"tool {tool}, property {name}: the grammar cannot take `{what}`; leave it out of the schema."
    )


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
