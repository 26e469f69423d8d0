"""Where a number stands: one value, a count or a sum in a released CSV or JSON file, found by row or pointer.

Claims and documents name their numbers in this way, so that anyone can look them up without running our code.
"""

import csv
import json
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.load import read_yaml

Value = int | float | str | bool
Reader = Callable[[str], Path]
"""From a released path to the file to read: the released one, or its copy in a build."""


class Find(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a value is found. Exactly one member besides `row` and `same` says what is taken."""

    pointer: str | None = None
    """JSON pointer (RFC 6901) into a JSON or YAML file."""
    length: str | None = None
    """How many items the list or mapping at this pointer has."""
    column: str | None = None
    """The value of this column in the one row of a CSV file that `row` chooses."""
    count: bool = False
    """How many rows of a CSV file `row` and `same` choose."""
    distinct: str | None = None
    """How many different values this column has in the chosen rows."""
    sum: str | None = None
    """The sum of this column, whole numbers, over the chosen rows."""
    files: str | None = None
    """How many covered files have a path that matches this pattern."""
    row: dict[str, str] = {}
    """Column to value: a row is chosen if it has all of these."""
    same: list[str] = []
    """A row is chosen if these columns are equal in it."""

    def words(self) -> str:
        """Return in a few words what is taken."""
        chosen = ", ".join(f"{name} = {value}" for name, value in self.row.items())
        chosen += (", " if chosen and self.same else "") + " = ".join(self.same)
        where = f" where {chosen}" if chosen else ""
        if self.pointer is not None:
            return self.pointer
        if self.length is not None:
            return f"length of {self.length}"
        if self.count:
            return f"rows{where}"
        if self.distinct is not None:
            return f"different {self.distinct}{where}"
        if self.sum is not None:
            return f"sum of {self.sum}{where}"
        return f"{self.column}{where}" if self.column is not None else f"files {self.files}"


def find(how: Find, name: str, read: Reader, covered: Mapping[str, str]) -> Value:
    """Return the value.

    Args:
        how: how it is found.
        name: released path of the file it is in; not looked at where files are counted.
        read: from released path to file.
        covered: the manifest.

    Raises:
        UndolabError: the file is missing or not of its kind, or no row, more than one row or nothing is chosen.
    """
    kinds = (how.pointer, how.length, how.column, how.count or None, how.distinct, how.sum, how.files)
    if sum(kind is not None for kind in kinds) != 1:
        raise UndolabError(
            f"{name}: say one of pointer, length, column, count, distinct, sum or files, not none or several of them"
        )
    if how.files is not None:
        return sum(fnmatchcase(path, how.files) for path in covered)
    path = read(name)
    if not path.is_file():
        raise UndolabError(f"{path} is not there; build it, or restore it from the repository")
    if how.length is not None:
        items = _pointed(path, how.length)
        if not isinstance(items, (dict, list)):
            raise UndolabError(f"{path} holds no list at {how.length}; name one")
        return len(items)
    if how.pointer is not None:
        leaf = _pointed(path, how.pointer)
        if isinstance(leaf, (dict, list)) or leaf is None:
            raise UndolabError(f"{path} holds no single value at {how.pointer}; name a leaf")
        return number(leaf)
    return _in_rows(path, how)


def number(text: Any) -> Value:
    """Return text as a whole number or float where it is one, and anything else as it is."""
    if not isinstance(text, str):
        return text if isinstance(text, (int, float, bool)) else str(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def near(a: Value, b: Value, tolerance: float) -> bool:
    """Return True if two numbers differ by the tolerance at most, or two other values are equal."""
    if isinstance(a, (str, bool)) or isinstance(b, (str, bool)):
        return type(a) is type(b) and a == b
    # The last bit of a decimal fraction is no difference.
    return abs(a - b) <= tolerance + 1e-12


def _pointed(path: Path, pointer: str) -> Any:
    try:
        here = read_yaml(path) if path.suffix == ".yaml" else json.loads(path.read_bytes())
    except ValueError as error:
        raise UndolabError(f"{path} is no JSON ({error}); build it again") from error
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            here = here[int(key)] if isinstance(here, list) else here[key]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise UndolabError(f"{path} has nothing at {pointer}; name another place") from error
    return here


def _in_rows(path: Path, how: Find) -> Value:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        wanted = [*how.row, *how.same, *(name for name in (how.column, how.distinct, how.sum) if name)]
        lost = next((name for name in wanted if name not in columns), None)
        if lost is not None:
            raise UndolabError(f"{path} has no column {lost!r}; it has {', '.join(columns)}")
        chosen = [
            row
            for row in reader
            if all(row[name] == value for name, value in how.row.items())
            and len({row[name] for name in how.same}) < 2
        ]
    if how.count:
        return len(chosen)
    if how.distinct is not None:
        return len({row[how.distinct] for row in chosen})
    if how.sum is not None:
        try:
            return sum(int(row[how.sum]) for row in chosen)
        except ValueError as error:
            raise UndolabError(
                f"{path} has a value in {how.sum} that is no whole number; it cannot be summed"
            ) from error
    if len(chosen) != 1:
        raise UndolabError(f"{path} has {len(chosen)} rows with {how.words()}; choose exactly one")
    return number(chosen[0][how.column or ""])
