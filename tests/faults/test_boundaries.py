"""Each boundary does what it says, and its witness comes from the ledger and the wire."""

from typing import Any

import pytest

from undolab.faults import FaultProxy
from undolab.faults.inject import witness
from undolab.model.calls import LOST, REFUSED, Call, Phase, Reply
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.wire import FaultEvent, WireEffectEvent, WorldEvent
from undolab.wire import LogWriter

UNKNOWN = Reply(phase=Phase.UNKNOWN, output=LOST)
LIFE = ["armed", "injected", "witnessed", "released"]


def plan(boundary: Boundary, tool: str = "add", **more: Any) -> FaultPlan:
    return FaultPlan(boundary=boundary, scenario="s", tool=tool, match={"by": 2}, **more)


def call(turn: int = 1, tool: str = "add", by: int = 2, origin: str = "agent") -> Call:
    return Call(tool=tool, arguments={"by": by}, turn=turn, origin=origin)


def stages(log: LogWriter, fault: int = 0) -> list[str]:
    return [line.stage for line in log.lines if isinstance(line, FaultEvent) and line.fault == fault]


def doings(log: LogWriter) -> list[tuple[str, str, int]]:
    return [
        (line.cause, line.attempt, len(line.effects)) for line in log.lines if isinstance(line, WorldEvent)
    ]


def last_event(log: LogWriter) -> WireEffectEvent:
    return [line for line in log.lines if isinstance(line, WireEffectEvent)][-1]


def test_a_call_that_dies_half_done_has_committed_its_first_part(counter: Any, tools: Any) -> None:
    """DURING_MUTATION: one of two parts is in the ledger, and nobody is answered."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log, [plan(Boundary.DURING_MUTATION, "both", parts=1)]).send(
        call(tool="both")
    )

    assert (reply, counter.count, stages(log)) == (UNKNOWN, 2, LIFE)
    event = last_event(log)
    assert (event.parts, event.output, len(event.effects), event.committed_externally) == (1, None, 1, True)


def test_a_half_done_call_that_is_refused_has_no_witness(counter: Any, tools: Any) -> None:
    """Where the service refuses there is no part to commit."""
    log = LogWriter()
    half = FaultPlan(boundary=Boundary.DURING_MUTATION, scenario="s", tool="both", parts=1)

    FaultProxy(counter, tools, log, [half]).send(call(tool="both", by=-1))

    assert stages(log) == ["armed", "injected", "released"]
    assert last_event(log).output == {"code": "conflict", "message": "by is negative"}


def test_a_late_call_commits_after_its_caller_has_looked(counter: Any, tools: Any) -> None:
    """LATE_COMMIT: a read after the loss shows nothing, and the first call commits before the retry."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.LATE_COMMIT, delay_ms=10_500)])

    assert proxy.send(call()) == UNKNOWN
    assert proxy.send(Call(tool="read", arguments={}, turn=2)).output == {"count": 0}
    proxy.wait(1_000)

    assert (counter.count, doings(log), stages(log)) == (2, [("late", "1.1.1", 1)], LIFE)
    assert proxy.clock.now_ms == 11_050


def test_a_running_call_is_overtaken_by_its_retry(counter: Any, tools: Any) -> None:
    """OVERTAKEN: the second attempt is committed first, and the first one after it (field case B5)."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.OVERTAKEN, delay_ms=12_000)])

    proxy.send(call())
    assert proxy.send(call()).phase is Phase.OK
    proxy.drain()

    assert [row.attempt for row in counter.rows] == ["1.1.2", "1.1.1"]
    assert (doings(log), stages(log)) == ([("finish", "1.1.1", 1)], LIFE)


def test_a_fault_outlives_the_budget_it_is_given(counter: Any, tools: Any) -> None:
    """OUTLIVES_BUDGET: the first attempt commits, three go unanswered, and the fourth is answered."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.OUTLIVES_BUDGET, times=3)])

    phases = [proxy.send(call()).phase for _ in range(4)]

    assert phases == [Phase.UNKNOWN, Phase.UNKNOWN, Phase.UNKNOWN, Phase.OK]
    assert [row.attempt for row in counter.rows] == ["1.1.1", "1.1.4"]
    assert stages(log) == ["armed", "injected", "witnessed", "sustained", "sustained", "released"]


def test_a_fault_that_nobody_meets_again_ends_with_the_arm(counter: Any, tools: Any) -> None:
    """What still holds when the agent stops is released at the end."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.OUTLIVES_BUDGET, times=3)])

    proxy.send(call())
    proxy.drain()

    assert stages(log) == LIFE


def test_a_request_delivered_twice_is_done_twice_and_answered_once(counter: Any, tools: Any) -> None:
    """DUPLICATE_DELIVERY: the caller gets the first answer and knows of no second."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log, [plan(Boundary.DUPLICATE_DELIVERY)]).send(call())

    assert (reply.output, counter.count) == ({"count": 2}, 4)
    assert (doings(log), stages(log)) == ([("redelivery", "1.1.1d", 1)], LIFE)


