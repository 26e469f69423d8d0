"""Cases from the field, each as a kind: held over all shipped workflows, not over the one that was reported."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from undolab.agents.base import Exchange, TaskView, ToolCall, Turn
from undolab.faults import FaultProxy
from undolab.model.calls import INTERRUPTED, LOST, Call, FinalReport, Outcome, Phase, Reply
from undolab.model.canon import digest
from undolab.model.fault import Boundary, Exposure, FaultPlan
from undolab.model.load import load_tools, load_workflows
from undolab.model.match import holds
from undolab.model.observe import reader_arguments
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, ReportEvent
from undolab.model.workflow import Scenario, Workflow
from undolab.oracle import judge, reconstruct
from undolab.recovery import METHODS
from undolab.trials.arm import ArmRun, prepare, run_arm
from undolab.wire import LogWriter
from undolab.world import World

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
WORKFLOWS = load_workflows(ROOT / "data/workflows")
AIMS = [(workflow, scenario) for workflow in WORKFLOWS for scenario in workflow.scenarios]
each = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda w: w.id)
each_aim = pytest.mark.parametrize(("workflow", "scenario"), AIMS, ids=[f"{w.id}-{s.id}" for w, s in AIMS])
POST = Boundary.POST_MUTATION_PRE_ACK


class Script:
    """Makes its calls one a turn, whatever it is answered, and ends."""

    def __init__(self, calls: Sequence[ToolCall], report: FinalReport = FinalReport.DONE) -> None:
        self._calls = calls
        self._report = report
        self.heard: list[Reply] = []

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        self.heard = [exchange.replies[0] for exchange in history]
        if len(history) < len(self._calls):
            return Turn(said="call", calls=[self._calls[len(history)]])
        return Turn(said="end", report=self._report)

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        return digest([view, list(history)])


def plan_of(workflow: Workflow) -> list[ToolCall]:
    return [ToolCall(tool=step.tool, arguments=step.arguments) for step in workflow.plan]


def fault(boundary: Boundary, scenario: Scenario, **more: Any) -> list[FaultPlan]:
    """Return the schedule of one fault at the scenario's target; none at `NONE`."""
    if boundary is Boundary.NONE:
        return []
    return [
        FaultPlan(
            boundary=boundary,
            scenario=scenario.id,
            tool=scenario.tool,
            match=scenario.match,
            nth=scenario.nth,
            **more,
        )
    ]


def aim(workflow: Workflow, scenario: Scenario) -> int:
    """Return the index of the plan's step that the scenario aims at."""
    matching = [
        index
        for index, step in enumerate(workflow.plan)
        if step.tool == scenario.tool and holds(scenario.match, step.arguments)
    ]
    return matching[scenario.nth - 1]


def run(
    workflow: Workflow,
    script: Script,
    faults: Sequence[FaultPlan] = (),
    *,
    method: str = "none",
) -> ArmRun:
    """Run one arm with turns enough, and hold the wire log's verdict against the live one."""
    workflow = msgspec.structs.replace(workflow, max_turns=60)
    task = prepare(workflow, TOOLS, prompt="script", examples="script")
    arm = ArmId(
        workflow=workflow.id,
        model="scripted:field",
        framework="script",
        boundary=faults[0].boundary if faults else Boundary.NONE,
        method=method,
        seed=1,
        arm="fault" if faults else "control",
    )
    done = run_arm(task, arm, script, faults)
    again = reconstruct(workflow, task.in_play(method)[0], done.log.lines)
    assert (again.problems, again.verdict) == ([], done.verdict)
    return done


def told(verdict: Verdict) -> Verdict:
    """Return the verdict without what extra reads and turns may change."""
    return msgspec.structs.replace(verdict, reads_after_fault=0, turns=0)


@each_aim
@pytest.mark.parametrize("repeats", [1, 2])
def test_b1_blind_repeats_of_a_lost_call_harm_exactly_where_they_change_something(
    workflow: Workflow, scenario: Scenario, repeats: int
) -> None:
    """The caller hears only that the outcome is unknown; every repeat that changes the world is a duplicate, none else."""
    index, calls = aim(workflow, scenario), plan_of(workflow)
    script = Script([*calls[: index + 1], *[calls[index]] * repeats, *calls[index + 1 :]])

    done = run(workflow, script, fault(POST, scenario))

    assert script.heard[index] == Reply(phase=Phase.UNKNOWN, output=LOST)
    again = {f"{turn}.1.1" for turn in range(index + 2, index + 2 + repeats)}
    changed = {row.attempt for row in done.ledger if row.effect.before != row.effect.after}
    assert done.verdict.harmful_duplicates == len(changed & again)
    assert done.verdict.passed is not bool(changed & again)
    assert done.verdict.unsafe_resends == 1


