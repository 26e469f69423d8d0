"""What of a study is recorded, and what the rest would cost: found by replaying each arm until a record is missing."""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from undolab.model.canon import canonical
from undolab.model.config import Study
from undolab.model.fault import Exposure
from undolab.model.record import ChatAnswer, ChatRequest, Completion, CompletionRequest
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.models.replay import HttpReplayBackend, MissingRecordError, ReplayBackend
from undolab.models.sources import open_store, replay
from undolab.trials.arm import Task, run_arm
from undolab.trials.matrix import trials
from undolab.trials.schedule import schedule
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


def missing(tasks: Sequence[Task], study: Study, models: Mapping[str, ModelConfig | ApiConfig]) -> Status:
    """Replay every arm of the study and count what has no record."""
    arms = lacking = invalid = calls = prompt = 0
    for task in tasks:
        meters = {name: _meter(find_model(models, name), task) for name in study.models}
        make = make_agents(models, dict(meters))
        per_arm = len(task.workflow.plan) + 1
        for trial in trials(task.workflow.id, study):
            for arm in (trial.control, *trial.transparency, *trial.faults):
                plans = schedule(task.workflow, task.catalogue, arm.boundary, arm.method)
                if plans is None:
                    continue
                arms += 1
                meter = meters[arm.model]
                meter.answered = 0
                try:
                    run = run_arm(task, arm, make(task, arm), plans, revive=partial(make, task, arm))
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
    def __init__(self, inner: ReplayBackend | HttpReplayBackend) -> None:
        self._inner = inner
        self.answered = 0
        self.last_prompt = 0

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.last_prompt = len(request.prompt)
        completion = self._inner.complete(request, ordinal)
        self.answered += 1
        return completion

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        self.last_prompt = len(canonical(request))
        if not isinstance(self._inner, HttpReplayBackend):
            raise TypeError("only services chat")
        answer = self._inner.chat(request, ordinal)
        self.answered += 1
        return answer


def _meter(model: ModelConfig | ApiConfig, task: Task) -> _Meter:
    return _Meter(replay(open_store(model, store_path(model.name, task.workflow.split))))
