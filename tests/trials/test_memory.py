"""A decision that an arm takes from its trial's memory is the one that its own agent would have made."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="F2 needs langgraph (make test installs it)")

from undolab.agents.base import Exchange, Turn
from undolab.agents.line import TASK_LABEL, start
from undolab.agents.prompt import RULE
from undolab.model.canon import call_seed, canonical, resumed_seed
from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.record import Completion, CompletionRequest
from undolab.model.workflow import Split
from undolab.models.config import load_models
from undolab.trials.arm import Task, prepare
from undolab.trials.memory import Place, Remembering
from undolab.trials.run import run_workflow
from undolab.trials.source import make_agents

ROOT = Path(__file__).parents[2]
MODEL = "gemma3-270m"
RESUMED = {call_seed(resumed_seed(seed, 1), turn) for seed in (1, 2) for turn in range(1, 20)}


class Moody:
    """Follows the runbook; after an error or a death it repeats itself, goes on or gives up, by seed and prompt alone."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.asked += 1
        task = request.prompt.rsplit("Runbook:\n", 1)[1]
        steps, _, log = task.partition("[ai]\n" if "[ai]\n" in task else RULE)
        lines = steps.splitlines()
        said = sum(line in lines for line in log.splitlines())
        shaken = "error" in log or request.sampling.seed in RESUMED
        mood = (request.sampling.seed + len(log)) % 4 if shaken else 0
        text = lines[max(0, min(said - (mood == 1), len(lines) - 1))]
        if mood == 2:
            text = start(TASK_LABEL, said) + "finish: unknown"
        return Completion(text=text, finish_reason="stop", tokens=[], logprobs=[], prompt_tokens=1)


def _task(workflows: Any, tools: Any, name: str) -> Task:
    workflow = next(one for one in workflows if one.id == name)
    return prepare(workflow, tools, prompt="runbook", examples="plain")


def _logs(task: Task, framework: str) -> tuple[dict[str, bytes], list[bytes], int]:
    model = Moody()
    study = Study(
        split=Split.DEV,
        models=[MODEL],
        frameworks=[framework],
        boundaries=[
            Boundary.PRE_MUTATION,
            Boundary.DURING_MUTATION,
            Boundary.POST_MUTATION_PRE_ACK,
            Boundary.POST_ACK_PRE_CHECKPOINT,
            Boundary.POST_ACK_PRE_CHECKPOINT_TOLD,
            Boundary.TWO_FAULTS,
        ],
        methods=["none", "B0", "B2-K", "B3", "B5", "B6"],
        seeds=[1, 2],
        prompt="runbook",
        examples="plain",
    )
    make = make_agents(load_models(ROOT / "config/models.yaml"), {MODEL: model})
    runs = list(run_workflow(task, study, make))
    checks = [canonical(pair) for _, pair in runs if pair is not None]
    return {run.arm.name(): run.log.data() for run, _ in runs}, checks, model.asked


@pytest.mark.parametrize("framework", ["F1", "F2"])
@pytest.mark.parametrize("name", ["RB-CRM-003", "RB-STOR-001"])
def test_logs_with_and_without_memory_are_equal(
    workflows: Any, tools: Any, framework: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the byte, at every boundary, with agents that go wrong after the fault; the model is asked many times fewer."""
    task = _task(workflows, tools, name)
    logs, checks, asked = _logs(task, framework)

    def nowhere(_: Remembering, history: list[Exchange]) -> Place:
        return Place()

    with monkeypatch.context() as patch:
        patch.setattr(Remembering, "_find", nowhere)
        patch.setattr(Remembering, "seen", lambda self, view, history: self.last.seen)
        plain, plain_checks, plain_asked = _logs(task, framework)

    assert logs == plain
    assert checks == plain_checks
    assert asked * 4 < plain_asked


class Counting:
    """An agent that says how much it has seen, and who it is."""

    made = 0

    def __init__(self) -> None:
        Counting.made += 1
        self.name = Counting.made

    def act(self, view: Any, history: Any) -> Turn:
        return Turn(said=f"{self.name}.{len(history)}")

    def seen(self, view: Any, history: Any) -> str:
        return f"seen {len(history)}"


@pytest.fixture
def told() -> list[Any]:
    """Return the list of what agents were woken with."""
    Counting.made = 0
    return []


def test_another_history_is_another_place(told: list[Any]) -> None:
    """One changed byte of a reply, or the count of deaths, and the agent itself is asked, from what was kept last."""
    from undolab.model.calls import Phase, Reply

    def wake(kept: Any) -> Counting:
        told.append(kept)
        return Counting()

    def exchange(value: int) -> Exchange:
        return Exchange(turn=Turn(said="x"), replies=[Reply(phase=Phase.OK, output={"n": value})])

    start = Place()
    view: Any = None
    first = Remembering(start, wake, lambda agent: f"kept by {agent.name}")
    one = exchange(1)
    assert [first.act(view, []).said, first.act(view, [one]).said] == ["1.0", "1.1"]
    second = Remembering(start, wake, lambda agent: f"kept by {agent.name}")
    assert [second.act(view, []).said, second.act(view, [exchange(1)]).said] == ["1.0", "1.1"]
    assert second.seen(view, [exchange(1)]) == "seen 1"
    third = Remembering(start, wake, lambda agent: f"kept by {agent.name}")
    assert [third.act(view, []).said, third.act(view, [exchange(2)]).said] == ["1.0", "2.1"]
    assert told == [None, "kept by 1"]
    assert Remembering(Place(), wake, lambda _: None).act(view, []).said == "3.0"
