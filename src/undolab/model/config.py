"""The study as configuration: which cells exist, and how their statistics are computed."""

import msgspec

from undolab.model.fault import Boundary
from undolab.model.workflow import Split


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
    stats: Stats
