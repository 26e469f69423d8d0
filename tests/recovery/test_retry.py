from typing import Any

import pytest

from undolab.model.calls import Call, Phase, Reply
from undolab.model.errors import UndolabError
from undolab.model.tools import Op, ToolSpec
from undolab.recovery import METHODS, make_method

CALL = Call(tool="pay", arguments={"amount": 5}, turn=3)
OK = Reply(phase=Phase.OK, output={"id": "p1"})
REFUSED = Reply(phase=Phase.FAIL, output={"code": "conflict", "message": "no"})


def tools(*, keyed: bool) -> dict[str, ToolSpec]:
    pay = ToolSpec(
        name="pay", domain="test", description="Pay.", parameters={}, op=Op.CREATE, idempotency_key=keyed
    )
    return {"pay": pay}


def test_none_passes_a_lost_outcome_on(port: Any, lost: Reply) -> None:
    """Without a method the agent sees the error after one attempt."""
    world = port(lost)

    assert make_method("none", world, tools(keyed=True), task="T", run="r").call(CALL) == lost
    assert world.sent == [CALL]


def test_b0_repeats_the_same_request_with_doubling_waits(port: Any, lost: Reply) -> None:
    """Naive retry makes three attempts at most, one and two virtual seconds apart."""
    world = port(lost, lost, OK)

    assert make_method("B0", world, tools(keyed=True), task="T", run="r").call(CALL) == OK
    assert world.sent == [CALL, CALL, CALL]
    assert world.waits == [1000, 2000]


def test_b0_gives_the_error_back_when_the_budget_is_spent(port: Any, lost: Reply) -> None:
    """A fault that outlives the budget reaches the agent."""
    world = port(lost, lost, lost)

    assert make_method("B0", world, tools(keyed=True), task="T", run="r").call(CALL) == lost
    assert len(world.sent) == 3


def test_b0_does_not_repeat_an_answer(port: Any) -> None:
    """A refusal is an answer; repeating it would be another method."""
    world = port(REFUSED)

    assert make_method("B0", world, tools(keyed=True), task="T", run="r").call(CALL) == REFUSED
    assert len(world.sent) == 1


def test_b2_sends_one_key_on_every_attempt_of_a_step(port: Any, lost: Reply) -> None:
    """The key stays over retries, and another step, run or task has another."""
    world = port(lost, OK)
    make_method("B2", world, tools(keyed=True), task="T", run="r").call(CALL)
    keys = {call.key for call in world.sent}
    others = set()
    for task, run, turn in (("T", "r", 4), ("T", "s", 3), ("U", "r", 3)):
        other = port(OK)
        call = Call(tool="pay", arguments={"amount": 5}, turn=turn)
        make_method("B2", other, tools(keyed=True), task=task, run=run).call(call)
        others.add(other.sent[0].key)

    assert keys == {"idem_80dbe83220fbc555"}
    assert len(others | keys) == 4


def test_b2_is_b0_where_no_key_is_declared(port: Any, lost: Reply) -> None:
    """A tool that takes no key gets none."""
    world = port(lost, OK)

    make_method("B2", world, tools(keyed=False), task="T", run="r").call(CALL)

    assert world.sent == [CALL, CALL]


def test_an_unknown_method_is_named_with_those_there_are() -> None:
    """A wrong code never means no method."""
    with pytest.raises(
        UndolabError,
        match="no recovery method 'B9'; choose one of none, B0, B1, B2, B2-K, B3, B4, B5, B6, B7",
    ):
        make_method("B9", None, {}, task="T", run="r")  # type: ignore[arg-type]

    assert list(METHODS) == ["none", "B0", "B1", "B2", "B2-K", "B3", "B4", "B5", "B6", "B7"]
