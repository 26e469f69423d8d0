"""What of a study is recorded, and what the rest would cost: found by replaying each arm until a record is missing."""

from collections.abc import Mapping, Sequence

import msgspec

from undolab.model.config import Study
from undolab.model.fault import Exposure
from undolab.model.record import Completion, CompletionRequest
from undolab.models.backend import Backend
from undolab.models.config import ModelConfig
from undolab.models.replay import MissingRecordError, ReplayBackend
from undolab.models.store import RecordStore
from undolab.trials.arm import Task, run_arm
from undolab.trials.matrix import fault_plan, trials
from undolab.trials.source import make_agents, store_path

_CHARACTERS_A_TOKEN = 3
"""For plans only."""
_COMPLETION_TOKENS = 30
"""A call of a tool on one line; for plans only."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How far a study is."""

    arms: int
    missing_arms: int
    invalid: int
    """Arms whose injection has no witness."""
    calls: int
    """Model calls still to make, at most: calls that several arms share are counted for each."""
    prompt_tokens: int
    completion_tokens: int

    def text(self) -> str:
        """Return the status in two sentences."""
        recorded = self.arms - self.missing_arms
        first = f"{self.arms} arms: {recorded} recorded, {self.missing_arms} missing, {self.invalid} invalid."
        if not self.missing_arms:
            return f"{first} No model call is needed."
        return (
            f"{first} About {self.calls} model calls at most are needed: {self.prompt_tokens} prompt tokens, "
            f"{self.completion_tokens} completion tokens (estimates)."
        )


def missing(tasks: Sequence[Task], study: Study, models: Mapping[str, ModelConfig]) -> Status:
    """Replay every arm of the study and count what has no record."""
    arms = lacking = invalid = calls = prompt = 0
    for task in tasks:
        meters = {name: _meter(name, task) for name in study.models}
        make = make_agents(models, dict(meters))
        per_arm = len(task.workflow.plan) + 1
        for trial in trials(task.workflow.id, study):
            for arm in (trial.control, *trial.transparency, *trial.faults):
                arms += 1
                meter = meters[arm.model]
                meter.answered = 0
                try:
                    run = run_arm(task, arm, make(task, arm), fault_plan(task.workflow, arm.boundary))
                    invalid += run.verdict.exposure is Exposure.INVALID_INJECTION
                except MissingRecordError:
                    lacking += 1
                    left = max(1, per_arm - meter.answered)
                    calls += left
                    prompt += left * meter.last_prompt // _CHARACTERS_A_TOKEN
    return Status(
        arms=arms,
        missing_arms=lacking,
        invalid=invalid,
        calls=calls,
        prompt_tokens=prompt,
        completion_tokens=calls * _COMPLETION_TOKENS,
    )


class _Meter:
    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.answered = 0
        self.last_prompt = 0

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.last_prompt = len(request.prompt)
        completion = self._inner.complete(request, ordinal)
        self.answered += 1
        return completion


def _meter(model: str, task: Task) -> _Meter:
    return _Meter(ReplayBackend(RecordStore(store_path(model, task.workflow.split))))
