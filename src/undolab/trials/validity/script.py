"""Agents of the suite: a fixed list of calls, whatever is answered; and variants of a plan that are right or wrong."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from undolab.agents.base import Exchange, TaskView, ToolCall, Turn
from undolab.model.calls import FinalReport
from undolab.model.canon import canonical, digest
from undolab.model.match import holds
from undolab.model.schema import first_problem
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Step, Workflow
from undolab.world import World


class Blind:
    """Makes its calls one a turn, whatever comes back, and reports that all is done."""

    def __init__(self, calls: Sequence[Step]) -> None:
        """Make `calls`."""
        self._calls = [ToolCall(tool=step.tool, arguments=step.arguments) for step in calls]

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:  # noqa: ARG002 - it looks at nothing
        """Return the next call, or the report."""
        if len(history) == len(self._calls):
            return Turn(said="finish: done", report=FinalReport.DONE)
        call = self._calls[len(history)]
        return Turn(said=canonical(call).decode(), calls=[call])

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of all that was answered."""
        return digest([view, list(history)])


def extra_reads(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[Step]:
    """Return the plan with one of its reads before every write."""
    read = next((step for step in workflow.plan if not tools[step.tool].writes), None)
    if read is None:
        return []
    room = workflow.max_turns - len(workflow.plan) - 2
    plan: list[Step] = []
    for step in workflow.plan:
        if tools[step.tool].writes and room > 0:
            plan.append(read)
            room -= 1
        plan.append(step)
    return plan


def reads_last(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[Step]:
    """Return the plan with its first read moved to the end: no read is before anything by necessity."""
    at = next((n for n, step in enumerate(workflow.plan) if not tools[step.tool].writes), None)
    if at is None or at == len(workflow.plan) - 1:
        return []
    return [*workflow.plan[:at], *workflow.plan[at + 1 :], workflow.plan[at]]


def reordered(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[Step]:
    """Return the plan with two independent writes changed about; empty where no two are independent."""
    plan = workflow.plan
    writes = [n for n, step in enumerate(plan) if tools[step.tool].writes]
    for a, b in pairwise(writes):
        if not _ordered(workflow, plan[a], plan[b]):
            swapped = [*plan[:a], plan[b], *plan[a + 1 : b], plan[a], *plan[b + 1 :]]
            if _goes_through(workflow, tools, swapped):
                return swapped
    return []


def reversed_order(workflow: Workflow) -> list[Step]:
    """Return the plan with the two sides of an order that the task asks for changed about; empty where it asks for none."""
    plan = workflow.plan
    for first, second in workflow.order:
        places = [_places(workflow, name) for name in (first, second)]
        if all(places):
            a, b = places[0][0], places[1][-1]
            if a < b:
                return [*plan[:a], plan[b], *plan[a + 1 : b], plan[a], *plan[b + 1 :]]
    return []


def respelled(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[Step]:
    """Return the plan with every JSON text among its arguments spelled in another way; empty where there is none."""
    plan = [
        replace(step, arguments={k: _respell(v) for k, v in step.arguments.items()}) for step in workflow.plan
    ]
    return plan if plan != workflow.plan and _goes_through(workflow, tools, plan) else []


def wrong_argument(workflow: Workflow, tools: Mapping[str, ToolSpec], place: int) -> Iterator[list[Step]]:
    """Yield the plan with one argument of a required write changed, an argument that the effect asks for."""
    for name, value in asked_for(workflow, place).items():
        other = _other_value(tools[workflow.plan[place].tool], name, value, workflow.plan[place].arguments)
        if other is not None:
            yield with_argument(workflow, place, name, other)


def wrong_entity(workflow: Workflow, place: int) -> Iterator[list[Step]]:
    """Yield the plan with a required write aimed at another row of the fixture, where there is one."""
    for name, value in asked_for(workflow, place).items():
        for rows in workflow.fixture.values():
            for column in rows[0] if rows else ():
                known = [row.get(column) for row in rows]
                others = [one for one in known if one != value and isinstance(one, str)]
                if isinstance(value, str) and value in known and others:
                    yield with_argument(workflow, place, name, others[0])


def asked_for(workflow: Workflow, place: int) -> dict[str, Any]:
    """Return the arguments of a planned call that a required effect names."""
    step = workflow.plan[place]
    for effect in workflow.effects:
        if effect.tool == step.tool and holds(effect.arguments, step.arguments):
            return {name: step.arguments[name] for name in effect.arguments}
    return {}


def with_argument(workflow: Workflow, place: int, name: str, value: Any) -> list[Step]:
    """Return the plan with one argument of one call set."""
    plan = list(workflow.plan)
    plan[place] = replace(plan[place], arguments={**plan[place].arguments, name: value})
    return plan


def _other_value(spec: ToolSpec, name: str, value: Any, arguments: Mapping[str, Any]) -> Any:
    kind = spec.parameters["properties"].get(name, {})
    candidates: list[Any] = [one for one in kind.get("enum", ()) if one != value]
    if isinstance(value, bool):
        candidates.append(not value)
    elif isinstance(value, int):
        candidates += [value + 1, value - 1]
    elif isinstance(value, str):
        candidates += [f"{value}x", f"x{value}"]
    for candidate in candidates:
        if not first_problem(spec.parameters, {**arguments, name: candidate}):
            return candidate
    return None


def _respell(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(json.loads(value), indent=1)
        except ValueError:
            return value
    return value


def _places(workflow: Workflow, effect_id: str) -> list[int]:
    effect = next(one for one in workflow.effects if one.id == effect_id)
    return [
        n
        for n, step in enumerate(workflow.plan)
        if step.tool == effect.tool and holds(effect.arguments, step.arguments)
    ]


def _ordered(workflow: Workflow, a: Step, b: Step) -> bool:
    """Return True if some chain of the partial order leads from a's effect to b's."""
    ids = [
        {
            effect.id
            for effect in workflow.effects
            if effect.tool == step.tool and holds(effect.arguments, step.arguments)
        }
        for step in (a, b)
    ]
    reached = set(ids[0])
    while True:
        more = {after for before, after in workflow.order if before in reached} - reached
        if not more:
            return bool(reached & ids[1])
        reached |= more


def _goes_through(workflow: Workflow, tools: Mapping[str, ToolSpec], plan: Sequence[Step]) -> bool:
    allowed = {name: tools[name] for name in workflow.tools}
    world = World(workflow.fixture, allowed, seed=1)
    fine = all(world.call(step.tool, step.arguments, attempt=str(n)).ok for n, step in enumerate(plan))
    world.close()
    return fine
