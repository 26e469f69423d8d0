"""The shipped tasks on the real world: the gold plan is right, and what is less, more or other is not."""

from pathlib import Path

import pytest

from undolab.model.calls import Outcome, Phase, Reply
from undolab.model.load import load_tools, load_workflows
from undolab.model.observe import Seen, reader_arguments, seen
from undolab.model.workflow import Step, Workflow
from undolab.oracle.effects import account
from undolab.oracle.predicates import failed_predicates
from undolab.world import World

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
ALL = load_workflows(ROOT / "data/workflows")
UNOBSERVABLE = {"RB-MSG-002", "RB-MSG-004", "RB-TICK-001"}
each = pytest.mark.parametrize("workflow", ALL, ids=lambda w: w.id)


def world_of(workflow: Workflow) -> World:
    return World(workflow.fixture, {name: TOOLS[name] for name in workflow.tools}, seed=2001)


def run(workflow: Workflow, steps: list[Step]) -> tuple[list[str], list[str], list[str], list[Outcome]]:
    """Return the failed predicates, the missing effects, the roles of the commits and the outcomes."""
    world = world_of(workflow)
    outcomes = [world.call(step.tool, step.arguments, attempt=f"{n}.1.1") for n, step in enumerate(steps, 1)]
    judged = account(workflow.effects, workflow.forbidden, world.ledger())
    failed = failed_predicates(workflow.goal, world.snapshot())
    world.close()
    return failed, judged.missing, [role.value for role in judged.roles], outcomes


@each
def test_gold_plan_passes(workflow: Workflow) -> None:
    """Every call of the plan succeeds, every effect is there once, and the goal holds."""
    failed, missing, roles, outcomes = run(workflow, workflow.plan)
    assert [outcome.output for outcome in outcomes if not outcome.ok] == []
    assert (failed, missing, set(roles)) == ([], [], {"required"})


@each
def test_every_write_is_needed(workflow: Workflow) -> None:
    """Without any one writing call the goal fails and an effect is missing."""
    for index, step in enumerate(workflow.plan):
        if TOOLS[step.tool].writes:
            failed, missing, _, _ = run(workflow, workflow.plan[:index] + workflow.plan[index + 1 :])
            assert failed
            assert missing


@each
def test_repeats_harm_exactly_where_they_change_something(workflow: Workflow) -> None:
    """A repeated write is a harmful duplicate and breaks the goal, or is harmless and leaves it."""
    for index, step in enumerate(workflow.plan):
        if TOOLS[step.tool].writes:
            failed, missing, roles, _ = run(workflow, [*workflow.plan[: index + 1], *workflow.plan[index:]])
            assert missing == []
            assert bool(failed) is ("duplicate" in roles)


@each
def test_readers_tell_present_from_absent(workflow: Workflow) -> None:
    """The first scenario's effect is seen where it happened and missed where not, through an allowed reader."""
    scenario = workflow.scenarios[0]
    index = next(
        n
        for n, step in enumerate(workflow.plan)
        if step.tool == scenario.tool and scenario.match.items() <= step.arguments.items()
    )
    step = workflow.plan[index]
    observe = TOOLS[step.tool].observe
    if workflow.id in UNOBSERVABLE:
        assert observe is None
        return
    assert observe is not None
    assert observe.tool in workflow.tools
    arguments = reader_arguments(observe, step.arguments)
    assert arguments is not None
    world = world_of(workflow)
    for n, earlier in enumerate(workflow.plan[:index], 1):
        world.call(earlier.tool, earlier.arguments, attempt=f"{n}.1.1")

    def read() -> Reply:
        outcome = world.call(observe.tool, arguments, attempt="9.1.1")
        return Reply(phase=Phase.OK if outcome.ok else Phase.FAIL, output=outcome.output)

    before = read()
    assert seen(observe, step.arguments, before, read()) is Seen.ABSENT
    world.call(step.tool, step.arguments, attempt="9.1.2")
    assert seen(observe, step.arguments, before, read()) is Seen.PRESENT
    world.close()
