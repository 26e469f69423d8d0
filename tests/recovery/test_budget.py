"""What holds for every method alike: one budget, no success made of a refusal, and no call of the agent swallowed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import LOST, Call, Phase, Reply
from undolab.model.load import load_tools, load_workflows
from undolab.model.workflow import Workflow
from undolab.recovery import METHODS, make_method
from undolab.recovery.base import ATTEMPTS
from undolab.world import World

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
WORKFLOWS = {workflow.id: workflow for workflow in load_workflows(ROOT / "data/workflows")}
each = pytest.mark.parametrize("method", METHODS)
OBSERVABLE = ["RB-DB-005", "RB-PAY-005", "RB-STOR-005"]


class Deaf:
    """Readers are answered by a world; the `lost` first writes never reach it."""

    def __init__(self, workflow: Workflow, lost: int) -> None:
        self._world = World(workflow.fixture, TOOLS, seed=1)
        self._lost = lost
        self.sent: list[Call] = []

    def send(self, call: Call) -> Reply:
        self.sent.append(call)
        if TOOLS[call.tool].writes and self._lost:
            self._lost -= 1
            return Reply(phase=Phase.UNKNOWN, output=LOST)
        done = self._world.call(call.tool, call.arguments, attempt=str(len(self.sent)), key=call.key)
        return Reply(phase=Phase.OK if done.ok else Phase.FAIL, output=done.output)

    def wait(self, ms: int) -> None:
        pass

    def attempts(self, tool: str) -> list[Call]:
        return [call for call in self.sent if call.tool == tool and call.origin == "agent"]

    def close(self) -> None:
        self._world.close()


@pytest.fixture(params=OBSERVABLE)
def target(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return a workflow, a maker of ports, and the step that the study's fault aims at."""
    workflow = WORKFLOWS[request.param]
    step = next(step for step in workflow.plan if step.tool == workflow.scenarios[0].tool)
    ports: list[Deaf] = []

    def port(lost: int) -> Deaf:
        ports.append(Deaf(workflow, lost))
        return ports[-1]

    yield step, port
    for made in ports:
        made.close()


@each
def test_every_method_makes_the_same_number_of_attempts_where_it_may_retry(method: str, target: Any) -> None:
    """Where every request is lost before it runs, and readers show that, each method spends the one budget and no more."""
    step, make = target
    port = make(99)

    reply = make_method(method, port, TOOLS, task="t", run="r").call(
        Call(tool=step.tool, arguments=step.arguments, turn=1)
    )

    assert reply.phase is not Phase.OK
    assert len(port.attempts(step.tool)) == (1 if method == "none" else ATTEMPTS)


@each
def test_no_method_makes_a_success_of_a_refusal(method: str, target: Any) -> None:
    """What the service answers is answered: an error of its own is passed on as it is, and the call is not made again."""
    step, make = target
    port = make(0)
    name = next(iter(step.arguments))
    wrong = {**step.arguments, name: "no such thing"}

    reply = make_method(method, port, TOOLS, task="t", run="r").call(
        Call(tool=step.tool, arguments=wrong, turn=1)
    )

    if reply.phase is Phase.FAIL:
        assert set(reply.output) == {"code", "message"}
    assert reply.phase is not Phase.UNKNOWN
    assert len(port.attempts(step.tool)) == 1


@each
def test_two_equal_calls_of_the_agent_are_two_calls_under_every_method(method: str, target: Any) -> None:
    """A task may want the same thing twice: no method answers the second call from the first."""
    step, make = target
    port = make(0)
    chosen = make_method(method, port, TOOLS, task="t", run="r")

    for turn in (1, 2):
        chosen.call(Call(tool=step.tool, arguments=step.arguments, turn=turn))

    sent = port.attempts(step.tool)
    assert len(sent) == 2
    assert sent[0].key is None or sent[0].key != sent[1].key
