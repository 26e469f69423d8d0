"""What the published harness got wrong around a run: shared agents, unequal turn budgets, results of half a step."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.agents.base import Exchange, TaskView, ToolCall, Turn
from undolab.model.calls import FinalReport, Phase
from undolab.model.verdict import FailureClass
from undolab.model.wire import ArmId
from undolab.trials.arm import prepare, run_arm
from undolab.trials.source import make_agents


def arm_of(workflow: Any, model: str = "scripted:gold") -> ArmId:
    return ArmId(
        workflow=workflow.id,
        model=model,
        framework="script",
        boundary="NONE",
        method="none",
        seed=1,
        arm="control",
    )


class Restless:
    """Reads for ever."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self.heard = 0

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        self.heard = sum(exchange.replies[0].phase is Phase.OK for exchange in history)
        return Turn(said="again", calls=[self._call])

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        return ""


@pytest.mark.parametrize("limit", [1, 4])
def test_the_last_allowed_turn_is_carried_out_whatever_the_framework(
    workflows: Any, tools: Any, limit: int
) -> None:
    """The loop counts turns, not the agent: n turns are n calls, and then the arm ends by its turn limit, as a failure."""
    workflow = msgspec.structs.replace(workflows[0], max_turns=limit)
    step = next(step for step in workflow.plan if not tools[step.tool].writes)
    agent = Restless(ToolCall(tool=step.tool, arguments=step.arguments))

    run = run_arm(prepare(workflow, tools, prompt="script", examples="script"), arm_of(workflow), agent)

    events = [line for line in run.log.lines if getattr(line, "phase", None) is Phase.OK]
    assert (len(events), run.log.lines[-1].reason, run.verdict.turns) == (limit, "turn_limit", limit)
    assert (run.verdict.failure, run.verdict.report) == (FailureClass.AGENT_FAILURE, FinalReport.NONE)


def test_every_arm_has_an_agent_of_its_own(workflows: Any, tools: Any) -> None:
    """No state of one arm can reach another (published: one agent for all arms, tasks and threads)."""
    make, workflow = make_agents({}, {}), workflows[0]
    task = prepare(workflow, tools, prompt="script", examples="script")

    assert make(task, arm_of(workflow)) is not make(task, arm_of(workflow))


def test_reading_the_tasks_builds_no_world() -> None:
    """A list of tasks opens no store and makes no repository."""
    root = Path(__file__).parents[2]
    code = (
        "import sys\nfrom pathlib import Path\nfrom undolab.model.load import load_workflows\n"
        "found = load_workflows(Path('data/workflows'))\n"
        "print(len(found) > 0, any(name in sys.modules for name in ('undolab.world', 'pygit2', 'sqlite3')))"
    )

    said = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)

    assert said.stdout.split() == ["True", "False"]


def test_the_agent_is_told_neither_task_nor_fault_nor_fixture(workflows: Any, tools: Any) -> None:
    """What the agent may see has no field for the task's name, the schedule, the goal or the rows it starts from."""
    for workflow in workflows:
        view = prepare(workflow, tools, prompt="script", examples="script").view
        text = msgspec.json.encode(view).decode()
        assert workflow.id not in text
        assert set(view.__struct_fields__) == {"objective", "steps", "tools", "max_turns"}
