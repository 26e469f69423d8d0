"""Did the scheduled fault happen? The injector's word is not enough: the wire and the ledger must show it."""

from collections.abc import Collection, Sequence

from undolab.model.calls import Phase
from undolab.model.fault import Boundary, Exposure, FaultPlan
from undolab.model.match import holds
from undolab.model.wire import WireEffectEvent
from undolab.oracle.history import History

_WORST_FIRST = (Exposure.INVALID_INJECTION, Exposure.NOT_EXPOSED, Exposure.WITNESSED)


def exposure(log: History, committed: Collection[str]) -> Exposure:
    """Return what became of the arm's faults; of several, the worst.

    Args:
        log: The arm's log.
        committed: Attempts with a row in the ledger.
    """
    plans = log.start.faults
    if not plans:
        return Exposure.INVALID_INJECTION if log.faults else Exposure.NO_FAULT
    found = [_one(log, index, plan, committed) for index, plan in enumerate(plans)]
    return next(kind for kind in _WORST_FIRST if kind in found)


def target(events: Sequence[WireEffectEvent], plan: FaultPlan) -> str | None:
    """Return the attempt that the plan aims at: the first attempt of the agent's nth matching call, or None."""
    met = 0
    for event in events:
        if (
            event.phase is Phase.INVOKE
            and event.origin == "agent"
            and event.attempt.endswith(".1")
            and event.tool_name == plan.tool
            and holds(plan.match, event.arguments)
        ):
            met += 1
            if met == plan.nth:
                return event.attempt
    return None


def witnessed(boundary: Boundary, end: WireEffectEvent | None, *, in_ledger: bool) -> bool:
    """Return True if an attempt's end shows the boundary: no answer, and all or nothing committed, by wire and ledger."""
    if end is None or end.phase is not Phase.UNKNOWN or end.acknowledged_to_agent:
        return False
    if boundary is Boundary.POST_MUTATION_PRE_ACK:
        return in_ledger and end.committed_externally and bool(end.effects)
    return not in_ledger and not end.committed_externally and not end.effects and end.output is None


def _one(log: History, index: int, plan: FaultPlan, committed: Collection[str]) -> Exposure:
    aimed = target(log.events, plan)
    injected = [event.attempt for event in log.faults if event.fault == index and event.stage == "injected"]
    if aimed is None and not injected:
        return Exposure.NOT_EXPOSED
    if aimed is None or injected != [aimed]:
        return Exposure.INVALID_INJECTION
    end = log.completion(aimed)
    if witnessed(plan.boundary, end, in_ledger=aimed in committed):
        return Exposure.WITNESSED
    if plan.boundary is Boundary.POST_MUTATION_PRE_ACK and aimed not in committed and _refused(end):
        return Exposure.NOT_EXPOSED
    return Exposure.INVALID_INJECTION


def _refused(end: WireEffectEvent | None) -> bool:
    """Return True if the service answered the lost call with an error: the mutation whose answer was to be lost never was."""
    return (
        end is not None
        and end.phase is Phase.UNKNOWN
        and end.output is not None
        and not end.effects
        and not end.committed_externally
        and end.replay_of is None
    )