@each_aim
def test_b1_reading_and_going_on_after_a_lost_call_is_safe(workflow: Workflow, scenario: Scenario) -> None:
    """Where the call took effect, a read and no repeat passes and is no unsafe re-send."""
    index, calls = aim(workflow, scenario), plan_of(workflow)
    observe = TOOLS[scenario.tool].observe
    arguments = reader_arguments(observe, calls[index].arguments) if observe else None
    reads = [ToolCall(tool=observe.tool, arguments=arguments)] if observe and arguments is not None else []

    done = run(
        workflow,
        Script([*calls[: index + 1], *reads, *calls[index + 1 :]]),
        fault(POST, scenario),
    )

    assert (done.verdict.passed, done.verdict.unsafe_resends) == (True, 0)


@pytest.mark.parametrize(
    ("workflow", "scenario"), [(w, s) for w, s in AIMS if TOOLS[s.tool].idempotency_key], ids=lambda x: x.id
)
def test_b1_a_repeat_with_the_same_key_is_safe(workflow: Workflow, scenario: Scenario) -> None:
    """Where the service honours keys, the keyed repeat is answered from the first call and changes nothing."""
    done = run(workflow, Script(plan_of(workflow)), fault(POST, scenario), method="B2")

    assert (done.verdict.passed, done.verdict.replays, done.verdict.unsafe_resends) == (True, 1, 0)


@each_aim
def test_b5_a_retry_that_overtakes_a_running_call_is_two_effects_with_their_interval(
    workflow: Workflow, scenario: Scenario
) -> None:
    """The first call ends after the second began: what both change is a duplicate, and the log has both times."""
    target = plan_of(workflow)[aim(workflow, scenario)]
    faults = fault(Boundary.OVERTAKEN, scenario, delay_ms=12_000)

    done = run(workflow, Script(plan_of(workflow)), faults, method="B0")

    (finish,) = [line for line in done.log.lines if getattr(line, "cause", "") == "finish"]
    events = [line for line in done.log.lines if getattr(line, "tool_name", "") == target.tool]
    first, retry = [
        next(event for event in events if event.attempt == finish.attempt[:-1] + number) for number in "12"
    ]
    assert first.at_ms < retry.at_ms < finish.at_ms
    late = [row for row in done.ledger if row.attempt == finish.attempt]
    changed = any(row.effect.before != row.effect.after for row in late)
    assert done.verdict.harmful_duplicates == changed


@pytest.mark.parametrize(
    ("workflow", "scenario"), [(w, s) for w, s in AIMS if TOOLS[s.tool].idempotency_key], ids=lambda x: x.id
)
def test_b5_a_keyed_retry_that_overtakes_a_running_call_is_told_of_it(
    workflow: Workflow, scenario: Scenario
) -> None:
    """With a key the second call is answered that the first is in progress, and there is one effect."""
    faults = fault(Boundary.OVERTAKEN, scenario, delay_ms=12_000)

    done = run(workflow, Script(plan_of(workflow)), faults, method="B2")

    codes = [(getattr(line, "output", None) or {}).get("code") for line in done.log.lines]
    assert "key_in_flight" in codes
    assert (done.verdict.passed, done.verdict.harmful_duplicates) == (True, 0)


@each_aim
@pytest.mark.parametrize("method", METHODS)
def test_b9_a_resumed_run_never_sends_the_dead_call_by_itself(
    workflow: Workflow, scenario: Scenario, method: str
) -> None:
    """The history ends in "interrupted, outcome unknown"; the call stands once, and nothing but the agent could repeat it."""
    script = Script(plan_of(workflow))

    done = run(workflow, script, fault(Boundary.POST_ACK_PRE_CHECKPOINT_TOLD, scenario), method=method)

    index = aim(workflow, scenario)
    assert script.heard[index] == Reply(phase=Phase.UNKNOWN, output=INTERRUPTED)
    sent = [
        line.attempt
        for line in done.log.lines
        if getattr(line, "phase", None) is Phase.INVOKE and line.origin == "agent"
    ]
    assert sent == [f"{turn}.1.1" for turn in range(1, len(workflow.plan) + 1)]
    assert (done.verdict.passed, done.verdict.exposure) == (True, Exposure.WITNESSED)


def reads_of(workflow: Workflow) -> st.SearchStrategy[ToolCall]:
    """Return calls of the workflow's readers, with arguments that fit, or name nothing, or are wrong."""
    values = sorted(
        {value for step in workflow.plan for value in step.arguments.values() if isinstance(value, str)}
    )
    readers = [TOOLS[name] for name in workflow.tools if not TOOLS[name].writes]
    return st.one_of(
        [
            st.builds(
                ToolCall,
                tool=st.just(tool.name),
                arguments=st.fixed_dictionaries(
                    {
                        name: st.sampled_from([*values, "nothing", 1])
                        for name in tool.parameters.get("properties", {})
                    }
                ),
            )
            for tool in readers
        ]
    )


