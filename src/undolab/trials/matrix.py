"""The matrix: which arms a study has, trial by trial, in one fixed order."""

from collections.abc import Iterator

import msgspec

from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.wire import ArmId


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


def arms_per_trial(study: Study) -> int:
    """Return how many arms each trial has."""
    others = sum(method != "none" for method in study.methods)
    return 1 + others + len(study.boundaries) * len(study.methods)
