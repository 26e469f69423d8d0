"""Does the log's account of each fault's life agree with what the attempts show?"""

from collections.abc import Iterator, Mapping

from undolab.model.calls import Phase
from undolab.oracle.exposure import target, witnessed
from undolab.oracle.history import History

_LIFE = ("armed", "injected", "witnessed", "released")


def stage_problems(log: History, committed: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return each problem with its sequence number.

    Args:
        log: The arm's log.
        committed: Number of ledger rows of each attempt that the fold committed.
    """
    problems = [
        (event.seq, f"fault {event.fault} is not in the arm's schedule")
        for event in log.faults
        if not 0 <= event.fault < len(log.start.faults)
    ]
    for index in range(len(log.start.faults)):
        problems += _life_problems(log, index, committed)
    unknown = {event.attempt for event in log.faults if event.stage == "injected"}
    problems += [
        (event.seq, f"attempt {event.attempt} got no answer, but no fault was injected there")
        for event in log.events
        if event.phase is Phase.UNKNOWN and event.attempt not in unknown
    ]
    return problems


def _life_problems(log: History, index: int, committed: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    plan = log.start.faults[index]
    life = [event for event in log.faults if event.fault == index]
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
    shown = witnessed(plan.boundary, log.completion(aimed), in_ledger=aimed in committed)
    expected = [stage for stage in _LIFE if shown or stage != "witnessed"]
    stages = [event.stage for event in life]
    if stages != expected:
        where = life[-1].seq if life else log.report.seq
        yield where, f"fault {index} went through {stages}, the attempts show {expected}"
    span = {event.stage: event.seq for event in life}
    ends = [event.seq for event in log.events if event.attempt == aimed]
    if stages == expected and not span["armed"] < ends[0] < span["injected"] < ends[-1] < span["released"]:
        yield life[0].seq, f"the stages of fault {index} do not enclose attempt {aimed}"
