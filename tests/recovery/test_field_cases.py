"""B31 of the field cases: a service that never answers ends in unknown, not in waiting, whatever the method and the tool."""

from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import LOST, Call, Phase, Reply
from undolab.model.load import load_tools, load_workflows
from undolab.recovery import METHODS, make_method
from undolab.recovery.base import ATTEMPTS

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
STEPS = {step.tool: step for w in load_workflows(ROOT / "data/workflows") for step in w.plan}
HOUR_MS = 3_600_000
ROLLS_BACK = {"B1": "rolled_back", "B3": "compensated"}


class Silent:
    """Takes every request and answers none."""

    def __init__(self) -> None:
        self.sent: list[Call] = []
        self.waited = 0

    def send(self, call: Call) -> Reply:
        self.sent.append(call)
        return Reply(phase=Phase.UNKNOWN, output=LOST)

    def wait(self, ms: int) -> None:
        self.waited += ms


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tool", sorted(STEPS))
def test_b31_silence_is_unknown_after_finite_attempts_and_time(method: str, tool: str) -> None:
    """At most the attempt budget on the call itself, bounded waiting, and never a success.

    The caller is told that the outcome is unknown; B1 and B3, which roll back by design, say that they did.
    """
    port: Any = Silent()
    call = Call(tool=tool, arguments=STEPS[tool].arguments, turn=1)

    reply = make_method(method, port, TOOLS, task="t", run="r").call(call)

    if method in ROLLS_BACK:
        assert (reply.phase, reply.output["code"]) == (Phase.FAIL, ROLLS_BACK[method])
    else:
        assert reply.phase is Phase.UNKNOWN
    assert 1 <= sum(sent.tool == tool and sent.origin == "agent" for sent in port.sent) <= ATTEMPTS
    assert len(port.sent) <= 4 * ATTEMPTS
    assert port.waited < HOUR_MS
