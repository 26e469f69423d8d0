"""Over every shipped task: what the published oracles let pass (any argument, any content, nothing at all) must fail here."""

import json
from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import LedgerRow
from undolab.model.load import load_tools, load_workflows
from undolab.model.match import holds
from undolab.model.workflow import Step, Workflow
from undolab.oracle import Fold
from undolab.oracle.effects import account
from undolab.oracle.predicates import failed_predicates

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
WORKFLOWS = load_workflows(ROOT / "data/workflows")
each = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda w: w.id)
FREE = {"details", "note", "reason", "message", "alert_title", "text", "title"}
"""Arguments with free wording: a task may leave them open."""


def judged(workflow: Workflow, steps: list[Step]) -> tuple[bool, bool]:
    """Return whether the goal holds, and whether the effects are those required and no others."""
    fold = Fold(workflow.fixture, {name: TOOLS[name] for name in workflow.tools}, 1)
    rows: list[LedgerRow] = []
    for turn, step in enumerate(steps, start=1):
        for effect in fold.apply(step.tool, step.arguments).effects:
            rows.append(
                LedgerRow(
                    seq=len(rows) + 1,
                    attempt=f"{turn}.1.1",
                    tool=step.tool,
                    arguments=step.arguments,
                    effect=effect,
                )
            )
    found = account(workflow.effects, workflow.forbidden, rows)
    harm = {"duplicate", "orphan", "forbidden"} & {str(role) for role in found.roles}
    return not failed_predicates(workflow.goal, fold.state()), not (found.missing or harm)


def others(value: Any) -> list[Any]:
    """Return values of the same type that mean something else."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, max(1, value // 2)] if value > 1 else [value + 1]
    if isinstance(value, str):
        return [value + "x", value[:-1] or "y"]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]]]
    return []


@each
def test_the_right_run_passes(workflow: Workflow) -> None:
    """The checks below fail for what they change, not for what they keep."""
    assert judged(workflow, workflow.plan) == (True, True)


@each
def test_doing_nothing_never_passes(workflow: Workflow) -> None:
    """The goal does not hold in the fixture, and every effect is missing (published: PAY-002's goal is its start)."""
    assert judged(workflow, []) == (False, False)


@each
def test_any_other_argument_fails(workflow: Workflow) -> None:
    """A write with one argument changed (amount, recipient, name, version, colour, content) is not the write wanted."""
    passed = []
    for index, step in enumerate(workflow.plan):
        if not TOOLS[step.tool].writes:
            continue
        for name, value in step.arguments.items():
            for other in others(value):
                if name in FREE or other == value:
                    continue
                wrong = Step(say=step.say, tool=step.tool, arguments={**step.arguments, name: other})
                if all(judged(workflow, [*workflow.plan[:index], wrong, *workflow.plan[index + 1 :]])):
                    passed.append((step.tool, name, other))
    assert passed == []


@each
def test_an_extra_write_beside_the_right_ones_fails(workflow: Workflow) -> None:
    """Everything right and one deed more, on another entity: an orphan, not an unseen extra."""
    for step in workflow.plan:
        for name, value in step.arguments.items() if TOOLS[step.tool].writes else ():
            if isinstance(value, int) and not isinstance(value, bool):
                more = Step(say=step.say, tool=step.tool, arguments={**step.arguments, name: value + 1})
                fold = Fold(workflow.fixture, {tool: TOOLS[tool] for tool in workflow.tools}, 1)
                for done in workflow.plan:
                    fold.apply(done.tool, done.arguments)
                if fold.apply(more.tool, more.arguments).effects:
                    assert judged(workflow, [*workflow.plan, more])[1] is False


@each
def test_json_content_may_be_spelled_in_any_way(workflow: Workflow) -> None:
    """Another spelling of the same JSON passes (published: STOR-005 asked for a length in bytes)."""
    for index, step in enumerate(workflow.plan):
        for name, value in step.arguments.items():
            if not (isinstance(value, str) and value.lstrip()[:1] in ("{", "[")):
                continue
            for spelling in (
                json.dumps(json.loads(value), indent=2),
                json.dumps(json.loads(value), separators=(",", ":"), sort_keys=True),
            ):
                other = Step(say=step.say, tool=step.tool, arguments={**step.arguments, name: spelling})
                assert judged(workflow, [*workflow.plan[:index], other, *workflow.plan[index + 1 :]]) == (
                    True,
                    True,
                )


@each
def test_every_scenario_names_its_target_by_tool_and_argument(workflow: Workflow) -> None:
    """Each fault has one target in the plan, whatever the order of calls, and that target makes a required effect."""
    for scenario in workflow.scenarios:
        matching = [
            s for s in workflow.plan if s.tool == scenario.tool and holds(scenario.match, s.arguments)
        ]
        assert scenario.match
        assert 1 <= scenario.nth <= len(matching)
        effect = next(effect for effect in workflow.effects if effect.id == scenario.effect)
        assert effect.tool == scenario.tool


@each
def test_there_is_something_to_read_and_something_to_leave_alone(workflow: Workflow) -> None:
    """Every task has a reader, a tool that the plan does not need, and at least three calls."""
    planned = {step.tool for step in workflow.plan}
    assert any(not TOOLS[name].writes for name in workflow.tools)
    assert set(workflow.tools) - planned
    assert 3 <= len(workflow.plan) <= 6


def test_no_tool_takes_a_key_as_an_argument() -> None:
    """A key is a header of the transport: no model can fill it in unasked, and what honours keys is read off the tool."""
    for tool in TOOLS.values():
        assert not any("key" in name and "idem" in name for name in tool.parameters.get("properties", {}))


def test_repeats_by_keyless_calls_are_told_apart_from_duplicates_in_every_task() -> None:
    """A repeat that changes nothing is never a duplicate, in no task (published: nine tasks failed it)."""
    for workflow in WORKFLOWS:
        for index, step in enumerate(workflow.plan):
            if not TOOLS[step.tool].writes:
                continue
            fold = Fold(workflow.fixture, {name: TOOLS[name] for name in workflow.tools}, 1)
            for done in workflow.plan[: index + 1]:
                fold.apply(done.tool, done.arguments)
            effects = fold.apply(step.tool, step.arguments).effects
            changes = any(effect.before != effect.after for effect in effects)
            again = [*workflow.plan[: index + 1], *workflow.plan[index:]]
            assert judged(workflow, again)[1] is not changes
