"""What of a study is recorded, and what the rest would cost: found by replaying each arm until a record is missing."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from undolab.agents.base import Agent, Exchange, TaskView, Turn
from undolab.model.canon import canonical
from undolab.model.config import Study
from undolab.model.fault import Exposure
from undolab.model.record import ChatAnswer, ChatRequest, Completion, CompletionRequest, Outcome
from undolab.model.wire import ArmId
from undolab.models.budget import Budget
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.models.replay import HttpReplayBackend, MissingRecordError, ReplayBackend, UnansweredError
from undolab.models.sources import open_store, replay
from undolab.models.store import HttpStore, RecordStore
from undolab.trials.arm import MakeAgent, Task, run_arm
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
    infra_errors: int
    """Of the missing arms, those whose next call was made, and no attempt brought an answer."""
    invalid: int
    """Arms whose injection has no witness."""
    attempts: int
    """Recorded HTTP attempts; 0 where every model runs in this process."""
    unanswered: int
    """Of these, attempts that brought no answer: rate limits, errors of the service, cut or unreadable answers."""
    calls: int
    """Model calls still to make, at most: calls that several arms share are counted for each."""
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """About what these calls cost; None where no model that still has calls has a price."""

    def text(self) -> str:
        """Return the status in a few sentences."""
        recorded = self.arms - self.missing_arms
        first = f"{self.arms} arms: {recorded} recorded, {self.missing_arms} missing, {self.invalid} invalid."
        if self.infra_errors:
            first += f" {self.infra_errors} of the missing are INFRA_ERROR: the service gave no answer; recording asks again."
        if self.attempts:
            first += f" {self.attempts} HTTP attempts, {self.unanswered} of them without an answer."
        if not self.missing_arms:
            return f"{first} No model call is needed."
        cost = "" if self.usd is None else f", {self.usd:.4f} US dollars"
        return (
            f"{first} About {self.calls} model calls at most are needed: {self.prompt_tokens} prompt tokens, "
            f"{self.completion_tokens} completion tokens{cost} (estimates)."
        )


def missing(
    tasks: Sequence[Task],
    study: Study,
    models: Mapping[str, ModelConfig | ApiConfig],
    pilot: Path | None = None,
) -> Status:
    """Replay every arm of the study and count what has no record.

    Args:
        tasks: the workflows made ready.
        study: the matrix.
        models: every configured model.
        pilot: look into this file of records instead of the study's; the study must have one model.
    """
    arms = lacking = infra = invalid = calls = prompt = 0
    dollars: list[float] = []
    stores: dict[tuple[str, str], RecordStore | HttpStore] = {}
    for task in tasks:
        meters: dict[str, _Meter] = {}
        for name in study.models:
            at = name, task.workflow.split.value
            if at not in stores:
                stores[at] = open_store(find_model(models, name), pilot or store_path(*at))
            meters[name] = _Meter(replay(stores[at]))
        make = make_agents(models, dict(meters))
        per_arm = len(task.workflow.plan) + 1
        for trial in trials(task.workflow.id, study):
            for arm in (trial.control, *trial.transparency, *trial.faults):
                plans = schedule(task.workflow, task.catalogue, arm.boundary, arm.method)
                if plans is None:
                    continue
                arms += 1
                meter = meters[arm.model]
                turns: list[int] = []
                live = partial(_counted, make, task, arm, turns)
                try:
                    run = run_arm(task, arm, live(), plans, revive=live)
                    invalid += run.verdict.exposure is Exposure.INVALID_INJECTION
                except MissingRecordError as error:
                    lacking += 1
                    infra += isinstance(error, UnansweredError)
                    left = max(1, per_arm - len(turns))
                    calls += left
                    tokens = left * meter.last_prompt // _CHARACTERS_A_TOKEN
                    prompt += tokens
                    model = models[arm.model]
                    if isinstance(model, ApiConfig) and model.price is not None:
                        dollars.append(Budget(model.price).cost(tokens, left * _COMPLETION_TOKENS))
    outcomes = [
        attempt.outcome for store in stores.values() if isinstance(store, HttpStore) for attempt in store
    ]
    return Status(
        arms=arms,
        missing_arms=lacking,
        infra_errors=infra,
        invalid=invalid,
        attempts=len(outcomes),
        unanswered=sum(outcome is not Outcome.ANSWERED for outcome in outcomes),
        calls=calls,
        prompt_tokens=prompt,
        completion_tokens=calls * _COMPLETION_TOKENS,
        usd=sum(dollars) if dollars else None,
    )


class _Counted:
    def __init__(self, inner: Agent, turns: list[int]) -> None:
        self._inner = inner
        self._turns = turns

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        turn = self._inner.act(view, history)
        self._turns.append(len(history))
        return turn

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        return self._inner.seen(view, history)


def _counted(make: MakeAgent, task: Task, arm: ArmId, turns: list[int], resume: int = 0) -> Agent:
    return _Counted(make(task, arm, resume), turns)


class _Meter:
    def __init__(self, inner: ReplayBackend | HttpReplayBackend) -> None:
        self._inner = inner
        self.last_prompt = 0

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.last_prompt = len(request.prompt)
        return self._inner.complete(request, ordinal)

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        self.last_prompt = len(canonical(request))
        if not isinstance(self._inner, HttpReplayBackend):
            raise TypeError("only services chat")
        return self._inner.chat(request, ordinal)
