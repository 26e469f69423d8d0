"""The fault schedule of an arm at any boundary, and where none is applicable: it follows from task, tools and method."""

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import replace

from undolab.model.fault import Boundary, FaultPlan
from undolab.model.match import holds, same_value
from undolab.model.play import COMPENSATING
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Scenario, Step, Workflow
from undolab.recovery import STANDARD

LATE_MS = 10_500
"""After the caller gave up (10 s) and read back, before its first retry (11 s; B4's at 10.5 s comes just after)."""
OVERTAKEN_MS = 12_000
"""After the first retry (11 s), before the second (13 s)."""
BOUNDARIES = tuple(one for one in Boundary if one not in (Boundary.NONE, Boundary.STEP_REFUSED))
"""Every boundary at which an arm can be run, in the order of the tables."""
_DELAY_MS = {Boundary.LATE_COMMIT: LATE_MS, Boundary.OVERTAKEN: OVERTAKEN_MS}


def schedule(
    workflow: Workflow, tools: Mapping[str, ToolSpec], boundary: str, method: str
) -> list[FaultPlan] | None:
    """Return the faults of an arm, none at `NONE`; None where the boundary is not applicable.

    Not applicable are DURING_MUTATION without a planned call of several parts, TWO_FAULTS without two calls, and
    DURING_COMPENSATION where the method never compensates in this task.

    Args:
        workflow: the task.
        tools: the catalogue.
        boundary: a `Boundary`.
        method: code of the arm's method.
    """
    aim = _plan(workflow.scenarios[0])
    match Boundary(boundary):
        case Boundary.NONE:
            return []
        case Boundary.DURING_MUTATION:
            half = _composite(workflow, tools)
            return None if half is None else [half]
        case Boundary.DURING_COMPENSATION:
            return _compensation(workflow, tools, method)
        case Boundary.TWO_FAULTS:
            return _two(workflow, tools)
        case Boundary.OUTLIVES_BUDGET:
            return [replace(aim, boundary=Boundary.OUTLIVES_BUDGET, times=STANDARD.attempts)]
        case (Boundary.LATE_COMMIT | Boundary.OVERTAKEN) as delayed:
            return [replace(aim, boundary=delayed, delay_ms=_DELAY_MS[delayed])]
        case other:
            return [replace(aim, boundary=other)]


def _plan(scenario: Scenario) -> FaultPlan:
    return FaultPlan(
        boundary=Boundary.POST_MUTATION_PRE_ACK,
        scenario=scenario.id,
        tool=scenario.tool,
        match=scenario.match,
        nth=scenario.nth,
    )


def at_step(workflow: Workflow, place: int, boundary: Boundary) -> FaultPlan:
    """Return a fault at one call of the plan, whatever other calls of the same kind come before it."""
    aimed = workflow.plan[place]
    same = [step for step in workflow.plan[:place] if _equal(step, aimed)]
    return FaultPlan(
        boundary=boundary,
        scenario=f"plan:{place + 1}",
        tool=aimed.tool,
        match=aimed.arguments,
        nth=len(same) + 1,
    )


def target_step(workflow: Workflow, plan: FaultPlan) -> int:
    """Return which call of the workflow's plan a fault strikes."""
    hits = [
        n
        for n, step in enumerate(workflow.plan)
        if step.tool == plan.tool and holds(plan.match, step.arguments)
    ]
    return hits[plan.nth - 1]


def _equal(a: Step, b: Step) -> bool:
    return a.tool == b.tool and same_value(a.arguments, b.arguments)


def _composite(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> FaultPlan | None:
    """Aim at a call of several parts, the first scenario's if it is one, after the first part."""
    aims = [_plan(scenario) for scenario in workflow.scenarios]
    aims += [at_step(workflow, n, Boundary.DURING_MUTATION) for n in range(len(workflow.plan))]
    for aim in aims:
        if tools[aim.tool].sub_writes > 1:
            return replace(aim, boundary=Boundary.DURING_MUTATION, parts=1)
    return None


def _two(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[FaultPlan] | None:
    """Lose the answer of the scenario's call, and another call before it ran; what comes first in the plan goes first."""
    aim = _plan(workflow.scenarios[0])
    here = target_step(workflow, aim)
    others = [
        n
        for n in range(len(workflow.plan))
        if n != here and not _equal(workflow.plan[n], workflow.plan[here])
    ]
    if not others:
        return None
    there = min(others, key=lambda n: (not tools[workflow.plan[n].tool].writes, n < here, abs(n - here)))
    pair = [(here, aim), (there, at_step(workflow, there, Boundary.PRE_MUTATION))]
    first, second = (plan for _, plan in sorted(pair, key=lambda one: one[0]))
    return [first, replace(second, follows=True)]


def _compensation(workflow: Workflow, tools: Mapping[str, ToolSpec], method: str) -> list[FaultPlan] | None:
    """B3: a step is refused for good after one that can be taken back. B7: a call of several parts is lost and taken back."""
    if method not in COMPENSATING:
        return None
    if method == "B7":
        half = _composite(workflow, tools)
        inverse = tools[half.tool].inverse if half is not None else None
        if half is None or inverse is None or "{output." in str(inverse.arguments):
            return None
        return [replace(half, boundary=Boundary.POST_MUTATION_PRE_ACK, parts=UNSET), _undo(inverse.tool)]
    writes = [n for n, step in enumerate(workflow.plan) if tools[step.tool].writes]
    for place in writes[1:]:
        done = [tools[workflow.plan[n].tool].inverse for n in writes if n < place]
        undo = next((inverse for inverse in reversed(done) if inverse is not None), None)
        if undo is not None:
            return [at_step(workflow, place, Boundary.STEP_REFUSED), _undo(undo.tool)]
    return None


def _undo(tool: str) -> FaultPlan:
    return FaultPlan(boundary=Boundary.DURING_COMPENSATION, scenario="undo", tool=tool)
