"""The studies as configuration: which cells exist, and how their statistics are computed."""

import re

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.model.workflow import Split

MAIN = "main"
"""Name of the study under `study:`."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The frozen matrix: every combination of these is a cell that must exist."""

    split: Split
    models: list[str]
    """Names from `config/models.yaml`."""
    frameworks: list[str]
    boundaries: list[Boundary]
    methods: list[str]
    seeds: list[int]
    prompt: str
    """`runbook` or `objective`."""
    examples: str
    """Worked-example variant; `plain` holds no failure."""

    def __post_init__(self) -> None:
        """Refuse a level that is there twice: it would count its trials twice."""
        for name in ("models", "frameworks", "boundaries", "methods", "seeds"):
            levels = getattr(self, name)
            if len(set(levels)) != len(levels):
                raise ValueError(f"`{name}` has an entry twice")


class Family(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One Holm family: contrasts of methods on one metric at one boundary."""

    name: str
    boundary: Boundary
    metric: str
    contrasts: list[tuple[str, str]]
    """Pairs of methods; the first minus the second."""


class Stats(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How intervals are drawn."""

    replicates: int
    seed: int
    families: list[Family]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`config/config.yaml`."""

    study: Study
    """The main study."""
    side_studies: dict[str, Study] = {}
    """Other studies by name; each has cells, files and statistics of its own."""
    stats: Stats

    def __post_init__(self) -> None:
        """Refuse a name that cannot be that of a folder, or is taken."""
        for name in self.side_studies:
            if name == MAIN or not _NAME.fullmatch(name):
                raise ValueError(
                    f"`side_studies` has the name {name!r}; take small letters, digits and `-`, and not {MAIN!r}"
                )

    def studies(self) -> dict[str, Study]:
        """Return every study by name, the main one first."""
        return {MAIN: self.study, **self.side_studies}

    def one(self, name: str) -> Study:
        """Return a study by its name.

        Raises:
            UndolabError: there is none; those there are, are named.
        """
        found = self.studies()
        if name not in found:
            raise UndolabError(f"no study {name!r} in config/config.yaml; it has {', '.join(found)}")
        return found[name]


def place(name: str) -> str:
    """Return where a study's files lie below a build, ready to stand before a path: empty for the main study."""
    return "" if name == MAIN else f"side/{name}/"