@each
@pytest.mark.parametrize("boundary", [Boundary.NONE, POST])
def test_b17_prudent_reads_change_no_verdict(workflow: Workflow, boundary: Boundary) -> None:
    """Any reads anywhere in a right run, also after a lost answer, leave every field but their own count."""
    calls, faults = plan_of(workflow), fault(boundary, workflow.scenarios[0])
    plain = told(run(workflow, Script(calls), faults).verdict)

    @settings(max_examples=5, deadline=None)
    @given(extra=st.lists(st.tuples(st.integers(0, len(calls)), reads_of(workflow)), max_size=6))
    def same(extra: list[tuple[int, ToolCall]]) -> None:
        with_reads = list(calls)
        for place, read in sorted(extra, key=lambda pair: pair[0], reverse=True):
            with_reads.insert(place, read)
        assert told(run(workflow, Script(with_reads), faults).verdict) == plain

    same()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_b19_a_call_of_a_tool_that_is_not_there_is_the_agents_own_error(data: Any) -> None:
    """It does nothing, its caller is told, and the run counts: right if the agent goes on, failed if it stops."""
    workflow = data.draw(st.sampled_from(WORKFLOWS))
    name = data.draw(st.one_of(st.sampled_from(sorted(TOOLS)), st.text(min_size=1, max_size=20)))
    assume(name not in workflow.tools)
    calls = plan_of(workflow)
    place = data.draw(st.integers(0, len(calls)))
    stray = ToolCall(tool=name, arguments={"anything": 1})
    plain, recovered = Script(calls), Script([*calls[:place], stray, *calls[place:]])

    expected, done = run(workflow, plain), run(workflow, recovered)
    stopped = run(workflow, Script([stray], FinalReport.NOT_DONE))

    assert recovered.heard[place] == Reply(
        phase=Phase.FAIL, output={"code": "unknown_tool", "message": f"no tool {name}"}
    )
    assert told(done.verdict) == told(expected.verdict)
    assert (stopped.verdict.passed, stopped.ledger, stopped.verdict.exposure) == (
        False,
        [],
        Exposure.NO_FAULT,
    )


@each_aim
@pytest.mark.parametrize("beyond", [1, 3])
def test_b30_a_fault_planned_beyond_the_last_matching_call_is_not_exposed(
    workflow: Workflow, scenario: Scenario, beyond: int
) -> None:
    """What never fires is said to be so, and leaves the run as it is without an injector, to the byte."""
    made = sum(s.tool == scenario.tool and holds(scenario.match, s.arguments) for s in workflow.plan)
    (plan,) = fault(POST, scenario)
    late = msgspec.structs.replace(plan, nth=made + beyond)

    idle, control = run(workflow, Script(plan_of(workflow)), [late]), run(workflow, Script(plan_of(workflow)))

    assert idle.verdict.exposure is Exposure.NOT_EXPOSED
    assert [bare(line) for line in idle.log.lines[1:]] == [bare(line) for line in control.log.lines[1:]]
    assert (idle.ledger, idle.state) == (control.ledger, control.state)


def bare(line: Any) -> Any:
    """Return the line without its link to the one before, which holds the schedule's digest."""
    return msgspec.structs.replace(line, prev="")


@each_aim
@pytest.mark.parametrize("boundary", [Boundary.PRE_MUTATION, POST])
def test_b30_an_injector_that_only_says_it_struck_is_found_out(
    workflow: Workflow, scenario: Scenario, boundary: Boundary
) -> None:
    """An injection that the ledger does not bear out is invalid, never a result."""

    def liar(_: Boundary, execute: Any) -> Outcome | None:
        return execute() if boundary is Boundary.PRE_MUTATION else None

    tools = {name: TOOLS[name] for name in workflow.tools}
    faults, log = fault(boundary, scenario), LogWriter()
    arm = ArmId(
        workflow=workflow.id,
        model="scripted:field",
        framework="script",
        boundary=boundary,
        method="none",
        seed=1,
        arm="fault",
    )
    log.add(
        ArmStart,
        arm=arm,
        workflow_digest=digest(workflow),
        tools_digest=digest(list(tools.values())),
        world_seed=1,
        prompt="script",
        examples="script",
        faults=faults,
    )
    world = World(workflow.fixture, tools, seed=1)
    try:
        proxy = FaultProxy(world, tools, log, faults, liar)
        for turn, step in enumerate(workflow.plan, start=1):
            proxy.send(Call(tool=step.tool, arguments=step.arguments, turn=turn))
        state, ledger = world.snapshot(), world.ledger()
    finally:
        world.close()
    turns = len(workflow.plan)
    log.add(ReportEvent, report=FinalReport.DONE, reason="finished", turns=turns, final_state=digest(state))

    assert judge(workflow, tools, log.lines, ledger, state).exposure is Exposure.INVALID_INJECTION
