"""One task from its first prompt to its last report: three answers, four branches, everything judged from state."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from undolab.model.canon import call_seed
from undolab.model.record import CompletionRequest
from undolab.models.backend import Backend, request_key
from undolab.models.config import Settings
from undolab.planners.branch import ANSWERED, BRANCHES, STORE, Fixture, Result, execute, fixture, in_store
from undolab.planners.prompt import (
    CALL_GRAMMAR,
    FINISH_GRAMMAR,
    MAX_TOKENS,
    STOP,
    Call,
    final_prompt,
    first_prompt,
    read_call,
    read_claim,
)
from undolab.planners.tasks import SEED, Task, tasks


class Answer(NamedTuple):
    """One recorded answer: its key and ordinal, the raw text, and how it ended."""

    key: str
    ordinal: int
    text: str
    finish_reason: str

    @property
    def record(self) -> str:
        """The record as tables name it."""
        return f"{self.key}#{self.ordinal}"


class Branch(NamedTuple):
    """One branch: its name, what came of the choice, and the model's report where it was told of it."""

    name: str
    result: Result
    answer: Answer | None
    claim: str


class Episode(NamedTuple):
    """One task of one model."""

    model: str
    task: Task
    first: Answer
    call: Call
    branches: tuple[Branch, ...]

    @property
    def ident(self) -> str:
        """The task's id in the tables."""
        return self.task.ident(self.model)

    @property
    def target(self) -> str:
        """Whose receipt was chosen: `own`, `other`, `unknown`, or "" where none was."""
        names = self.task.names
        known = {names.own: "own", names.other: "other"}
        return known.get(self.call.argument, "unknown") if self.call.tool == "recover_effect" else ""


def episodes(models: Mapping[str, Settings], backends: Mapping[str, Backend]) -> Iterator[Episode]:
    """Yield every task of every model, asking each model's backend for its three answers.

    Raises:
        UndolabError: a backend has no answer.
    """
    for name, settings in models.items():
        for task in tasks():
            yield play(name, task, settings, backends[name])


def play(model: str, task: Task, settings: Settings, backend: Backend) -> Episode:
    """Return one task: the choice, its four branches, and a report on each of the first two."""
    asked: Counter[str] = Counter()

    def ask(prompt: str, grammar: str, turn: int) -> Answer:
        request = request_of(settings, task, prompt, grammar, turn)
        key = request_key(request)
        asked[key] += 1
        found = backend.complete(request, asked[key])
        return Answer(key, asked[key], found.text, found.finish_reason)

    first = ask(first_prompt(task), CALL_GRAMMAR, 1)
    call = read_call(first.text, first.finish_reason)
    branches = []
    for branch in BRANCHES:
        result = execute(fresh(task), call, branch)
        answer, claim = None, ""
        if branch in ANSWERED:
            # The transcript goes on with the line as it was written, whatever became of it.
            answer = ask(final_prompt(task, first.text, result.status), FINISH_GRAMMAR, 2)
            claim = read_claim(answer.text, answer.finish_reason)
        branches.append(Branch(branch, result, answer, claim))
    branches.append(Branch(STORE, in_store(fresh(task), call, task.peers), None, ""))
    return Episode(model, task, first, call, tuple(branches))


def fresh(task: Task) -> Fixture:
    """Return the fixture of a task as it is before any choice."""
    return fixture(task.kind, task.peers, task.names.own, task.names.other)


def request_of(settings: Settings, task: Task, prompt: str, grammar: str, turn: int) -> CompletionRequest:
    """Return a request, whole: model, prompt, grammar and every sampling field."""
    seed = call_seed(SEED + task.variant, turn)
    sampling = msgspec.structs.replace(settings.sampling, max_tokens=MAX_TOKENS, seed=seed)
    return CompletionRequest(
        model=settings.identity, prompt=prompt, grammar=grammar, stop=[STOP], sampling=sampling
    )