def test_somebody_else_writes_the_same_after_our_call_was_lost(counter: Any, tools: Any) -> None:
    """CONCURRENT_WRITE: ours never ran, theirs did, and it carries no key of ours."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log, [plan(Boundary.CONCURRENT_WRITE)]).send(call())

    assert (reply, [row.attempt for row in counter.rows]) == (UNKNOWN, ["1.1.1x"])
    assert (doings(log), stages(log)) == ([("third_party", "1.1.1x", 1)], LIFE)


@pytest.mark.parametrize(
    "boundary", [Boundary.POST_ACK_PRE_CHECKPOINT, Boundary.POST_ACK_PRE_CHECKPOINT_TOLD]
)
def test_an_agent_dies_after_its_answer(counter: Any, tools: Any, boundary: Boundary) -> None:
    """POST_ACK_PRE_CHECKPOINT: the answer arrives, and the death is reported once."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(boundary)])

    assert proxy.send(call()).output == {"count": 2}

    assert (proxy.death(), proxy.death(), stages(log)) == (boundary, None, LIFE)


def test_a_step_that_is_refused_for_good_never_reaches_the_service(counter: Any, tools: Any) -> None:
    """STEP_REFUSED: every attempt gets the same answer."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.STEP_REFUSED)])

    replies = [proxy.send(call()), proxy.send(call(2))]
    proxy.drain()

    assert replies == [Reply(phase=Phase.FAIL, output=REFUSED)] * 2
    assert (counter.rows, stages(log)) == ([], ["armed", "injected", "witnessed", "sustained", "released"])


def test_a_fault_while_compensating_aims_at_the_methods_call(counter: Any, tools: Any) -> None:
    """DURING_COMPENSATION: the agent's own call of that tool is answered, the method's is lost after its commit."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.DURING_COMPENSATION)])

    assert proxy.send(call()).phase is Phase.OK
    assert proxy.send(call(2, origin="method")) == UNKNOWN

    assert (counter.count, stages(log)) == (4, LIFE)


def test_two_faults_of_one_arm_have_lives_of_their_own(counter: Any, tools: Any) -> None:
    """The first call is lost after its commit, another one before it ran."""
    log = LogWriter()
    other = FaultPlan(boundary=Boundary.PRE_MUTATION, scenario="o", tool="add", match={"by": 3}, follows=True)
    proxy = FaultProxy(counter, tools, log, [plan(Boundary.POST_MUTATION_PRE_ACK), other])

    assert [proxy.send(call()), proxy.send(call(2, by=3))] == [UNKNOWN, UNKNOWN]

    assert (counter.count, stages(log, 0), stages(log, 1)) == (2, LIFE, LIFE)


@pytest.mark.parametrize(
    "boundary",
    [
        Boundary.PRE_MUTATION,
        Boundary.POST_MUTATION_PRE_ACK,
        Boundary.LATE_COMMIT,
        Boundary.OVERTAKEN,
        Boundary.OUTLIVES_BUDGET,
        Boundary.CONCURRENT_WRITE,
    ],
)
def test_every_lost_answer_looks_the_same(counter: Any, tools: Any, boundary: Boundary) -> None:
    """The caller can tell no boundary from another by what it sees or by the time it takes."""
    proxy = FaultProxy(counter, tools, LogWriter(), [plan(boundary, times=3, delay_ms=12_000)])

    assert (proxy.send(call()), proxy.clock.now_ms) == (UNKNOWN, 10_000)


@pytest.mark.parametrize(
    ("boundary", "rows", "response", "others", "shown"),
    [
        (Boundary.PRE_MUTATION, 1, 0, 0, False),
        (Boundary.DURING_MUTATION, 0, 0, 0, False),
        (Boundary.POST_MUTATION_PRE_ACK, 1, 9, 0, False),
        (Boundary.POST_ACK_PRE_CHECKPOINT, 1, 0, 0, False),
        (Boundary.POST_ACK_PRE_CHECKPOINT, 1, 9, 0, True),
        (Boundary.CONCURRENT_WRITE, 0, 0, 0, False),
        (Boundary.CONCURRENT_WRITE, 0, 0, 1, True),
        (Boundary.DUPLICATE_DELIVERY, 1, 9, 0, False),
        (Boundary.DUPLICATE_DELIVERY, 1, 9, 1, True),
        (Boundary.STEP_REFUSED, 1, 9, 0, False),
        (Boundary.OVERTAKEN, 0, 0, 0, False),
        (Boundary.LATE_COMMIT, 0, 0, 0, False),
    ],
)
def test_a_witness_needs_its_whole_evidence(
    boundary: Boundary, rows: int, response: int, others: int, shown: bool
) -> None:
    """One thing missing, or one too many, and there is no witness."""
    assert (witness(boundary, rows, response, others=others) is not None) is shown
