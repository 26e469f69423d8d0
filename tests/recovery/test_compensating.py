"""B3 and B7: what they take back, in which order, and when they let it be."""

from typing import Any

from undolab.model.calls import REFUSED, Call, Phase, Reply
from undolab.model.tools import Inverse, Observe, Op, ToolSpec
from undolab.recovery import make_method

OK = Reply(phase=Phase.OK, output={"id": "x1"})
GONE = Reply(phase=Phase.FAIL, output={"code": "not_found", "message": "no thing"})
NO = Reply(phase=Phase.FAIL, output=REFUSED)


def tool(name: str, **more: Any) -> ToolSpec:
    return ToolSpec(
        **{"name": name, "domain": "t", "description": "D.", "parameters": {}, "op": Op.UPDATE, **more}
    )


TOOLS = {
    "make": tool("make", inverse=Inverse(tool="drop", arguments={"id": "{output.id}"})),
    "book": tool("book", inverse=Inverse(tool="unbook", arguments={"n": "{n}"})),
    "tell": tool("tell"),
    "drop": tool("drop"),
    "unbook": tool("unbook"),
    "get": tool("get", op=Op.READ),
    "both": tool(
        "both",
        sub_writes=2,
        observe=Observe(tool="get", arguments={}, rule="exists", fields={}),
        inverse=Inverse(tool="drop", arguments={"id": "{id}"}),
    ),
}


def call(name: str, turn: int = 1, **arguments: Any) -> Call:
    return Call(tool=name, arguments=arguments, turn=turn)


def method(code: str, world: Any) -> Any:
    return make_method(code, world, TOOLS, task="T", run="r")


def sent(world: Any) -> list[tuple[str, str]]:
    return [(one.tool, one.origin) for one in world.sent]


def test_a_saga_takes_its_steps_back_newest_first(port: Any) -> None:
    """The undo calls are the method's own, filled from arguments and answers."""
    world = port(OK, OK, NO, OK, OK)
    saga = method("B3", world)
    saga.call(call("make", 1))
    saga.call(call("book", 2, n=5))

    reply = saga.call(call("tell", 3))

    assert sent(world)[-2:] == [("unbook", "method"), ("drop", "method")]
    assert [one.arguments for one in world.sent[-2:]] == [{"n": 5}, {"id": "x1"}]
    assert (reply.phase, reply.output["code"]) == (Phase.FAIL, "compensated")


def test_a_saga_says_what_it_could_not_take_back(port: Any) -> None:
    """A step without an inverse stays, and the answer names it."""
    world = port(OK, NO)
    saga = method("B3", world)
    saga.call(call("tell", 1))

    reply = saga.call(call("book", 2, n=1))

    assert reply.output["code"] == "compensation_incomplete"
    assert reply.output["message"].endswith("tell")


def test_a_saga_undoes_each_step_once(port: Any) -> None:
    """A second failure finds nothing left to take back (field case B27)."""
    world = port(OK, NO, OK, NO)
    saga = method("B3", world)
    saga.call(call("make", 1))
    saga.call(call("tell", 2))

    saga.call(call("tell", 3))

    assert [name for name, _ in sent(world)].count("drop") == 1


def test_a_saga_leaves_an_error_that_the_agent_can_mend(port: Any) -> None:
    """Bad arguments are no final failure."""
    bad = Reply(phase=Phase.FAIL, output={"code": "invalid_arguments", "message": "n is missing"})
    world = port(OK, bad)
    saga = method("B3", world)
    saga.call(call("make", 1))

    assert saga.call(call("book", 2)) == bad
    assert len(world.sent) == 2


def test_b7_takes_a_lost_call_of_several_parts_back_and_makes_it_again(port: Any, lost: Reply) -> None:
    """What may be half there is looked at and removed before the retry."""
    world = port(GONE, lost, OK, OK, OK)

    assert method("B7", world).call(call("both", id="a")) == OK
    assert [name for name, _ in sent(world)] == ["get", "both", "get", "drop", "both"]
    assert {name for name, origin in sent(world) if origin == "method"} == {"get", "drop"}


def test_b7_finds_nothing_to_take_back(port: Any, lost: Reply) -> None:
    """`not_found` means that nothing of the call is there: the retry is safe."""
    world = port(GONE, lost, GONE, GONE, OK)

    assert method("B7", world).call(call("both", id="a")) == OK


def test_b7_takes_nothing_back_that_was_there_before(port: Any, lost: Reply) -> None:
    """What the reader showed before the call is not ours; B7 then does what B6 does."""
    world = port(OK, lost, OK)

    reply = method("B7", world).call(call("both", id="a"))

    assert reply.output["adopted"] is True
    assert "drop" not in [name for name, _ in sent(world)]


def test_b7_sends_a_lost_undo_again(port: Any, lost: Reply) -> None:
    """An undo without an answer is made again, and `not_found` ends it."""
    world = port(GONE, lost, OK, lost, GONE, OK)

    assert method("B7", world).call(call("both", id="a")) == OK
    assert [name for name, _ in sent(world)] == ["get", "both", "get", "drop", "drop", "both"]


def test_b7_abstains_where_the_effect_cannot_be_read(port: Any, lost: Reply) -> None:
    """Without reader and parts there is nothing to go by."""
    world = port(lost)

    assert method("B7", world).call(call("tell")) == lost
