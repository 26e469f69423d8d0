"""What an agent of one's own is asked and may answer: one JSON object each way a turn (docs/reference/agent-protocol.md)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from undolab.agents.base import Exchange, PublicTool, TaskView, ToolCall, Turn
from undolab.model.calls import FinalReport, Reply
from undolab.model.canon import canonical
from undolab.model.workflow import Step

MAX_CALLS = 100
"""Calls in one answer."""
MAX_BYTES = 1 << 20
"""Length of one answer."""
_REASON_CHARS = 300


class PastTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of before, with the replies to its calls in their order."""

    said: str
    calls: list[ToolCall]
    replies: list[Reply]


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an agent may base its next turn on. It holds no id of the task, no fault and no goal."""

    protocol: Literal[1] = 1
    session: str
    """Another one for every life of every arm; it means nothing else."""
    turn: int
    """From 1."""
    max_turns: int
    seed: int
    """For whatever the agent draws in this turn."""
    objective: str
    steps: list[Step]
    """The runbook; empty in objective mode."""
    tools: list[PublicTool]
    history: list[PastTurn]


class AgentAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The calls of the next turn, or the report that ends the task."""

    calls: list[ToolCall] = []
    report: Literal["done", "not_done", "unknown"] | None = None
    said: str = ""
    """Whatever the agent wants to find in its history."""


TYPES: Mapping[str, Any] = MappingProxyType({"agent-request": AgentRequest, "agent-answer": AgentAnswer})
"""Name of the published schema to the type it describes."""


class AgentFailureError(Exception):
    """The agent did not answer as it must; the text is the reason, in the words of the log."""


def request(view: TaskView, history: Sequence[Exchange], seed: int, session: str) -> AgentRequest:
    """Return the request of the next turn."""
    return AgentRequest(
        session=session,
        turn=len(history) + 1,
        max_turns=view.max_turns,
        seed=seed,
        objective=view.objective,
        steps=view.steps,
        tools=view.tools,
        history=[PastTurn(said=e.turn.said, calls=e.turn.calls, replies=e.replies) for e in history],
    )


def read_answer(data: bytes) -> Turn:
    """Return the turn that an answer stands for.

    Raises:
        AgentFailureError: it is none.
    """
    try:
        answer = msgspec.json.decode(data, type=AgentAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AgentFailureError(f"its answer is not valid: {short(error)}") from error
    if bool(answer.calls) is (answer.report is not None):
        raise AgentFailureError("its answer must have either calls or a report")
    if len(answer.calls) > MAX_CALLS:
        raise AgentFailureError(f"its answer has {len(answer.calls)} calls; at most {MAX_CALLS} are made")
    try:
        said = answer.said or canonical(answer.calls or {"report": answer.report}).decode()
    except ValueError as error:
        raise AgentFailureError(f"the arguments have no canonical JSON form: {short(error)}") from error
    report = None if answer.report is None else FinalReport(answer.report)
    return Turn(said=said, calls=answer.calls, report=report)


def short(error: object) -> str:
    """Return an error's text on one line, cut to a length that a log can hold."""
    text = " ".join(str(error).encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"
