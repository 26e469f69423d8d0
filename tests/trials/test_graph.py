"""F2 against F1 on F1's own records, and what its checkpoints make of a death."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

pytest.importorskip("langgraph", reason="F2 needs langgraph (make test installs it)")

from undolab.agents.base import Exchange, ToolCall, Turn
from undolab.agents.direct import DirectAgent
from undolab.agents.graph import GraphAgent
from undolab.agents.prompt import RULE
from undolab.model.calls import Phase, Reply
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.model.load import load_config
from undolab.model.record import Completion, CompletionRequest
from undolab.model.wire import ArmId, TurnEvent, WireEffectEvent
from undolab.models.config import load_models
from undolab.models.replay import ReplayBackend
from undolab.models.store import RecordStore
from undolab.trials.arm import ArmRun, Task, prepare, run_arm
from undolab.trials.run import run_workflow
from undolab.trials.schedule import schedule
from undolab.trials.source import make_agents, store_path
from undolab.wire import read_arms

ROOT = Path(__file__).parents[2]
MODEL = "gemma3-270m"


@pytest.fixture(scope="module")
def replay() -> ReplayBackend:
    return ReplayBackend(RecordStore(ROOT / store_path(MODEL, "test")))


@pytest.mark.slow
def test_f2_in_f1s_layout_is_f1_to_the_byte(workflows: Any, tools: Any, replay: ReplayBackend) -> None:
    """On the released records of TEST, five seeds of them, the graph asks what the direct loop asked and leaves the same logs."""
    config = load_models(ROOT / "config/models.yaml")[MODEL]
    study = load_config(ROOT / "config/config.yaml").study
    study = replace(study, models=[MODEL], frameworks=["F1"], seeds=study.seeds[:5])
    names = [w for w in workflows if w.split == study.split]

    def make(task: Task, arm: ArmId, resume: int = 0) -> GraphAgent:
        return GraphAgent(DirectAgent(replay, config, arm.seed, resume))

    asked = 0
    for workflow in names:
        task = prepare(workflow, tools, prompt=study.prompt, examples=study.examples)
        ours = {run.arm.name(): run.log.lines for run, _ in run_workflow(task, study, make)}
        released = dict(read_arms(ROOT / "results/wire" / f"{workflow.id}.jsonl.zst"))
        wanted = {name: lines for name, lines in released.items() if name in ours}
        assert ours == wanted
        asked += sum(isinstance(line, TurnEvent) for lines in ours.values() for line in lines)
    assert len(names) == 12
    assert asked > 1000


class Runbook:
    """A model that says the next line of the runbook in the prompt, and keeps the prompts."""

    def __init__(self) -> None:
        self.requests: list[CompletionRequest] = []

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.requests.append(request)
        task = request.prompt.rsplit("Runbook:\n", 1)[1]
        steps = task.split("[ai]\n", 1)[0].splitlines()
        said = task.count("[ai]\n") - 1
        return Completion(text=steps[said], finish_reason="stop", tokens=[], logprobs=[], prompt_tokens=1)


def _run(workflow: Any, tools: Any, boundary: Boundary, method: str = "none") -> tuple[ArmRun, Runbook]:
    model = Runbook()
    make = make_agents(load_models(ROOT / "config/models.yaml"), {MODEL: model})
    task = prepare(workflow, tools, prompt="runbook", examples="plain")
    arm = ArmId(
        workflow=workflow.id,
        model=MODEL,
        framework="F2",
        boundary=boundary,
        method=method,
        seed=1,
        arm="fault",
    )
    plans = schedule(workflow, tools, boundary, method) or ()
    return run_arm(task, arm, make(task, arm), plans, revive=partial(make, task, arm)), model


def test_f2_has_the_tools_and_turns_of_f1_in_a_layout_of_its_own(workflows: Any, tools: Any) -> None:
    """A model that follows the runbook solves every task through the graph, and the prompt is made of messages."""
    for workflow in workflows:
        run, model = _run(workflow, tools, Boundary.NONE)
        assert run.verdict.passed, workflow.id
        assert len(model.requests) == len(workflow.plan) + 1
        assert RULE not in model.requests[-1].prompt
        assert model.requests[-1].prompt.endswith("\n[ai]\n")


def test_after_a_death_the_graph_makes_the_call_of_its_checkpoint_again_without_asking_the_model(
    workflows: Any, tools: Any
) -> None:
    """Its last checkpoint lies between model and tools, so the same call is on the wire twice and the record is the same."""
    for workflow in workflows:
        run, model = _run(workflow, tools, Boundary.POST_ACK_PRE_CHECKPOINT)
        turns = [line for line in run.log.lines if isinstance(line, TurnEvent)]
        (again,) = [n for n, line in enumerate(turns) if n and line.turn == turns[n - 1].turn]
        before, after = turns[again - 1], turns[again]
        assert (after.said, after.record, after.seen) == (before.said, before.record, before.seen)
        assert (before.resume, after.resume) == (0, 1)
        assert len(model.requests) == len(turns) - 1
        invoked = [
            line
            for line in run.log.lines
            if isinstance(line, WireEffectEvent) and line.attempt.endswith(".2") and line.phase == "invoke"
        ]
        assert len(invoked) == 1


def test_a_graph_that_is_told_of_its_death_reads_that_word_and_asks_the_model(
    workflows: Any, tools: Any
) -> None:
    """The interrupted call has the word as its reply in the state that the next prompt is written from."""
    for workflow in workflows:
        run, model = _run(workflow, tools, Boundary.POST_ACK_PRE_CHECKPOINT_TOLD)
        told = [
            r
            for r in model.requests
            if "[tool]\nerror interrupted: interrupted, outcome unknown\n" in r.prompt
        ]
        assert told
        assert not [line for line in run.log.lines if getattr(line, "attempt", "").endswith(".2")]
        first, second = model.requests[0].sampling.seed, told[0].sampling.seed
        assert first != second


def test_a_graph_starts_from_any_history_and_its_messages_lose_nothing(workflows: Any, tools: Any) -> None:
    """Numbers, nulls, letters and errors come out of the message state as they went in."""
    task = prepare(workflows[0], tools, prompt="runbook", examples="plain")
    calls = [ToolCall(tool="x", arguments={"a": 1.5, "é": None}), ToolCall(tool="y", arguments={})]
    replies = [
        Reply(phase=Phase.FAIL, output={"code": "c", "message": "m", "n": [1, 2.0]}),
        Reply(phase=Phase.UNKNOWN, output={"\U0001f600": "\u2028"}),
    ]
    past = [Exchange(turn=Turn(said="one", calls=calls, record="k#1"), replies=replies)]
    found: list[Any] = []

    class Watch:
        def act(self, view: Any, history: Any) -> Turn:
            found.extend(history)
            return Turn(said="", error="enough")

        def seen(self, view: Any, history: Any) -> str:
            return "s"

    agent = GraphAgent(Watch())

    assert agent.act(task.view, past) == Turn(said="", error="enough")
    assert agent.seen(task.view, past) == "s"
    assert found == past


def test_a_framework_that_is_not_known_is_named(workflows: Any, tools: Any) -> None:
    """The error says which there are."""
    task = prepare(workflows[0], tools, prompt="runbook", examples="plain")
    arm = ArmId(
        workflow="W", model=MODEL, framework="F3", boundary="NONE", method="none", seed=1, arm="control"
    )
    with pytest.raises(UndolabError, match="F1, F2"):
        make_agents(load_models(ROOT / "config/models.yaml"), {MODEL: Runbook()})(task, arm)
