"""Idempotency keys: scoped by tool, bound to the arguments, answered once."""

import pytest

from undolab.world import domains

WIRE = {"wire_id": "w", "source_curr": "USD", "target_curr": "EUR", "amount_cents": 100}


def test_same_key_replays_the_stored_answer(world):
    """A repeat with the key gets the first answer, names the first attempt, and commits nothing."""
    first = world.call("execute_wire_transfer", WIRE, attempt="1.1.1", key="k")
    state, rows = world.snapshot(), world.ledger()
    again = world.call("execute_wire_transfer", dict(reversed(WIRE.items())), attempt="1.1.2", key="k")
    assert (again.ok, again.output, again.effects) == (True, first.output, [])
    assert again.replay_of == "1.1.1"
    assert (world.snapshot(), world.ledger()) == (state, rows)
    assert rows[0].key == "k"


def test_same_key_with_other_arguments_is_a_conflict(world):
    """A key stands for one request: with other arguments it is refused (422), and nothing runs."""
    world.call("execute_wire_transfer", WIRE, attempt="1", key="k")
    rows = world.ledger()
    outcome = world.call("execute_wire_transfer", {**WIRE, "amount_cents": 1}, attempt="2", key="k")
    assert not outcome.ok
    assert outcome.output == {"code": "key_conflict", "message": "key k was used with other arguments"}
    assert world.ledger() == rows


def test_key_of_an_unfinished_call_is_in_flight(world, monkeypatch):
    """After a death between two parts, the key is refused as in progress (409), and nothing runs twice."""

    def dies(tx, args):
        yield domains.payments.execute_wire_transfer(tx, args)
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setitem(domains.HANDLERS, "execute_wire_transfer", dies)
        with pytest.raises(RuntimeError):
            world.call("execute_wire_transfer", WIRE, attempt="1", key="k")
    rows = world.ledger()
    outcome = world.call("execute_wire_transfer", WIRE, attempt="2", key="k")
    assert outcome.output == {"code": "key_in_flight", "message": "a call with key k is in progress"}
    assert world.ledger() == rows != []


def test_keys_are_scoped_by_tool(world):
    """The same key at another tool is another key."""
    world.call("execute_wire_transfer", WIRE, attempt="1", key="k")
    other = world.call("cancel_subscription", {"sub_id": "sub_1"}, attempt="2", key="k")
    assert other.ok
    assert other.replay_of is None
    assert other.effects


def test_other_key_runs_again(world):
    """Another key, and no key, are other requests: the effect happens again."""
    ids = {
        world.call("execute_wire_transfer", WIRE, attempt=str(n), key=key).output["transfer_id"]
        for n, key in enumerate(("a", "b", None, None))
    }
    assert len(ids) == 4


def test_tool_without_support_ignores_the_key(world):
    """A service that knows no keys does the work twice, and its ledger has no key."""
    for n in (1, 2):
        arguments = {"channel": "#ops", "message": "hi"}
        outcome = world.call("send_slack_alert", arguments, attempt=str(n), key="k")
        assert outcome.replay_of is None
    assert [row.key for row in world.ledger()] == [None, None]


@pytest.mark.parametrize(
    "refused",
    [{"wire_id": "w"}, {**WIRE, "source_curr": "XXX"}, {**WIRE, "amount_cents": 10**6}],
    ids=["unfit arguments", "not found", "insufficient"],
)
def test_refusals_are_not_stored(world, refused):
    """A refused request leaves its key free, for the mended request too."""
    assert not world.call("execute_wire_transfer", refused, attempt="1", key="k").ok
    mended = world.call("execute_wire_transfer", WIRE, attempt="2", key="k")
    assert mended.ok
    assert mended.replay_of is None


def test_keys_are_part_of_save_and_restore(world):
    """After going back to before the call, its key is new again."""
    saved = world.save()
    first = world.call("execute_wire_transfer", WIRE, attempt="1", key="k")
    world.restore(saved)
    again = world.call("execute_wire_transfer", WIRE, attempt="2", key="k")
    assert again.replay_of is None
    assert again.output == first.output
