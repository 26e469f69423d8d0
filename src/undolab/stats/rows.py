"""The shapes of `metrics.json` and `contrasts.json`, for those who write them and those who print them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from undolab.model.errors import UndolabError

_File = TypeVar("_File")
_Row = TypeVar("_Row", bound=msgspec.Struct)


class Scope(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Which trials a row is about."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    task: str
    """Workflow id, or `all`."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: a count over a count, its value and its 95 % interval; None is undefined."""

    num: int
    den: int
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int
    """Bootstrap replicates without a value."""


class CellRow(msgspec.Struct, frozen=True, kw_only=True):
    """One cell."""

    scope: Scope
    N: int
    exposed: int
    D: int
    R: int
    F: int
    interval: str
    """`cluster_bootstrap` for all tasks together, `wilson` for one task (its seeds taken as independent)."""
    metrics: dict[str, Estimate]
    failures: dict[str, int]
    """Failure class of the fault arm to number of arms; classes that did not happen are left out."""
    sums: dict[str, int]
    """Totals over the fault arms."""


class ContrastRow(msgspec.Struct, frozen=True, kw_only=True):
    """One planned difference, a minus b, on the draws that both share."""

    family: str
    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    """Empty where a and b are boundaries."""
    method: str
    """Empty where a and b are methods."""
    metric: str
    a: str
    b: str
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int
    p: float | None
    p_holm: float | None
    family_size: int


def in_family(found: Sequence[_Row], adjusted: Sequence[float | None]) -> list[_Row]:
    """Return the rows of one Holm family with their adjusted p-values and the family's size."""
    return [
        msgspec.structs.replace(row, p_holm=p, family_size=len(found))
        for row, p in zip(found, adjusted, strict=True)
    ]


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, for captions and counts."""

    workflows: list[str]
    models: list[str]
    frameworks: list[str]
    boundaries: list[str]
    methods: list[str]
    seeds: list[int]
    prompt: str
    examples: str
    replicates: int
    bootstrap_seed: int
    rules: int


class MetricsFile(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics.json`."""

    study: Study
    cells: list[CellRow]

    def cell(self, model: str, framework: str, boundary: str, method: str, task: str = "all") -> CellRow:
        """Return the cell of these names.

        Raises:
            KeyError: there is none.
        """
        for row in self.cells:
            scope = row.scope
            if (scope.task, scope.method, scope.boundary, scope.framework, scope.model) == (
                task,
                method,
                boundary,
                framework,
                model,
            ):
                return row
        raise KeyError((model, framework, boundary, method, task))


class ContrastsFile(msgspec.Struct, frozen=True, kw_only=True):
    """`contrasts.json`."""

    contrasts: list[ContrastRow]


def read_metrics(stats_dir: Path) -> MetricsFile:
    """Return `metrics.json` of a statistics directory.

    Raises:
        UndolabError: it is missing or has another shape.
    """
    return _read(stats_dir / "metrics.json", MetricsFile)


def read_contrasts(stats_dir: Path) -> list[ContrastRow]:
    """Return the rows of `contrasts.json`.

    Raises:
        UndolabError: it is missing or has another shape.
    """
    return _read(stats_dir / "contrasts.json", ContrastsFile).contrasts


def _read(path: Path, kind: type[_File]) -> _File:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise UndolabError(f"Statistics {path} cannot be read ({error}); compute them again.") from error
