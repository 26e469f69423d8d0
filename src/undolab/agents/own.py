"""Agents of one's own: asked over a line, in a process of their own, and whatever goes wrong there is the agent's failure.

Equal requests are answered from memory, as a model's are from its records: a fault arm is then its control up to the fault,
even if the agent would not say the same twice.
"""

import secrets
from collections import Counter
from collections.abc import MutableMapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from undolab.agents.base import Exchange, TaskView, Turn
from undolab.agents.protocol import AgentFailureError, AgentRequest, read_answer, request
from undolab.model.canon import call_seed, canonical, digest, resumed_seed

Memory: TypeAlias = MutableMapping[tuple[str, int], Turn]
"""Answers by the request's digest and how often it was made before in the same arm."""


class Line(Protocol):
    """The way to the agent."""

    def ask(self, data: bytes) -> bytes:
        """Send one request and return the answer.

        Raises:
            AgentFailureError: none came in time.
        """
        ...


class OwnAgent:
    """An agent over a line; one object a life of an arm's agent process.

    Args:
        line: the way to it.
        trial_seed: seed of the trial.
        resume: how often its process has died before.
        memory: answers of the same run; equal requests of its arms share them.
    """

    def __init__(self, line: Line, trial_seed: int, resume: int, memory: Memory) -> None:
        self._line = line
        self._seed = resumed_seed(trial_seed, resume)
        self._memory = memory
        self._session = secrets.token_hex(8)
        self._asked: Counter[str] = Counter()

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Return the agent's next turn; a failure is a turn that says why."""
        asked = self._request(view, history)
        key = _digest(asked)
        self._asked[key] += 1
        place = (key, self._asked[key])
        if place not in self._memory:
            try:
                self._memory[place] = read_answer(self._line.ask(canonical(asked)))
            except AgentFailureError as failure:
                self._memory[place] = Turn(said="", error=str(failure))
        return self._memory[place]

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of the request without its session and its seed: after a death the same is seen again."""
        return _digest(msgspec.structs.replace(self._request(view, history), seed=0))

    def _request(self, view: TaskView, history: Sequence[Exchange]) -> AgentRequest:
        return request(view, history, call_seed(self._seed, len(history) + 1), self._session)


def _digest(asked: AgentRequest) -> str:
    return digest(msgspec.structs.replace(asked, session=""))
