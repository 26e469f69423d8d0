"""B4 against the package whose retry it is: the real policy, on a real node, over the real proxy."""

from types import SimpleNamespace
from typing import Any, TypedDict

import pytest

pytest.importorskip("langgraph", reason="B4's model is langgraph (make test installs it)")

from langgraph.graph import END, START, StateGraph
from langgraph.pregel import _retry
from langgraph.types import RetryPolicy

from undolab.model.calls import Call, Phase, Reply
from undolab.recovery import make_method

CALL = Call(tool="add", arguments={}, turn=1)


class _LostError(Exception):
    pass


class _State(TypedDict):
    reply: Any


def _node_with_policy(port: Any, monkeypatch: pytest.MonkeyPatch) -> Reply | None:
    """Make the call in a node with the package's own policy, its jitter off; its sleep lets virtual time pass."""
    clock = SimpleNamespace(**vars(_retry.time))
    clock.sleep = lambda seconds: port.wait(round(seconds * 1000))
    monkeypatch.setattr(_retry, "time", clock)

    def node(_: _State) -> _State:
        reply = port.send(CALL)
        if reply.phase is Phase.UNKNOWN:
            raise _LostError
        return {"reply": reply}

    graph = StateGraph(_State)
    graph.add_node("tool", node, retry_policy=RetryPolicy(jitter=False, retry_on=_LostError))
    graph.add_edge(START, "tool")
    graph.add_edge("tool", END)
    try:
        found: Reply = graph.compile().invoke({"reply": None})["reply"]
    except _LostError:
        return None
    return found


@pytest.mark.parametrize("losses", [0, 1, 2, 3, 4])
def test_b4_is_langgraphs_retry_policy(
    port: Any, lost: Reply, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real policy and B4 make the same attempts after the same waits, and give up at the same one."""
    replies = [*[lost] * losses, Reply(phase=Phase.OK, output={"n": 1})]
    theirs, ours = port(*replies), port(*replies)

    answer = _node_with_policy(theirs, monkeypatch)
    reply = make_method("B4", ours, {}, task="T", run="r").call(CALL)

    assert (theirs.sent, theirs.waits) == (ours.sent, ours.waits)
    assert (answer or lost) == reply
