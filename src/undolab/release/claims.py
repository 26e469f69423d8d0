"""The claims audit: what we say, which rule makes it, where its number stands, and whether it still stands there.

A claim has two parts that are kept apart. Its `value` is written by a command from the released files, never by hand, so
a new release brings it up to date. Its `holds` is written by a person and never refreshed: the relation that must be true
for the sentence to be true. A release under which it is not is refused, and so a sentence cannot outlive its numbers.
"""

import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from undolab.model.errors import UndolabError
from undolab.model.load import read_yaml
from undolab.release import layout, manifest
from undolab.release.files import file_digest
from undolab.release.find import Find, Reader, Value, find, near

CLAIMS = "data/claims.yaml"
MEASURED = "data/measurements/paths.json"

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Holds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be true of the value for the sentence to be true."""

    relation: Literal["==", "<", "<=", ">", ">="]
    than: Value | None = None
    """A fixed value; or else …"""
    file: str = ""
    """… one in this released file (by default that of the claim), …"""
    find: Find | None = None
    """… found so."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing we say."""

    id: str
    claim: str
    """The sentence."""
    where: str
    """Where we say it."""
    rule: str
    """The Snakemake rule that makes the file."""
    file: str
    """Released path of the file that holds the value."""
    find: Find
    value: Value | None
    tolerance: float = 0
    holds: Holds | None = None
    command: str
    """What a reviewer runs to make the file again, as it is named in the file of measured paths."""
    minutes: int | None
    """What that took when measured, rounded up; null where it was not measured."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one claim."""

    id: str
    claim: str
    rule: str
    file: str
    find: str
    value: Value | None
    tolerance: float
    found: Value | None
    """In the released file; null where it cannot be read."""
    built: Value | None
    """In the build; null where there is none."""
    minutes: int | None
    problems: list[str]
    """One sentence each; none if the claim stands."""

    @property
    def ok(self) -> bool:
        """True if the claim stands."""
        return not self.problems


def load(root: Path) -> list[Claim]:
    """Return the claims.

    Raises:
        UndolabError: the file is missing or malformed, or an id is there twice.
    """
    try:
        claims = msgspec.convert(read_yaml(root / CLAIMS), type=list[Claim])
    except msgspec.ValidationError as error:
        raise UndolabError(f"{CLAIMS}: {error}; mend it there") from error
    ids = [claim.id for claim in claims]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise UndolabError(f"{CLAIMS}: the id {twice} is there twice; rename one of them")
    return claims


def check(root: Path, build: Path) -> list[Checked]:
    """Check every claim against the released files, and against the build where it holds the file.

    Raises:
        UndolabError: the claims or the manifest cannot be read.
    """
    covered = manifest.read(root)
    minutes = measured(root)
    return [_checked(root, build, claim, covered, minutes) for claim in load(root)]


def refreshed(root: Path, covered: Mapping[str, str], read: Reader) -> bytes:
    """Return the file of claims with each value and its minutes as they are now; every other byte stays.

    Args:
        root: root of the repository.
        covered: path to digest, of what is or will be released.
        read: from released path to the file to read.

    Raises:
        UndolabError: a value is not found, or a claim would no longer hold; it names the claim.
    """
    minutes = measured(root)
    claims = load(root)
    text = (root / CLAIMS).read_text(encoding="utf-8")
    changes: list[tuple[int, int, str]] = []
    for claim, span in zip(claims, _spans(text), strict=True):
        try:
            value = find(claim.find, claim.file, read, covered)
            broken = _broken(claim, value, read, covered)
        except UndolabError as error:
            raise UndolabError(f"claim {claim.id}: {error}") from error
        if broken:
            raise UndolabError(f"claim {claim.id}: {broken}; change the sentence before releasing")
        new: dict[str, Value | None] = {"value": value, "minutes": minutes.get(claim.command)}
        changes += [(*span[key], _scalar(item)) for key, item in new.items()]
    for start, end, scalar in sorted(changes, reverse=True):
        text = text[:start] + scalar + text[end:]
    return text.encode()


