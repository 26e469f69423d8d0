"""What B1 and B5 keep when their process dies, and what they do with it."""

from typing import Any

from undolab.model.calls import Call, Phase, Reply
from undolab.model.tools import Op, ToolSpec
from undolab.recovery import make_method

TOOLS = {
    "add": ToolSpec(name="add", domain="test", description="Add.", parameters={}, op=Op.UPDATE),
    "read": ToolSpec(name="read", domain="test", description="Read.", parameters={}, op=Op.READ),
}
OK = Reply(phase=Phase.OK, output={"count": 1})


def call(position: int = 1, turn: int = 1, tool: str = "add") -> Call:
    return Call(tool=tool, arguments={"by": 1}, turn=turn, position=position)


def method(code: str, world: Any, disk: dict[str, Any]) -> Any:
    return make_method(code, world, TOOLS, task="T", run="r", disk=disk)


def test_the_journal_answers_an_acknowledged_call_after_a_death(port: Any) -> None:
    """B5 wrote ACKED before the agent's checkpoint, so the repeated turn sends nothing."""
    disk: dict[str, Any] = {}
    world = port(OK)
    method("B5", world, disk).call(call())

    assert method("B5", world, disk).call(call()) == OK
    assert len(world.sent) == 1


def test_the_journal_sends_again_what_was_only_sent(port: Any, lost: Reply) -> None:
    """SENT is unknown: B5 knows no more than B0 and sends it again."""
    disk: dict[str, Any] = {}
    method("B5", port(lost, lost, lost), disk).call(call())
    world = port(OK)

    assert method("B5", world, disk).call(call()) == OK
    assert len(world.sent) == 1


def test_the_journal_does_not_take_another_step_for_the_same(port: Any) -> None:
    """A task that wants two equal calls gets two (field case B2, mirrored)."""
    world = port(OK, OK)
    journal = method("B5", world, {})

    assert [journal.call(call()), journal.call(call(turn=2))] == [OK, OK]
    assert len(world.sent) == 2


def test_the_journal_keeps_no_reads(port: Any) -> None:
    """A read is made again: its old answer may be stale."""
    disk: dict[str, Any] = {}
    world = port(OK, OK)
    method("B5", world, disk).call(call(tool="read"))
    method("B5", world, disk).call(call(tool="read"))

    assert len(world.sent) == 2


def test_a_checkpoint_that_was_not_written_answers_nothing(port: Any) -> None:
    """B1's process dies right after the answer: the call is made again."""
    disk: dict[str, Any] = {}
    world = port(OK, OK)
    method("B1", world, disk).call(call())

    method("B1", world, disk).call(call())

    assert len(world.sent) == 2


def test_calls_before_the_last_are_answered_from_the_checkpoint(port: Any) -> None:
    """Within a turn of several calls B1 has kept those before the one it died at."""
    disk: dict[str, Any] = {}
    world = port(OK, OK, OK)
    first = method("B1", world, disk)
    first.call(call(1))
    first.call(call(2))

    again = method("B1", world, disk)

    assert [again.call(call(1)), again.call(call(2))] == [OK, OK]
    assert [(sent.position) for sent in world.sent] == [1, 2, 2]


def test_a_spent_budget_rolls_the_clients_state_back(port: Any, lost: Reply) -> None:
    """B1 tells the agent that the step failed, which is more than it knows of the world."""
    world = port(lost, lost, lost)

    reply = method("B1", world, {}).call(call())

    assert (reply.phase, reply.output["code"], len(world.sent)) == (Phase.FAIL, "rolled_back", 3)
