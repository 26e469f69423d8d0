"""Agents without a model: the gold plan under four policies towards a lost answer. They prove the judge, not themselves."""

from collections.abc import Generator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from undolab.agents.base import Exchange, TaskView, ToolCall, Turn
from undolab.model.calls import FinalReport, Phase, Reply
from undolab.model.canon import canonical, digest
from undolab.model.observe import Seen, reader_arguments, seen
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Step

_ATTEMPTS = 3

_Script: TypeAlias = Generator[Turn, Reply, None]


class Policy(StrEnum):
    """What a scripted agent does when the answer to a call is lost."""

    GOLD = "gold"
    """Stops and reports that the outcome is unknown."""
    ALWAYS_RETRY = "always-retry"
    NEVER_RETRY = "never-retry"
    """Takes the call as done and goes on."""
    VERIFY_FIRST = "verify-first"
    """Reads before each write and again after a lost answer; retries only what is absent, stops at what cannot be known."""


class ScriptedAgent:
    """Walks through the plan; stateless, so that each decision follows from the history alone."""

    def __init__(self, plan: Sequence[Step], tools: Mapping[str, ToolSpec], policy: Policy) -> None:
        """Follow `plan` under `policy`."""
        self._tools = tools
        self._policy = policy
        self._moves = [(step, _asks(step.tool, step.arguments), self._probe(step)) for step in plan]
        self._seen: list[str] = []

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of the task and all exchanges, chained: each step adds one exchange to the digest before it."""
        if not self._seen:
            self._seen.append(digest(view))
        for exchange in history[len(self._seen) - 1 :]:
            self._seen.append(digest([self._seen[-1], exchange]))
        return self._seen[len(history)]

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:  # noqa: ARG002 - the plan is all it follows
        """Return the next call of the plan, or the report."""
        script = self._walk()
        move = next(script)
        for exchange in history:
            move = script.send(exchange.replies[0])
        return move

    def _walk(self) -> _Script:
        for step, call, probe in self._moves:
            before = (yield probe) if probe else None
            reply = yield call
            attempt = 1
            while reply.phase is Phase.UNKNOWN and self._policy is not Policy.NEVER_RETRY:
                if self._policy is Policy.GOLD:
                    yield _ends(FinalReport.UNKNOWN)
                if self._policy is Policy.VERIFY_FIRST:
                    shown = self._judge(step, before, (yield probe)) if probe else Seen.UNKNOWABLE
                    if shown is Seen.UNKNOWABLE:
                        yield _ends(FinalReport.UNKNOWN)
                    if shown is Seen.PRESENT:
                        break
                if attempt == _ATTEMPTS:
                    break
                attempt += 1
                reply = yield call
            if reply.phase is Phase.FAIL and reply.output.get("code") != "already_exists":
                yield _ends(FinalReport.NOT_DONE)
        yield _ends(FinalReport.DONE)

    def _probe(self, step: Step) -> Turn | None:
        observe = self._tools[step.tool].observe
        if self._policy is not Policy.VERIFY_FIRST or observe is None:
            return None
        arguments = reader_arguments(observe, step.arguments)
        return None if arguments is None else _asks(observe.tool, arguments)

    def _judge(self, step: Step, before: Reply | None, after: Reply) -> Seen:
        observe = self._tools[step.tool].observe
        return Seen.UNKNOWABLE if observe is None else seen(observe, step.arguments, before, after)


def _asks(tool: str, arguments: dict[str, Any]) -> Turn:
    call = ToolCall(tool=tool, arguments=arguments)
    return Turn(said=canonical(call).decode(), calls=[call])


def _ends(report: FinalReport) -> Turn:
    return Turn(said=f"finish: {report}", report=report)
