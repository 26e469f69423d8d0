"""The matrix: which arms a study has, trial by trial, in one fixed order."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.wire import ArmId
from undolab.model.workflow import Workflow
from undolab.trials.schedule import schedule


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that shares one control arm: workflow, model, framework, seed."""

    control: ArmId
    transparency: list[ArmId]
    """The control with each method on."""
    faults: list[ArmId]


def trials(workflow: str, study: Study) -> Iterator[Trial]:
    """Yield the trials of one workflow: models, then frameworks, then seeds, in the order of the study."""
    for model in study.models:
        for framework in study.frameworks:
            for seed in study.seeds:
                base = ArmId(
                    workflow=workflow,
                    model=model,
                    framework=framework,
                    boundary=Boundary.NONE,
                    method="none",
                    seed=seed,
                    arm="control",
                )
                yield Trial(
                    control=base,
                    transparency=[
                        msgspec.structs.replace(base, method=method, arm="control+method")
                        for method in study.methods
                        if method != "none"
                    ],
                    faults=[
                        msgspec.structs.replace(base, boundary=boundary, method=method, arm="fault")
                        for boundary in study.boundaries
                        for method in study.methods
                    ],
                )


def arms_per_trial(study: Study, workflow: Workflow, tools: Mapping[str, ToolSpec]) -> int:
    """Return how many arms each trial of a workflow has."""
    others = sum(method != "none" for method in study.methods)
    cells = len(study.boundaries) * len(study.methods)
    return 1 + others + cells - len(not_applicable(study, [workflow], tools))


def not_applicable(
    study: Study, workflows: Iterable[Workflow], tools: Mapping[str, ToolSpec]
) -> list[tuple[str, str, str]]:
    """Return workflow, boundary and method of each cell of the matrix in which no fault can be scheduled."""
    return [
        (workflow.id, boundary.value, method)
        for workflow in workflows
        for boundary in study.boundaries
        for method in study.methods
        if schedule(workflow, tools, boundary, method) is None
    ]
