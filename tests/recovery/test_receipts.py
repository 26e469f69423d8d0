"""What B7's undo store adds: ownership by receipt, an outcome for each write, and books that survive a death."""

from typing import Any

import pytest

from undolab.model.calls import LOST, Call, Phase, Reply
from undolab.model.tools import Inverse, Observe, Op, ToolSpec
from undolab.recovery import METHODS, make_method
from undolab.recovery.receipts import DATABASE, Receipts

OK = Reply(phase=Phase.OK, output={"id": "x1"})
GONE = Reply(phase=Phase.FAIL, output={"code": "not_found", "message": "no thing"})
NO = Reply(phase=Phase.FAIL, output={"code": "conflict", "message": "it is in use"})
LOSS = Reply(phase=Phase.UNKNOWN, output=LOST)
PUT = Call(tool="put", arguments={"id": "a", "version": 2}, turn=1)
BRING = Call(tool="bring", arguments={"id": "a", "version": 2}, turn=1)


def spec(name: str, inverse: dict[str, Any] | None = None, **more: Any) -> ToolSpec:
    """Return a tool; one with an inverse is made of two parts, and a reader shows its version."""
    if inverse is not None:
        more = {
            "sub_writes": 2,
            "observe": Observe(
                tool="get", arguments={"id": "{id}"}, rule="set", fields={"version": "{version}"}
            ),
            "inverse": Inverse(tool="drop", arguments=inverse),
        }
    return ToolSpec(
        **{"name": name, "domain": "t", "description": "D.", "parameters": {}, "op": Op.UPDATE, **more}
    )


TOOLS = {
    "put": spec("put", {"id": "{id}"}),
    "bring": spec("bring", {"id": "{id}", "version": "{version}"}),
    "tell": spec("tell"),
    "drop": spec("drop"),
    "get": spec("get", op=Op.READ),
}


def shows(version: int) -> Reply:
    return Reply(phase=Phase.OK, output={"id": "a", "version": version})


def b7(world: Any, disk: dict[str, Any]) -> Any:
    return make_method("B7", world, TOOLS, task="T", run="r", disk=disk)


def sent(world: Any) -> list[str]:
    return [one.tool for one in world.sent]


def outcomes(disk: dict[str, Any]) -> list[str]:
    return list(Receipts(disk, "T", "r").outcomes().values())


def test_what_it_took_back_and_made_again_has_two_receipts(port: Any) -> None:
    """The first write is compensated, the second stands."""
    disk: dict[str, Any] = {}
    world = port(GONE, LOSS, shows(2), OK, OK)

    assert b7(world, disk).call(PUT) == OK
    assert sent(world) == ["get", "put", "get", "drop", "put"]
    assert outcomes(disk) == ["compensated", "live"]


def test_a_write_of_which_nothing_is_there_is_already_absent(port: Any) -> None:
    """The undo tool finds nothing: the receipt says so, and the call is made again."""
    disk: dict[str, Any] = {}

    assert b7(port(GONE, LOSS, GONE, GONE, OK), disk).call(PUT) == OK
    assert outcomes(disk) == ["already_absent", "live"]


def test_a_write_that_the_service_refused_is_already_absent(port: Any) -> None:
    """The agent gets the service's own words, and no receipt claims an effect."""
    disk: dict[str, Any] = {}

    assert b7(port(GONE, NO), disk).call(PUT) == NO
    assert outcomes(disk) == ["already_absent"]


@pytest.mark.parametrize("before", [GONE, shows(1)], ids=["nothing before", "another value before"])
@pytest.mark.parametrize("call", [PUT, BRING], ids=["unspecific inverse", "specific inverse"])
def test_it_never_erases_what_somebody_else_wrote_meanwhile(port: Any, call: Call, before: Reply) -> None:
    """A reader shows a value that is neither the old one nor ours: it abstains, and the receipt can no longer be used."""
    disk: dict[str, Any] = {}
    world = port(before, LOSS, shows(3))

    assert b7(world, disk).call(call) == LOSS
    assert "drop" not in sent(world)
    books = Receipts(disk, "T", "r")
    assert [books.ours(name) for name in books.outcomes()] == [False]


