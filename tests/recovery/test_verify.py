from typing import Any

import pytest

from undolab.model.calls import Call, Phase, Reply
from undolab.model.tools import Observe, Op, ToolSpec
from undolab.recovery import make_method

ADD = Call(tool="add", arguments={"account": "a", "amount": 5}, turn=1)
OK = Reply(phase=Phase.OK, output={"balance": 15})


def balance(value: int) -> Reply:
    return Reply(phase=Phase.OK, output={"balance": value})


def tools(observe: Observe | None) -> dict[str, ToolSpec]:
    add = ToolSpec(
        name="add", domain="test", description="Add.", parameters={}, op=Op.UPDATE, observe=observe
    )
    read = ToolSpec(name="read", domain="test", description="Read.", parameters={}, op=Op.READ)
    return {"add": add, "read": read}


BALANCE = Observe(
    tool="read", arguments={"account": "{account}"}, rule="added", field="balance", by="{amount}"
)


def run(world: Any, observe: Observe | None = BALANCE) -> Reply:
    return make_method("B6", world, tools(observe), task="T", run="r").call(ADD)


def test_a_present_effect_is_adopted_without_another_attempt(port: Any, lost: Reply) -> None:
    """Read 10, call lost, read 15 after adding 5: it happened."""
    world = port(balance(10), lost, balance(15))

    assert run(world) == Reply(phase=Phase.OK, output={"adopted": True, "observed": {"balance": 15}})
    assert [call.tool for call in world.sent] == ["read", "add", "read"]


def test_an_absent_effect_is_retried(port: Any, lost: Reply) -> None:
    """Read 10, call lost, read 10: it did not happen, so the call is made again."""
    world = port(balance(10), lost, balance(10), OK)

    assert run(world) == OK
    assert [call.tool for call in world.sent] == ["read", "add", "read", "add"]


def test_a_change_that_is_not_ours_makes_it_abstain(port: Any, lost: Reply) -> None:
    """Read 10, call lost, read 12: someone else wrote, so nobody can tell."""
    world = port(balance(10), lost, balance(12))

    assert run(world) == lost
    assert len(world.sent) == 3


def test_an_effect_that_no_reader_shows_makes_it_abstain(port: Any, lost: Reply) -> None:
    """Without a reader there is nothing to verify with."""
    world = port(lost)

    assert run(world, None) == lost
    assert [call.tool for call in world.sent] == ["add"]


def test_a_lost_read_back_makes_it_abstain(port: Any, lost: Reply) -> None:
    """A reader that does not answer shows nothing."""
    world = port(balance(10), lost, lost)

    assert run(world) == lost


def test_the_last_attempt_is_verified_too(port: Any, lost: Reply) -> None:
    """Three lost attempts, the last of which committed, end as adopted."""
    world = port(balance(10), lost, balance(10), lost, balance(10), lost, balance(15))

    assert run(world).output == {"adopted": True, "observed": {"balance": 15}}
    assert sum(call.tool == "add" for call in world.sent) == 3


def test_probes_say_that_the_method_made_them(port: Any) -> None:
    """The wire tells the agent's calls from the method's."""
    world = port(balance(10), OK)

    run(world)

    assert [call.origin for call in world.sent] == ["method", "agent"]


@pytest.mark.parametrize("missing", [{"account": "a"}, {"amount": 5}])
def test_a_call_without_an_argument_it_needs_is_not_verified(
    port: Any, lost: Reply, missing: dict[str, Any]
) -> None:
    """Bad arguments of a model end in abstention, never in a crash."""
    world = port(balance(10), lost, balance(10))
    method = make_method("B6", world, tools(BALANCE), task="T", run="r")

    assert method.call(Call(tool="add", arguments=missing, turn=1)) in (lost, balance(10))
