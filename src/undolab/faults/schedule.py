"""Which call a fault aims at: the nth call of the agent whose tool and arguments match, in any legal order of calls."""

from collections.abc import Sequence

from undolab.model.calls import Call
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.match import holds


class Schedule:
    """The faults of one arm and how many matching calls each has met."""

    def __init__(self, plans: Sequence[FaultPlan]) -> None:
        """Schedule `plans`; each fires at most once."""
        self._plans = plans
        self._met = [0] * len(plans)
        self._open = set(range(len(plans)))

    def due(self, call: Call, *, first: bool) -> int | None:
        """Count the call and return the index of the fault that fires on it, or None.

        Only the first attempt of a call that the agent made is counted, so retries below the agent move no target. A fault
        DURING_COMPENSATION aims at the calls that a method makes to take something back.
        """
        fired = None
        for index in sorted(self._open):
            plan = self._plans[index]
            if _counts(plan, call, first=first) and aims(plan, call):
                self._met[index] += 1
                if fired is None and self._met[index] == plan.nth:
                    self._open.discard(index)
                    fired = index
        return fired


def aims(plan: FaultPlan, call: Call) -> bool:
    """Return True if tool and arguments of the call are those that the plan names."""
    return plan.tool == call.tool and holds(plan.match, call.arguments)


def _counts(plan: FaultPlan, call: Call, *, first: bool) -> bool:
    if plan.boundary is Boundary.DURING_COMPENSATION:
        return call.origin == "method"
    return first and call.origin == "agent"