def test_an_inverse_that_would_take_away_what_was_there_before_is_not_sent(port: Any) -> None:
    """Somebody's version 1 stood there; the undo tool removes whatever stands. It retries as B6 does."""
    disk: dict[str, Any] = {}
    world = port(shows(1), LOSS, shows(1), OK)

    assert b7(world, disk).call(PUT) == OK
    assert sent(world) == ["get", "put", "get", "put"]
    assert outcomes(disk) == ["live"]


def test_an_inverse_that_names_our_values_is_sent_all_the_same(port: Any) -> None:
    """It can take away version 2 and no other."""
    world = port(shows(1), LOSS, shows(1), GONE, OK)

    assert b7(world, {}).call(BRING) == OK
    assert sent(world) == ["get", "bring", "get", "drop", "bring"]


def test_a_refused_undo_leaves_the_write_standing(port: Any) -> None:
    """What cannot be taken back is looked at again and adopted where it shows."""
    disk: dict[str, Any] = {}
    world = port(GONE, LOSS, shows(2), NO, shows(2))

    assert b7(world, disk).call(PUT).output["adopted"] is True
    assert outcomes(disk) == ["live"]


def test_a_new_process_does_not_make_an_answered_call_again(port: Any) -> None:
    """The answer stands in the store: neither write nor read is sent."""
    disk: dict[str, Any] = {}
    b7(port(GONE, OK), disk).call(PUT)
    world = port()

    assert b7(world, disk).call(PUT) == OK
    assert world.sent == []


def test_a_new_process_takes_up_what_was_sent_and_not_answered(port: Any) -> None:
    """It looks before it sends, and judges by what was there before the first life's attempt."""
    disk: dict[str, Any] = {}
    assert b7(port(GONE, LOSS, LOSS), disk).call(PUT) == LOSS
    world = port(shows(2), OK, OK)

    assert b7(world, disk).call(PUT) == OK
    assert sent(world) == ["get", "drop", "put"]
    assert outcomes(disk) == ["compensated", "live"]


def test_a_new_process_takes_nothing_back_twice(port: Any) -> None:
    """Died between the undo and the retry: the receipt is settled, so the thing it finds there later is not taken back."""
    disk: dict[str, Any] = {}

    class Dead(Exception):  # noqa: N818 - not an error
        pass

    first = port(GONE, LOSS, shows(2), OK)
    first.wait = lambda _: (_ for _ in ()).throw(Dead)
    with pytest.raises(Dead):
        b7(first, disk).call(PUT)
    world = port(shows(2))

    assert outcomes(disk) == ["compensated"]
    assert b7(world, disk).call(PUT).output["adopted"] is True
    assert sent(world) == ["get"]


def test_an_answer_too_long_to_keep_is_looked_up_again(port: Any) -> None:
    """The books are bounded; a new process then does what it does for an answer that never came."""
    disk: dict[str, Any] = {}
    b7(port(GONE, Reply(phase=Phase.OK, output={"text": "x" * 70_000})), disk).call(PUT)
    world = port(GONE, GONE, OK)

    assert b7(world, disk).call(PUT) == OK
    assert sent(world) == ["get", "drop", "put"]


def test_the_books_are_an_undo_store_with_a_sound_audit(port: Any) -> None:
    """Every entry is a row of the chain, the same bytes in every run, and no value of the service stands in a receipt."""
    images = []
    for _ in range(2):
        disk: dict[str, Any] = {}
        b7(port(GONE, LOSS, shows(2), OK, OK), disk).call(PUT)
        images.append(disk[DATABASE])
    books = Receipts(disk, "T", "r")
    actions = [entry.action for entry in books._store.audit_entries()]

    assert images[0] == images[1]
    assert books._store.audit_problems() == []
    assert actions.count("forward") == 2
    assert actions.count("recover") == 1


@pytest.mark.parametrize("method", METHODS)
def test_no_store_is_opened_for_a_read_or_by_another_method(port: Any, method: str) -> None:
    """Only a write of B7 needs one."""
    disk: dict[str, Any] = {}
    make_method(method, port(OK), TOOLS, task="T", run="r", disk=disk).call(
        Call(tool="get", arguments={"id": "a"}, turn=1)
    )
    make_method(method, port(OK), TOOLS, task="T", run="r", disk=disk).call(
        Call(tool="tell", arguments={}, turn=2)
    )

    assert (DATABASE in disk) is (method == "B7")
