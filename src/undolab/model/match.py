"""When are two argument values the same? JSON spelling must not decide a verdict."""

import json
from collections.abc import Mapping
from typing import Any


def same_value(wanted: Any, given: Any) -> bool:
    """Return True if two JSON values are equal.

    Numbers compare by value (2500 equals 2500.0), booleans never equal numbers, and a string that holds a JSON object or
    array equals the parsed value and every other spelling of it.
    """
    if type(wanted) is type(given) is str and wanted == given:
        return True
    wanted, given = _parsed(wanted), _parsed(given)
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    if isinstance(wanted, dict) and isinstance(given, dict):
        return wanted.keys() == given.keys() and all(same_value(wanted[k], given[k]) for k in wanted)
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(map(same_value, wanted, given))
    return bool(wanted == given)


def holds(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Return True if `given` has every wanted key with the same value."""
    for key, value in wanted.items():  # noqa: SIM110 - a generator takes twice as long
        if key not in given or not same_value(value, given[key]):
            return False
    return True


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
