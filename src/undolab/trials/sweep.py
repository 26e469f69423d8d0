"""The sweep of attempt budget and back-off: how often each retrying method passes where timing decides."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.wire import ArmId
from undolab.model.workflow import Workflow
from undolab.recovery import SCHEDULES, Retry
from undolab.trials.arm import prepare, run_arm
from undolab.trials.conformance import SEED, table
from undolab.trials.schedule import schedule
from undolab.trials.source import SCRIPTED

BUDGETS = (1, 2, 3, 5)
METHODS = ("B0", "B2-K", "B6")
"""One of each kind: blind, keyed, reading."""
BOUNDARIES = (Boundary.LATE_COMMIT, Boundary.OVERTAKEN, Boundary.OUTLIVES_BUDGET)


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One point of the sweep, over all workflows."""

    boundary: str
    method: str
    backoff: str
    attempts: int
    passed: int
    duplicates: int
    """Arms with a harmful duplicate."""
    arms: int


def sweep(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> Iterator[Point]:
    """Yield every point: boundaries, then methods, then back-offs, then budgets."""
    tasks = [prepare(workflow, tools, prompt="script", examples="script") for workflow in workflows]
    for boundary in BOUNDARIES:
        for method in METHODS:
            for name, backoff in SCHEDULES.items():
                for attempts in BUDGETS:
                    retry = Retry(attempts=attempts, backoff=backoff)
                    passed = duplicates = 0
                    for task in tasks:
                        arm = ArmId(
                            workflow=task.workflow.id,
                            model=f"{SCRIPTED}{Policy.GOLD}",
                            framework="script",
                            boundary=boundary,
                            method=method,
                            seed=SEED,
                            arm="fault",
                        )
                        plans = schedule(task.workflow, tools, boundary, method) or ()
                        agent = ScriptedAgent(task.workflow.plan, task.tools, Policy.GOLD)
                        verdict = run_arm(task, arm, agent, plans, retry=retry).verdict
                        passed += verdict.passed
                        duplicates += verdict.harmful_duplicates > 0
                    yield Point(
                        boundary=boundary.value,
                        method=method,
                        backoff=name,
                        attempts=attempts,
                        passed=passed,
                        duplicates=duplicates,
                        arms=len(tasks),
                    )


def sweep_csv(points: Sequence[Point]) -> bytes:
    """Return the sweep as a table."""
    return table(Point.__struct_fields__, [msgspec.structs.astuple(point) for point in points])
