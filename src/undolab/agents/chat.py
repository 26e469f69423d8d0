"""The direct loop for models with native tool calling: a chat, any number of calls a turn, and an end in words.

No call comes of an answer that was cut or of arguments that are not whole JSON, and nothing rests on the ids that a
service gives its calls: the messages carry ids of our own, from turn and position.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from undolab.agents.base import Exchange, PublicTool, TaskView, ToolCall, Turn
from undolab.agents.line import REPORTS
from undolab.model.calls import FinalReport, Phase, Reply
from undolab.model.canon import call_seed, canonical, digest, resumed_seed
from undolab.model.record import ChatCall, ChatRequest
from undolab.models.answer import OVERFLOW, read_arguments
from undolab.models.backend import ChatBackend, request_key
from undolab.models.config import Settings

_SYSTEM = (
    "You carry out the task with the tools. When the task is done, when it cannot be done, or when you cannot know whether "
    "it is, call no more tools and end with one line: `finish: done`, `finish: not done` or `finish: unknown`."
)
_FINISH = "finish: "
_WHOLE = {"stop", "tool_calls", "function_call"}
"""Finish reasons of an answer that the model ended itself."""
_BROKEN = {"length": "the answer was truncated", OVERFLOW: "the prompt does not fit"}


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """What the log keeps of an answer as the agent's words."""

    calls: list[ChatCall]
    finish_reason: str
    text: str


def read_words(said: str, record: str = "") -> Turn:
    """Return the turn that a chat agent's words in the log stand for.

    Raises:
        msgspec.DecodeError: they are not the words of a chat agent.
    """
    words = msgspec.json.decode(said, type=_Words)
    try:
        calls = _read_calls(words)
    except ValueError as error:
        return Turn(said=said, error=str(error), record=record)
    if calls:
        return Turn(said=said, calls=calls, record=record)
    if not words.text.strip():
        return Turn(said=said, error="the answer is empty", record=record)
    return Turn(said=said, report=_report(words.text), record=record)


class ChatAgent:
    """A chat over one backend; one object a life of an arm's agent process."""

    def __init__(self, backend: ChatBackend, config: Settings, trial_seed: int, resume: int = 0) -> None:
        self._backend = backend
        self._config = config
        self._trial_seed = resumed_seed(trial_seed, resume)
        self._asked: Counter[str] = Counter()

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Ask the model for the next turn and read it.

        Raises:
            UndolabError: the backend cannot answer.
        """
        request = self.request(view, history)
        key = request_key(request)
        self._asked[key] += 1
        answer = self._backend.chat(request, self._asked[key])
        words = _Words(calls=answer.calls, finish_reason=answer.finish_reason, text=answer.text)
        return read_words(canonical(words).decode(), f"{key}#{self._asked[key]}")

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of messages and tools of the next turn."""
        request = self.request(view, history)
        return digest([request.messages, request.tools])

    def request(self, view: TaskView, history: Sequence[Exchange]) -> ChatRequest:
        """Return the request of the next turn, whole."""
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": _SYSTEM},
            {"role": "user", "content": _task(view)},
        ]
        for turn, exchange in enumerate(history, 1):
            messages += _messages(turn, exchange, self._config.prompt.output_chars)
        return ChatRequest(
            model=self._config.identity,
            messages=messages,
            tools=[_tool(tool) for tool in view.tools],
            sampling=msgspec.structs.replace(
                self._config.sampling, seed=call_seed(self._trial_seed, len(history) + 1)
            ),
        )


def _read_calls(answer: _Words) -> list[ToolCall]:
    """Return the calls of an answer: all of them, or none where one is broken.

    Raises:
        ValueError: the answer was not ended by the model, or a call is broken; the text says why.
    """
    if answer.finish_reason not in _WHOLE:
        raise ValueError(_BROKEN.get(answer.finish_reason, f"the answer ended with {answer.finish_reason!r}"))
    calls = []
    for place, call in enumerate(answer.calls, 1):
        if not call.name:
            raise ValueError(f"call {place} names no tool")
        try:
            arguments = read_arguments(call.arguments)
            # What has no canonical form (half a character, an integer beyond 2**53) can be neither logged nor compared.
            canonical(arguments)
        except (ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"bad arguments in call {place}") from error
        calls.append(ToolCall(tool=call.name, arguments=arguments))
    return calls


def _report(text: str) -> FinalReport:
    """Return what the last line says, or that it says nothing."""
    lines = text.strip().splitlines()
    last = lines[-1].strip(" `*.").lower() if lines else ""
    return (
        REPORTS.get(last.removeprefix(_FINISH), FinalReport.NONE)
        if last.startswith(_FINISH)
        else FinalReport.NONE
    )


def _task(view: TaskView) -> str:
    text = " ".join(view.objective.split())
    if view.steps:
        steps = (
            f"{number}. {step.say}: {step.tool}({canonical(step.arguments).decode()})"
            for number, step in enumerate(view.steps, 1)
        )
        text += "\n\nRunbook:\n" + "\n".join(steps)
    return text


def _tool(tool: PublicTool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _messages(turn: int, exchange: Exchange, limit: int) -> list[dict[str, Any]]:
    calls, replies = [], []
    for position, (call, reply) in enumerate(zip(exchange.turn.calls, exchange.replies, strict=False), 1):
        name = f"call_{turn}_{position}"
        function = {"name": call.tool, "arguments": canonical(call.arguments).decode()}
        calls.append({"id": name, "type": "function", "function": function})
        replies.append({"role": "tool", "tool_call_id": name, "content": _reply(reply, limit)})
    said = msgspec.json.decode(exchange.turn.said)
    return [{"role": "assistant", "content": said["text"], "tool_calls": calls}, *replies]


def _reply(reply: Reply, limit: int) -> str:
    value = reply.output if reply.phase is Phase.OK else {"error": reply.output}
    text = canonical(value).decode()
    return text if len(text) <= limit else f"{text[:limit]}… (cut)"
