"""The frozen matrix: the cells that must be there before any pooled number, and the planned contrasts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import msgspec

from undolab.model.config import MAIN, Config
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.stats.metrics import METRICS


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Contrasts that share one Holm correction, in each model and framework apart."""

    name: str
    metric: str
    contrasts: list[tuple[str, str]]
    """(a, b) stands for a minus b: two methods at `boundary`, or two boundaries, for each method."""
    boundary: str = ""
    """Empty: the contrasts are between boundaries."""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Every trial that the study promises, in the order in which tables show it, and how it is analysed."""

    workflows: list[str]
    models: list[str]
    frameworks: list[str]
    boundaries: list[str]
    methods: list[str]
    seeds: list[int]
    prompt: str
    """Prompt mode, the same in all cells."""
    examples: str
    """Variant of the worked examples, the same in all cells."""
    replicates: int
    """B of the bootstrap."""
    bootstrap_seed: int
    families: list[Family]
    not_applicable: list[tuple[str, str, str]] = []
    """Workflow, boundary and method of each combination that has no cell, because no fault can be scheduled in it."""

    def controls(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield (workflow, model, framework, seed) of every control arm."""
        yield from product(self.workflows, self.models, self.frameworks, self.seeds)

    def faults(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Yield (workflow, model, framework, boundary, method, seed) of every fault arm."""
        absent = set(self.not_applicable)
        for workflow, model, framework, boundary, method, seed in product(
            self.workflows, self.models, self.frameworks, self.boundaries, self.methods, self.seeds
        ):
            if (workflow, boundary, method) not in absent:
                yield workflow, model, framework, boundary, method, seed


def matrix_from(
    config: Mapping[str, Any],
    workflows: Sequence[str],
    name: str = MAIN,
    not_applicable: Sequence[tuple[str, str, str]] = (),
) -> Matrix:
    """Return the matrix of a study in a parsed `config/config.yaml` over the workflows of its split.

    PRE minus POST, for each method, is added as one family for each metric that has a family. A side study takes of the
    families what its boundaries and methods have.

    Raises:
        UndolabError: the configuration has a wrong shape, or a family names what the study has not.
    """
    try:
        checked = msgspec.convert(config, Config)
    except msgspec.ValidationError as error:
        raise UndolabError(f"The configuration describes no study: {error}; mend that key.") from error
    study, stats = checked.one(name), checked.stats
    matrix = Matrix(
        workflows=sorted(workflows),
        models=study.models,
        frameworks=study.frameworks,
        boundaries=[str(boundary) for boundary in study.boundaries],
        methods=study.methods,
        seeds=study.seeds,
        prompt=study.prompt,
        examples=study.examples,
        replicates=stats.replicates,
        bootstrap_seed=stats.seed,
        families=[Family(**msgspec.to_builtins(family)) for family in stats.families],
        not_applicable=list(not_applicable),
    )
    if name == MAIN:
        _check(matrix)
    else:
        matrix = msgspec.structs.replace(matrix, families=list(_within(matrix)))
    return msgspec.structs.replace(matrix, families=[*matrix.families, *_pre_minus_post(matrix)])


def _pre_minus_post(matrix: Matrix) -> list[Family]:
    both = (str(Boundary.PRE_MUTATION), str(Boundary.POST_MUTATION_PRE_ACK))
    if not set(both) <= set(matrix.boundaries):
        return []
    metrics = dict.fromkeys(family.metric for family in matrix.families)
    return [Family(name=f"pre-post-{metric}", metric=metric, contrasts=[both]) for metric in metrics]


def _within(matrix: Matrix) -> Iterator[Family]:
    """Yield the families with the contrasts that the matrix has cells for; one without any keeps its metric alone."""
    for family in matrix.families:
        levels = matrix.methods if family.boundary else matrix.boundaries
        fits = not family.boundary or family.boundary in matrix.boundaries
        kept = [pair for pair in family.contrasts if fits and set(pair) <= set(levels)]
        yield msgspec.structs.replace(family, contrasts=kept)


def _check(matrix: Matrix) -> None:
    for family in matrix.families:
        named = {name for pair in family.contrasts for name in pair}
        known = {*matrix.methods, *matrix.boundaries, *METRICS}
        bad = sorted({*named, family.boundary, family.metric} - known)
        if bad:
            raise UndolabError(
                f"Family {family.name!r} in stats.families names what the study has not: {', '.join(bad)};"
                " mend it."
            )
