from typing import Any

import msgspec
import pytest

from undolab.faults import FaultProxy
from undolab.model.calls import LOST, Call, Outcome, Phase, Reply
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import Op
from undolab.model.wire import FaultEvent, WireEffectEvent
from undolab.wire import LogWriter

PRE = FaultPlan(boundary=Boundary.PRE_MUTATION, scenario="s", tool="add", match={"by": 2})
POST = FaultPlan(boundary=Boundary.POST_MUTATION_PRE_ACK, scenario="s", tool="add", match={"by": 2})


def call(by: int, turn: int = 1) -> Call:
    return Call(tool="add", arguments={"by": by}, turn=turn)


def events(log: LogWriter) -> list[WireEffectEvent]:
    return [line for line in log.lines if isinstance(line, WireEffectEvent)]


def stages(log: LogWriter) -> list[str]:
    return [line.stage for line in log.lines if isinstance(line, FaultEvent)]


def test_a_call_without_fault_is_answered_and_logged_at_both_ends(counter: Any, tools: Any) -> None:
    """An attempt is an invoke and then one completion, with what the world committed."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log).send(call(2))

    assert reply == Reply(phase=Phase.OK, output={"count": 2})
    invoke, done = events(log)
    assert (invoke.phase, invoke.attempt, invoke.call_index, invoke.at_ms) == (Phase.INVOKE, "1.1.1", 1, 0)
    assert (done.phase, done.committed_externally, done.acknowledged_to_agent) == (Phase.OK, True, True)
    assert (done.target, done.output, done.at_ms, done.op_type) == (
        ["counters/c"],
        {"count": 2},
        50,
        Op.UPDATE,
    )


def test_a_refused_call_is_fail_and_commits_nothing(counter: Any, tools: Any) -> None:
    """A service's own error is an answer."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log).send(call(-1))

    assert reply.phase is Phase.FAIL
    assert (events(log)[1].committed_externally, events(log)[1].acknowledged_to_agent) == (False, True)


def test_before_the_mutation_nothing_runs(counter: Any, tools: Any) -> None:
    """At PRE_MUTATION the world never hears of the call, and the ledger witnesses it."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log, [PRE]).send(call(2))

    assert (reply, counter.count) == (Reply(phase=Phase.UNKNOWN, output=LOST), 0)
    assert stages(log) == ["armed", "injected", "witnessed", "released"]
    assert (events(log)[1].committed_externally, events(log)[1].output) == (False, None)


def test_after_the_mutation_all_is_committed_and_unheard(counter: Any, tools: Any) -> None:
    """At POST_MUTATION_PRE_ACK the change stands and the answer is lost."""
    log = LogWriter()

    reply = FaultProxy(counter, tools, log, [POST]).send(call(2))

    assert (reply, counter.count) == (Reply(phase=Phase.UNKNOWN, output=LOST), 2)
    assert stages(log) == ["armed", "injected", "witnessed", "released"]
    done = events(log)[1]
    assert (done.committed_externally, done.acknowledged_to_agent, done.output) == (True, False, {"count": 2})


def test_what_the_agent_sees_does_not_depend_on_the_boundary(counter: Any, tools: Any) -> None:
    """The reply and the virtual time are the same to the byte on both sides of the commit."""
    seen = []
    for plan in (PRE, POST):
        proxy = FaultProxy(counter, tools, LogWriter(), [plan])
        seen.append((msgspec.json.encode(proxy.send(call(2))), proxy.clock.now_ms))

    assert seen[0] == seen[1]


def test_a_fault_strikes_once(counter: Any, tools: Any) -> None:
    """The second attempt at the target call is answered."""
    proxy = FaultProxy(counter, tools, LogWriter(), [PRE])

    assert [proxy.send(call(2)).phase, proxy.send(call(2)).phase] == [Phase.UNKNOWN, Phase.OK]


@pytest.mark.parametrize(
    ("boundary", "stub"), [(Boundary.POST_MUTATION_PRE_ACK, "idle"), (Boundary.PRE_MUTATION, "busy")]
)
def test_an_injector_that_only_claims_has_no_witness(
    counter: Any, tools: Any, boundary: Boundary, stub: str
) -> None:
    """A fault that did not happen as said is injected, but never witnessed."""
    log = LogWriter()

    def injector(_: Boundary, execute: Any) -> Outcome | None:
        return None if stub == "idle" else execute()

    plan = msgspec.structs.replace(POST, boundary=boundary)
    FaultProxy(counter, tools, log, [plan], injector).send(call(2))

    assert stages(log) == ["armed", "injected", "released"]


def test_the_nth_matching_call_is_the_target_in_any_order(counter: Any, tools: Any) -> None:
    """Calls with other arguments, of other tools, and retries below the agent move no target."""
    plan = msgspec.structs.replace(PRE, nth=2)
    proxy = FaultProxy(counter, tools, LogWriter(), [plan])
    read = Call(tool="read", arguments={}, turn=1)

    phases = [proxy.send(c).phase for c in (call(2, 1), call(2, 1), call(3, 2), read, call(2, 3))]

    assert phases == [Phase.OK, Phase.OK, Phase.OK, Phase.OK, Phase.UNKNOWN]


def test_calls_of_a_method_are_numbered_apart_and_never_hit(counter: Any, tools: Any) -> None:
    """A probe has its own attempt name and cannot take the place of the agent's call."""
    log = LogWriter()
    proxy = FaultProxy(counter, tools, log, [PRE])

    proxy.send(Call(tool="add", arguments={"by": 2}, turn=1, origin="method"))
    proxy.send(call(2))

    assert [event.attempt for event in events(log)] == ["1.1.1m", "1.1.1m", "1.1.1", "1.1.1"]
    assert events(log)[-1].phase is Phase.UNKNOWN


def test_an_idle_injector_leaves_a_control_as_it_was(counter: Any, tools: Any) -> None:
    """A schedule whose target is never called changes no byte of the log."""
    logs = []
    for faults in ([], [msgspec.structs.replace(PRE, match={"by": 99})]):
        log = LogWriter()
        counter.count, counter.rows = 0, []
        FaultProxy(counter, tools, log, faults).send(call(2))
        logs.append(log.data())

    assert logs[0] == logs[1]
