"""Does the log's account of each fault's life agree with what the attempts show?"""

from collections.abc import Iterator, Mapping

from undolab.model.calls import Phase
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.match import holds
from undolab.model.wire import FaultEvent, WorldEvent
from undolab.oracle.exposure import CAUSES, DEATHS, own_doings, target, witnessed
from undolab.oracle.history import History

_LIFE = ("armed", "injected", "witnessed", "released")
_AFTER_THE_ANSWER = DEATHS | {Boundary.DUPLICATE_DELIVERY}


def stage_problems(log: History, committed: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return each problem with its sequence number.

    Args:
        log: The arm's log.
        committed: Number of ledger rows of each attempt that the fold committed.
    """
    problems = [
        (event.seq, f"fault {event.fault} is not in the arm's schedule")
        for event in _events(log)
        if not 0 <= event.fault < len(log.start.faults)
    ]
    for index, plan in enumerate(log.start.faults):
        problems += _life_problems(log, index, committed)
        problems += _sustained_problems(log, index, plan)
    unknown = {event.attempt for event in log.faults if event.stage in ("injected", "sustained")}
    problems += [
        (event.seq, f"attempt {event.attempt} got no answer, but no fault was injected there")
        for event in log.events
        if event.phase is Phase.UNKNOWN and event.attempt not in unknown
    ]
    return problems


def _events(log: History) -> list[FaultEvent | WorldEvent]:
    return [*log.faults, *log.world]


def _life_problems(log: History, index: int, committed: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    plan = log.start.faults[index]
    life = [event for event in log.faults if event.fault == index and event.stage != "sustained"]
    aimed = target(log.events, plan)
    if aimed is None:
        yield from (
            (event.seq, f"fault {index} is {event.stage}, but its target was never called") for event in life
        )
        return
    for event in life:
        if event.attempt != aimed:
            yield (
                event.seq,
                f"fault {index} is {event.stage} at attempt {event.attempt}, its target is {aimed}",
            )
        rows = event.detail.get("ledger_rows", committed.get(aimed, 0))
        if rows != committed.get(aimed, 0):
            yield (
                event.seq,
                f"fault {index} claims {rows} ledger rows, the fold finds {committed.get(aimed, 0)}",
            )
    doings = own_doings(log, index, aimed)
    for one in log.world:
        if one.fault == index and (one not in doings or one.tool_name != plan.tool or len(doings) > 1):
            yield one.seq, f"{one.cause} of attempt {one.attempt} is not what fault {index} brings about"
    shown = witnessed(log, index, aimed, committed)
    expected = [stage for stage in _LIFE if shown or stage != "witnessed"]
    stages = [event.stage for event in life]
    if stages != expected:
        where = life[-1].seq if life else log.report.seq
        yield where, f"fault {index} went through {stages}, the attempts show {expected}"
        return
    span = {event.stage: event.seq for event in life}
    ends = [event.seq for event in log.events if event.attempt == aimed]
    middle = [span["injected"], ends[-1]]
    if plan.boundary in _AFTER_THE_ANSWER:
        middle.reverse()
    if plan.boundary in CAUSES and doings:
        middle.append(doings[0].seq)
    order = [span["armed"], ends[0], *middle, span["released"]]
    if plan.boundary is Boundary.DUPLICATE_DELIVERY:
        order = sorted(order[:-1]) + order[-1:]
    if order != sorted(order):
        yield life[0].seq, f"the stages of fault {index} do not enclose attempt {aimed}"


def _sustained_problems(log: History, index: int, plan: FaultPlan) -> Iterator[tuple[int, str]]:
    """Further attempts may meet a fault only where it is one that holds, at the same call, and no more often than it says."""
    met = [event for event in log.faults if event.fault == index and event.stage == "sustained"]
    allowed = {Boundary.OUTLIVES_BUDGET: (plan.times or 1) - 1, Boundary.STEP_REFUSED: len(met)}
    for number, event in enumerate(met, start=1):
        calls = [one for one in log.events if one.attempt == event.attempt]
        fits = calls and all(one.tool_name == plan.tool and holds(plan.match, one.arguments) for one in calls)
        if number > allowed.get(plan.boundary, 0) or not fits:
            yield event.seq, f"fault {index} cannot hold at attempt {event.attempt}"
