"""A small JSON Schema checker that lists every problem with its pointer.

The base install carries no schema library, and world and judge must word a bad argument alike, to the byte.
It knows the keywords that tool parameters and the schemas generated from our own types use, and no others.
"""

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_LIMITS = frozenset("const enum minimum maximum minLength maxLength minItems maxItems".split())
_KNOWN = _LIMITS.union(
    "type items prefixItems properties required additionalProperties anyOf $ref".split(),
    "title description default examples $defs $schema $id".split(),
)


class UnknownKeywordError(ValueError):
    """The schema uses a keyword that this checker does not know."""


def pointer(parent: str, key: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a member of `parent`."""
    name = str(key)
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{parent}/{name}"


def problems(
    schema: Mapping[str, Any], value: Any, at: str = "", defs: Mapping[str, Any] | None = None
) -> list[tuple[str, str]]:
    """Return each problem of `value` as (JSON pointer, text); an empty list if it fits.

    Order: a value's own problems before those of its members; missing members in the order of `required`, then the
    members in the order of the value.

    Raises:
        UnknownKeywordError: the schema uses a keyword outside the supported set.
    """
    defs = schema.get("$defs", {}) if defs is None else defs
    if not _KNOWN.issuperset(schema):
        raise UnknownKeywordError(f"schema keyword {min(schema.keys() - _KNOWN)!r} is not supported")
    if "$ref" in schema:
        return problems(defs[schema["$ref"].rpartition("/")[2]], value, at, defs)
    if "anyOf" in schema:
        return _any_of(schema["anyOf"], value, at, defs)
    wanted = schema.get("type")
    if wanted is not None and not _is_type(wanted, value):
        return [(at, f"must be {wanted}, is {_name(value)}")]
    found = [] if _LIMITS.isdisjoint(schema) else _own(schema, value, at)
    if isinstance(value, dict):
        found += _members(schema, value, at, defs)
    elif isinstance(value, (list, tuple)):
        prefix = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            rest = schema.get("items", {})
            sub = prefix[index] if index < len(prefix) else rest
            if isinstance(sub, Mapping):
                found += problems(sub, item, pointer(at, index), defs)
    return found


def unsupported(schema: Any, defs: Mapping[str, Any]) -> str:
    """Return the first thing in a schema, or in a schema within it, that `problems` does not know; empty if there is none.

    Args:
        schema: what should be a schema.
        defs: what a `$ref` may name.
    """
    if not isinstance(schema, Mapping):
        return "a schema must be a mapping"
    if not _KNOWN.issuperset(schema):
        return f"schema keyword {min(schema.keys() - _KNOWN)!r} is not supported"
    kind = schema.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in _TYPES):
        return f"type {kind!r} is not supported; there are {', '.join(_TYPES)}"
    if "$ref" in schema and str(schema["$ref"]).rpartition("/")[2] not in defs:
        return f"$ref {schema['$ref']!r} names nothing"
    inner = [
        schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), Mapping)
    ]
    inner += [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", []),
        *schema.get("prefixItems", []),
    ]
    return next((why for why in (unsupported(one, defs) for one in inner) if why), "")


def first_problem(schema: Mapping[str, Any], arguments: dict[str, Any]) -> str:
    """Return the message of `invalid_arguments` for bad arguments, or an empty string if they fit.

    The form is `<pointer> <text>`, with `arguments` before the pointer: `arguments/amount must be integer, is string`.
    """
    found = problems(schema, arguments)
    return f"arguments{found[0][0]} {found[0][1]}" if found else ""


def _is_type(wanted: str, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES[wanted])


def _name(value: Any) -> str:
    return next(name for name in (*_TYPES, "value") if name == "value" or _is_type(name, value))


def _own(schema: Mapping[str, Any], value: Any, at: str) -> list[tuple[str, str]]:
    found = []
    if "const" in schema and value != schema["const"]:
        found.append((at, f"must be {schema['const']!r}"))
    if "enum" in schema and value not in schema["enum"]:
        found.append((at, f"must be one of {', '.join(map(str, schema['enum']))}"))
    if "minimum" in schema and value < schema["minimum"]:
        found.append((at, f"must be at least {schema['minimum']}"))
    if "maximum" in schema and value > schema["maximum"]:
        found.append((at, f"must be at most {schema['maximum']}"))
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems")):
        if low in schema and len(value) < schema[low]:
            found.append((at, f"must have at least {schema[low]} {_unit(value)}"))
        if high in schema and len(value) > schema[high]:
            found.append((at, f"must have at most {schema[high]} {_unit(value)}"))
    return found


def _unit(value: Any) -> str:
    return "characters" if isinstance(value, str) else "items"


def _members(
    schema: Mapping[str, Any], value: dict[str, Any], at: str, defs: Mapping[str, Any]
) -> list[tuple[str, str]]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    found = [(pointer(at, key), "is missing") for key in schema.get("required", ()) if key not in value]
    for key, member in value.items():
        here = pointer(at, key)
        if key in properties:
            found += problems(properties[key], member, here, defs)
        elif others is False:
            found.append((here, "is not known here"))
        elif isinstance(others, Mapping):
            found += problems(others, member, here, defs)
    return found


def _any_of(
    choices: list[Mapping[str, Any]], value: Any, at: str, defs: Mapping[str, Any]
) -> list[tuple[str, str]]:
    results = [problems(choice, value, at, defs) for choice in choices]
    if not all(results):
        return []
    # Problems further in belong to the choice that was meant; the plainest one is shown.
    return min(results, key=lambda found: (found[0][0] == at, len(found)))
