"""Running the trials of one workflow and checking that each pair is a pair."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import msgspec

from undolab.model.config import Study
from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId
from undolab.models.openai_http import InfraError
from undolab.recovery import declared
from undolab.trials.arm import ArmRun, MakeAgent, Task, run_arm
from undolab.trials.matrix import Trial, trials
from undolab.trials.prefix import Prefix, compare_prefix, visible
from undolab.trials.schedule import schedule

Failed: TypeAlias = Callable[[ArmId, InfraError], None]
"""Hears of each arm that is INFRA_ERROR: it has no verdict, and runs again the next time."""


class PairRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was checked of one arm against its control."""

    arm: str
    check: str
    """`prefix` for a fault arm, `transparency` for a control with a method on."""
    exposure: Exposure
    equal: bool
    compared: int
    seen_at_fault: str = ""
    difference: str = ""


def run_workflow(
    task: Task, study: Study, make_agent: MakeAgent, failed: Failed | None = None
) -> Iterator[tuple[ArmRun, PairRow | None]]:
    """Yield every arm of one workflow with its pair check; control arms first in each trial.

    Raises:
        InfraError: a service gave no answer, and there is no `failed` to hear of it.
        UndolabError: an injection has no witness, a fault was not exposed although the control passed, or a fault arm is not
            its control before the fault: a bug of the harness, never a result.
    """
    for trial in trials(task.workflow.id, study):
        yield from run_trial(task, trial, make_agent, failed)


def run_trial(
    task: Task, trial: Trial, make_agent: MakeAgent, failed: Failed | None = None
) -> Iterator[tuple[ArmRun, PairRow | None]]:
    """Yield the arms of one trial; without a control it has none, since each of them starts with the control's calls."""
    control = _attempt(
        trial.control, failed, partial(run_arm, task, trial.control, make_agent(task, trial.control))
    )
    if isinstance(control, InfraError):
        for arm in (*trial.transparency, *trial.faults):
            if failed and schedule(task.workflow, task.catalogue, arm.boundary, arm.method) is not None:
                failed(arm, control)
        return
    yield control, None
    for arm in trial.transparency:
        run = _attempt(arm, failed, partial(run_arm, task, arm, make_agent(task, arm)))
        if isinstance(run, InfraError):
            continue
        adds = declared(arm.method)
        left, right = visible(control.log.lines, adds), visible(run.log.lines, adds)
        equal = left == right
        yield (
            run,
            PairRow(
                arm=arm.name(),
                check="transparency",
                exposure=Exposure.NO_FAULT,
                equal=equal,
                compared=min(len(left), len(right)),
                difference="" if equal else "the method changed what the agent or the world did",
            ),
        )
    for arm in trial.faults:
        plans = schedule(task.workflow, task.catalogue, arm.boundary, arm.method)
        if plans is None:
            continue
        revive = partial(make_agent, task, arm)
        run = _attempt(arm, failed, partial(run_arm, task, arm, revive(), plans, revive=revive))
        if isinstance(run, InfraError):
            continue
        _refuse_broken_fault(control.verdict, run.verdict)
        adds = declared(arm.method)
        prefix = compare_prefix(arm.name(), run.verdict.exposure, control.log.lines, run.log.lines, adds)
        if not prefix.equal:
            raise UndolabError(
                f"{prefix.arm}: before its fault the arm is not its control ({prefix.difference}); mend the harness"
            )
        yield run, _prefix_row(prefix)


def _attempt(arm: ArmId, failed: Failed | None, run: Callable[[], ArmRun]) -> ArmRun | InfraError:
    try:
        return run()
    except InfraError as error:
        if failed is None:
            raise
        failed(arm, error)
        return error


def _prefix_row(prefix: Prefix) -> PairRow:
    return PairRow(
        arm=prefix.arm,
        check="prefix",
        exposure=prefix.exposure,
        equal=prefix.equal,
        compared=prefix.compared,
        seen_at_fault=prefix.seen_at_fault,
        difference=prefix.difference,
    )


def _refuse_broken_fault(control: Verdict, fault: Verdict) -> None:
    name = fault.arm.name()
    if fault.exposure is Exposure.INVALID_INJECTION:
        raise UndolabError(f"{name}: the fault was injected but has no witness; mend the injector")
    if fault.exposure is Exposure.NOT_EXPOSED and control.passed:
        raise UndolabError(
            f"{name}: the control passed, yet the fault never met its target; mend the scenario of the workflow"
        )
