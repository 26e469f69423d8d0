"""F2, the same agent on LangGraph: message state, checkpoints and the loop from model to tools and back are the package's.

The model is asked by an agent of its own (`DirectAgent`, in whatever layout), so that what differs between the frameworks
is the framework. The tools run outside: their node interrupts the graph with the calls and is resumed with the replies. That
node is ours because the prebuilt one answers unknown tools itself and runs the calls of a turn at the same time.

After a death the graph goes on from its last checkpoint, which lies between model and tools: the node of the tools runs
again from its start and makes the same calls, without asking the model. An agent that is told of the interruption finds
that word as the reply of the call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from langsmith import tracing_context

from undolab.agents.base import Agent, Exchange, TaskView, ToolCall, Turn
from undolab.model.calls import FinalReport, Phase, Reply
from undolab.model.canon import canonical

_THREAD: RunnableConfig = {"configurable": {"thread_id": "arm"}}


class _State(MessagesState):
    seen: str
    """Digest of what the model saw for its last message."""


@dataclass(frozen=True)
class _Context:
    """What a run of the graph needs and no checkpoint holds."""

    inner: Agent
    view: TaskView


class GraphAgent:
    """The graph over one model; one object a life of an arm's agent process.

    Args:
        inner: asks the model for one turn.
        saver: where the checkpoints are; the next life gets the same one, or a copy.
    """

    def __init__(self, inner: Agent, saver: InMemorySaver | None = None) -> None:
        self._inner = inner
        self.saver = saver or InMemorySaver()
        self._graph = _GRAPH.copy(update={"checkpointer": self.saver})
        state: dict[str, Any] = self._graph.get_state(_THREAD).values if saver else {}
        self._messages: list[AnyMessage] = state.get("messages", [])
        self._seen = ""

    def checkpoints(self) -> InMemorySaver:
        """Return a copy of the checkpoints, which what this agent does later leaves as it is."""
        return copy_checkpoints(self.saver)

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Run the graph to its next tool calls or its end."""
        if not self._messages:
            start: list[AnyMessage] = [HumanMessage(view.objective, id="0")]
            for exchange in history:
                start += _to_messages(exchange, len(start))
            self._run({"messages": start}, view)
        elif len(history) > _answered(self._messages):
            replies = [[reply.phase.value, reply.output] for reply in history[-1].replies]
            self._run(Command(resume=replies), view)
        else:
            self._run(None, view)
        return _to_turn(self._messages[-1])

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:  # noqa: ARG002 - the graph's own state decides
        """Return the digest of what the model saw for the last turn; a turn that is run again rests on the same."""
        return self._seen

    def _run(self, given: Any, view: TaskView) -> None:
        # Whatever the environment says, no trace of a run leaves this machine.
        with tracing_context(enabled=False):
            state = self._graph.invoke(given, _THREAD, context=_Context(self._inner, view), durability="exit")
        self._messages, self._seen = state["messages"], state["seen"]


def copy_checkpoints(saver: InMemorySaver) -> InMemorySaver:
    """Return a copy of a saver; what lies in it is bytes, which both may hold."""
    made = InMemorySaver()
    for thread, spaces in saver.storage.items():
        for space, checkpoints in spaces.items():
            made.storage[thread][space] = dict(checkpoints)
    for place, writes in saver.writes.items():
        made.writes[place] = dict(writes)
    made.blobs.update(saver.blobs)
    return made


def _ask(state: _State, runtime: Runtime[_Context]) -> dict[str, Any]:
    context, messages = runtime.context, state["messages"]
    history = _to_history(messages)
    turn = context.inner.act(context.view, history)
    return {
        "messages": [_from_turn(turn, len(messages))],
        "seen": context.inner.seen(context.view, history),
    }


def _use_tools(state: _State) -> dict[str, Any]:
    last = state["messages"][-1]
    turn = _to_turn(last)
    replies = interrupt([call.tool for call in turn.calls])
    return {"messages": _replies(turn, replies, len(state["messages"]))}


def _next(state: _State) -> str:
    return "tools" if _to_turn(state["messages"][-1]).calls else END


def _from_turn(turn: Turn, place: int) -> AIMessage:
    calls = [
        {"name": call.tool, "args": call.arguments, "id": f"{place}.{number}", "type": "tool_call"}
        for number, call in enumerate(turn.calls, start=1)
    ]
    facts = {"record": turn.record, "error": turn.error, "report": turn.report and turn.report.value}
    return AIMessage(turn.said, id=str(place), tool_calls=calls, response_metadata=facts)


def _to_turn(message: AnyMessage) -> Turn:
    facts = message.response_metadata
    report = facts["report"]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return Turn(
        said=str(message.content),
        calls=[ToolCall(tool=call["name"], arguments=call["args"]) for call in calls],
        report=None if report is None else FinalReport(report),
        error=facts["error"],
        record=facts["record"],
    )


def _replies(turn: Turn, replies: Sequence[Sequence[Any]], place: int) -> list[AnyMessage]:
    return [
        ToolMessage(
            canonical(output).decode(),
            id=str(place + number),
            tool_call_id=f"{place - 1}.{number + 1}",
            name=call.tool,
            status="success" if phase == Phase.OK else "error",
            artifact={"phase": phase, "output": output},
        )
        for number, (call, (phase, output)) in enumerate(zip(turn.calls, replies, strict=False))
    ]


def _to_messages(exchange: Exchange, place: int) -> list[AnyMessage]:
    replies = [(reply.phase.value, reply.output) for reply in exchange.replies]
    return [_from_turn(exchange.turn, place), *_replies(exchange.turn, replies, place + 1)]


def _to_history(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """Return the exchanges that the messages after the first tell of; an interrupted turn keeps the calls it made."""
    history: list[Exchange] = []
    for message in messages[1:]:
        if isinstance(message, ToolMessage):
            kept = message.artifact
            history[-1].replies.append(Reply(phase=Phase(kept["phase"]), output=kept["output"]))
        else:
            history.append(Exchange(turn=_to_turn(message), replies=[]))
    for exchange in history:
        del exchange.turn.calls[len(exchange.replies) :]
    return history


def _answered(messages: Sequence[AnyMessage]) -> int:
    return sum(
        isinstance(message, AIMessage) and isinstance(after, ToolMessage)
        for message, after in pairwise(messages)
    )


def _build() -> Any:
    graph = StateGraph(_State, context_schema=_Context)
    graph.add_node("model", _ask)
    graph.add_node("tools", _use_tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", _next, ["tools", END])
    graph.add_edge("tools", "model")
    return graph.compile()


_GRAPH = _build()
