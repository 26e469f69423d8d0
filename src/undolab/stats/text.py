"""Numbers as text: fixed decimals, so that a released file has the same bytes on every machine."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import msgspec

DECIMALS = 6


def fixed(value: float | None) -> str:
    """Return a number with six decimals, never a negative zero; undefined is `null`."""
    if value is None:
        return "null"
    text = f"{value:.{DECIMALS}f}"
    return text.lstrip("-") if float(text) == 0 else text


def to_json(value: Any) -> str:
    """Return JSON with sorted keys, an indent of 1, fixed decimals for floats and a final newline."""
    return _render(msgspec.to_builtins(value), "\n") + "\n"


def to_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Return rows, header first, as CSV: LF, floats with six decimals, undefined as an empty field."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([fixed(item) if isinstance(item, float) else item for item in row])
    return stream.getvalue()


def _render(value: Any, line: str) -> str:
    inner = line + " "
    if isinstance(value, float):
        return fixed(value)
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(key)}: {_render(value[key], inner)}" for key in sorted(value)]
        return "{" + inner + ("," + inner).join(parts) + line + "}"
    if isinstance(value, list) and value:
        return "[" + inner + ("," + inner).join(_render(item, inner) for item in value) + line + "]"
    return json.dumps(value)