def _checked(
    root: Path, build: Path, claim: Claim, covered: Mapping[str, str], minutes: Mapping[str, int]
) -> Checked:
    problems = []
    found = built = None
    released: Reader = lambda name: root / name  # noqa: E731 - two readers beside each other
    rebuilt: Reader = lambda name: _in_build(root, build, name)  # noqa: E731
    if claim.find.files is None and claim.file not in covered:
        problems.append(f"{claim.file} is not in {layout.MANIFEST}, so it is not released.")
    else:
        names = {claim.file, claim.holds.file if claim.holds and claim.holds.file else claim.file}
        problems += [
            f"{name} was changed since its release."
            for name in sorted(names)
            if not _as_released(root, name, covered)
        ]
        try:
            found = find(claim.find, claim.file, released, covered)
            problems += _differs(claim, found, f"{claim.file} says")
            if broken := _broken(claim, found, released, covered):
                problems.append(f"{broken}.")
        except UndolabError as error:
            problems.append(f"{error}.")
    if claim.find.files is None and rebuilt(claim.file) != root / claim.file:
        try:
            built = find(claim.find, claim.file, rebuilt, covered)
            problems += _differs(claim, built, f"the build ({rebuilt(claim.file)}) says")
        except UndolabError as error:
            problems.append(f"{error}.")
    took = minutes.get(claim.command)
    if claim.minutes != took:
        problems.append(f"it says {claim.minutes} minutes, and {MEASURED} says {took} for `{claim.command}`.")
    return Checked(
        id=claim.id, claim=claim.claim, rule=claim.rule, file=claim.file, find=claim.find.words(), value=claim.value,
        tolerance=claim.tolerance, found=found, built=built, minutes=claim.minutes, problems=problems,
    )  # fmt: skip


def _differs(claim: Claim, value: Value, who: str) -> list[str]:
    if claim.value is not None and near(value, claim.value, claim.tolerance):
        return []
    return [
        f"{who} {value} for {claim.find.words()}, and the claim says {claim.value} ± {claim.tolerance:g}."
    ]


def _broken(claim: Claim, value: Value, read: Reader, covered: Mapping[str, str]) -> str:
    holds = claim.holds
    if holds is None:
        return ""
    if (holds.than is None) == (holds.find is None):
        raise UndolabError("`holds` needs either `than` or `find`")
    other = holds.than if holds.find is None else find(holds.find, holds.file or claim.file, read, covered)
    if isinstance(value, str) != isinstance(other, str):
        raise UndolabError(f"{value!r} cannot be compared with {other!r}")
    if _RELATIONS[holds.relation](value, other):
        return ""
    return f"it holds no longer: {value} is not {holds.relation} {other}"


def _as_released(root: Path, name: str, covered: Mapping[str, str]) -> bool:
    path = root / name
    return name not in covered or not path.is_file() or file_digest(path) == covered[name]


def _in_build(root: Path, build: Path, name: str) -> Path:
    """Return the build's copy of a released file, or the file itself where a build makes none or has none."""
    made = layout.built_path(name)
    return build / made if made is not None and (build / made).is_file() else root / name


def measured(root: Path) -> dict[str, int]:
    """Return command to minutes, rounded up, of the paths that were measured; empty where none were.

    Raises:
        UndolabError: the file of measurements is malformed.
    """
    path = root / MEASURED
    if not path.is_file():
        return {}
    try:
        seconds = msgspec.json.decode(path.read_bytes())["seconds"]
        return {command: max(1, math.ceil(value / 60)) for command, value in seconds.items()}
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise UndolabError(f"{MEASURED} has no `seconds` of command to number; measure again") from error


def _spans(text: str) -> list[dict[str, tuple[int, int]]]:
    """Return for each claim where the scalars of its members stand in the text."""
    found: list[dict[str, tuple[int, int]]] = []
    top = yaml.compose(text, yaml.SafeLoader)
    for item in top.value if top is not None else []:
        places = {key.value: (value.start_mark.index, value.end_mark.index) for key, value in item.value}
        found.append(places)
    return found


def _scalar(value: Value | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return msgspec.json.encode(value).decode() if isinstance(value, str) else repr(value)
