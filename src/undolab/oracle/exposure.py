"""Did the scheduled fault happen? The injector's word is not enough: the wire and the ledger must show it."""

from collections.abc import Collection, Sequence

from undolab.model.calls import REFUSED, Phase
from undolab.model.fault import Boundary, Exposure, FaultPlan
from undolab.model.match import holds
from undolab.model.wire import WireEffectEvent, WorldEvent
from undolab.oracle.history import History

_WORST_FIRST = (Exposure.INVALID_INJECTION, Exposure.NOT_EXPOSED, Exposure.WITNESSED)

DEATHS = frozenset({Boundary.POST_ACK_PRE_CHECKPOINT, Boundary.POST_ACK_PRE_CHECKPOINT_TOLD})
"""Boundaries at which the agent's process dies."""
CAUSES = {
    Boundary.LATE_COMMIT: "late",
    Boundary.OVERTAKEN: "finish",
    Boundary.DUPLICATE_DELIVERY: "redelivery",
    Boundary.CONCURRENT_WRITE: "third_party",
}
"""What the service does by itself at these boundaries; at all others nothing."""
_SUFFIX = {Boundary.DUPLICATE_DELIVERY: "d", Boundary.CONCURRENT_WRITE: "x"}


def exposure(log: History, committed: Collection[str]) -> Exposure:
    """Return what became of the arm's faults; of several, the worst.

    A fault that an earlier one may keep from being reached does not count where it was not.

    Args:
        log: The arm's log.
        committed: Attempts with a row in the ledger.
    """
    plans = log.start.faults
    if not plans:
        return Exposure.INVALID_INJECTION if log.faults or log.world else Exposure.NO_FAULT
    found = [(plan, _one(log, index, plan, committed)) for index, plan in enumerate(plans)]
    kinds = [kind for plan, kind in found if not (plan.follows and kind is Exposure.NOT_EXPOSED)]
    return next(kind for kind in _WORST_FIRST if kind in kinds)


def target(events: Sequence[WireEffectEvent], plan: FaultPlan) -> str | None:
    """Return the attempt that the plan aims at, or None.

    It is the first attempt of the agent's nth matching call; while a method compensates, the nth matching call that it adds.
    """
    met = 0
    for event in events:
        if (
            event.phase is Phase.INVOKE
            and _may_be_target(event, plan)
            and event.tool_name == plan.tool
            and holds(plan.match, event.arguments)
        ):
            met += 1
            if met == plan.nth:
                return event.attempt
    return None


def _may_be_target(event: WireEffectEvent, plan: FaultPlan) -> bool:
    if plan.boundary is Boundary.DURING_COMPENSATION:
        return event.origin == "method"
    return event.origin == "agent" and event.attempt.endswith(".1")


def witnessed(log: History, index: int, aimed: str, committed: Collection[str]) -> bool:
    """Return True if wire and ledger show that the fault struck its target as its boundary says."""
    plan = log.start.faults[index]
    end = log.completion(aimed)
    if end is None:
        return False
    lost = end.phase is Phase.UNKNOWN and not end.acknowledged_to_agent
    heard = end.phase is not Phase.UNKNOWN and end.acknowledged_to_agent
    in_ledger = aimed in committed
    stands = in_ledger and end.committed_externally and bool(end.effects)
    nothing = not end.committed_externally and not end.effects and end.output is None
    other = own_doings(log, index, aimed)
    match plan.boundary:
        case Boundary.PRE_MUTATION:
            return lost and nothing and not in_ledger and not other
        case Boundary.POST_MUTATION_PRE_ACK | Boundary.OUTLIVES_BUDGET | Boundary.DURING_COMPENSATION:
            return lost and stands and end.parts is None
        case Boundary.DURING_MUTATION:
            return lost and stands and end.parts == plan.parts and end.output is None
        case Boundary.LATE_COMMIT:
            return lost and nothing and in_ledger and _did(other) and other[0].seq > end.seq
        case Boundary.OVERTAKEN:
            return lost and nothing and end.parts == 0 and bool(other) and other[0].seq > end.seq
        case Boundary.CONCURRENT_WRITE:
            return lost and nothing and not in_ledger and _did(other) and other[0].attempt in committed
        case Boundary.DUPLICATE_DELIVERY:
            return heard and stands and len(other) == 1
        case Boundary.POST_ACK_PRE_CHECKPOINT | Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            return heard and stands and _resumed(log, end, plan.boundary)
        case Boundary.STEP_REFUSED:
            return heard and not in_ledger and not end.effects and end.output == REFUSED
        case _:
            return False


def own_doings(log: History, index: int, aimed: str) -> list[WorldEvent]:
    """Return what the service did by itself through this fault, as its boundary has it."""
    boundary = log.start.faults[index].boundary
    name = aimed + _SUFFIX.get(boundary, "")
    cause = CAUSES.get(boundary)
    return [one for one in log.world if one.fault == index and one.cause == cause and one.attempt == name]


def _did(doings: Sequence[WorldEvent]) -> bool:
    return len(doings) == 1 and (bool(doings[0].effects) or doings[0].replay_of is not None)


def _resumed(log: History, end: WireEffectEvent, boundary: Boundary) -> bool:
    """Return True if the next turn is that of a new process, which knows what its checkpoint knew."""
    before = [turn for turn in log.turns if turn.seq < end.seq]
    after = [turn for turn in log.turns if turn.seq > end.seq]
    if not after:
        return log.report.reason == "turn_limit"
    last, next_ = before[-1], after[0]
    if next_.resume != last.resume + 1:
        return False
    if boundary is Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
        return next_.turn == last.turn + 1
    return next_.turn == last.turn and next_.seen == last.seen


def _one(log: History, index: int, plan: FaultPlan, committed: Collection[str]) -> Exposure:
    aimed = target(log.events, plan)
    injected = [event.attempt for event in log.faults if event.fault == index and event.stage == "injected"]
    if aimed is None and not injected:
        return Exposure.NOT_EXPOSED
    if aimed is None or injected != [aimed]:
        return Exposure.INVALID_INJECTION
    if witnessed(log, index, aimed, committed):
        return Exposure.WITNESSED
    if aimed not in committed and _refused(log, index, plan, aimed):
        return Exposure.NOT_EXPOSED
    return Exposure.INVALID_INJECTION


def _refused(log: History, index: int, plan: FaultPlan, aimed: str) -> bool:
    """Return True if the service answered the call with an error: the mutation that the fault is about never was."""
    end = log.completion(aimed)
    if end is None or end.effects or end.committed_externally or end.replay_of is not None:
        return False
    match plan.boundary:
        case Boundary.PRE_MUTATION | Boundary.STEP_REFUSED:
            return False
        case Boundary.LATE_COMMIT | Boundary.CONCURRENT_WRITE:
            other = own_doings(log, index, aimed)
            return end.phase is Phase.UNKNOWN and len(other) == 1 and not _did(other)
        case (
            Boundary.DUPLICATE_DELIVERY
            | Boundary.POST_ACK_PRE_CHECKPOINT
            | Boundary.POST_ACK_PRE_CHECKPOINT_TOLD
        ):
            return end.phase is Phase.FAIL
        case _:
            return end.phase is Phase.UNKNOWN and end.output is not None
