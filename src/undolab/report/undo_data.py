"""What the undo part of the paper is made from: the counts of the histories, those of the model study, measured times."""

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from undolab.model.errors import UndolabError

_File = TypeVar("_File")
POLICY_NAMES = {
    "snapshot": "whole copy",
    "mapped": "opposite operation",
    "value": "value guard",
    "object": "object guard",
    "field": "component guard",
    "undoscope": "UndoScope",
    "deny": "deny all",
    "tagged": "tag-aware guard (ours)",
    "merge": "three-way merge (ours)",
    "rebuild": "log rebuild (ours)",
    "undolab": "Undolab store",
}
"""Policy to its name in figures and tables."""
BRANCH_NAMES = {
    "mapped": "opposite operation",
    "undoscope": "UndoScope",
    "unscoped": "UndoScope without scope",
    "undolab": "Undolab store",
}
"""Branch of the model study to its name."""


class Histories(msgspec.Struct, frozen=True, kw_only=True):
    """`histories-summary.json`, as far as it is shown."""

    depth: int
    histories: int
    policies: dict[str, dict[str, int]]
    by_kind: dict[str, dict[str, dict[str, int]]]
    by_kind_ours: dict[str, dict[str, dict[str, int]]]
    damage: dict[str, dict[str, int]]

    @property
    def shown(self) -> dict[str, dict[str, int]]:
        """The policies' counts in the order of `POLICY_NAMES`."""
        return {name: self.policies[name] for name in POLICY_NAMES if name in self.policies}

    def kind(self, kind: str, policy: str) -> dict[str, int]:
        """Return the counts of one kind and policy."""
        return {**self.by_kind[kind], **self.by_kind_ours[kind]}[policy]


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """`study-summary.json`, as far as it is shown; cells are `model/prompt or condition/branch`."""

    tasks: int
    responses: int
    branches: int
    cells: dict[str, dict[str, int]]

    def rows(self) -> list[tuple[str, str]]:
        """Return (model, prompt) of every part of the study, in its order."""
        models = sorted({cell.split("/")[0] for cell in self.cells})
        return [(model, prompt) for model in models for prompt in ("ordinary", "hardened")]

    def cell(self, model: str, part: str, branch: str) -> dict[str, int]:
        """Return the counts of one cell."""
        return self.cells[f"{model}/{part}/{branch}"]


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """`data/measurements/undo-latency.json`: times of single recoveries."""

    machine: dict[str, Any]
    rounds: int
    microseconds: dict[str, list[float]]


def histories(build: Path) -> Histories:
    """Return the histories' counts of a build."""
    return _read(build / "undo" / "histories-summary.json", Histories, "`undolab undo histories` makes it")


def study(build: Path) -> Study:
    """Return the model study's counts of a build."""
    return _read(build / "undo" / "study-summary.json", Study, "`undolab undo models` makes it")


def latency(folder: Path) -> Latency:
    """Return the measured times from `data/measurements`."""
    how = "restore it, or measure anew with `python benchmarks/undo_latency.py --record`"
    return _read(folder / "undo-latency.json", Latency, how)


def _read(path: Path, kind: type[_File], how: str) -> _File:
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), kind)
    except FileNotFoundError as error:
        raise UndolabError(f"{path} is missing; {how}") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UndolabError(f"{path} has not the right form ({error}); {how}") from error
