"""What every call keeps: one transaction, a ledger row for each effect, a refusal that changes nothing."""

import pytest

from undolab.model.canon import short_digest
from undolab.model.errors import UndolabError
from undolab.model.ids import seeded_id
from undolab.model.tools import Op
from undolab.world import World, domains


def _state(world: World) -> object:
    return world.snapshot(), world.ledger()


def test_write_leaves_row_and_ledger_row(world):
    """A write changes its row and appends the ledger row with the digests of before and after."""
    before = world.snapshot()["accounts"]["acc_1"]
    outcome = world.call("credit_account_balance", {"account_id": "acc_1", "amount": 5}, attempt="1.1.1")
    after = world.snapshot()["accounts"]["acc_1"]
    assert outcome.ok
    assert outcome.output == after == {**before, "balance": 105}
    (row,) = world.ledger()
    assert (row.seq, row.attempt, row.tool) == (1, "1.1.1", "credit_account_balance")
    assert row.arguments == {"account_id": "acc_1", "amount": 5}
    assert [row.effect] == outcome.effects
    effect = row.effect
    assert (effect.id, effect.entity, effect.op) == ("e1", "accounts/acc_1", Op.UPDATE)
    assert (effect.before, effect.after) == (short_digest(before), short_digest(after))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_handler_that_raises_leaves_neither_row_nor_ledger(world, monkeypatch, error):
    """A tool that dies after its writes leaves no row, no ledger row, no key and no id."""

    def dies(tx, args):
        domains.payments.process_subscription_renewal(tx, args)
        raise error

    arguments = {"sub_id": "sub_1", "plan_id": "annual", "amount_cents": 10}
    before = _state(world)
    with monkeypatch.context() as patch:
        patch.setitem(domains.HANDLERS, "process_subscription_renewal", dies)
        with pytest.raises(error):
            world.call("process_subscription_renewal", arguments, attempt="1", key="k")
    assert _state(world) == before
    retried = world.call("process_subscription_renewal", arguments, attempt="2", key="k")
    assert retried.replay_of is None
    assert retried.output["renewal_id"] == seeded_id(7, "rnw", 1)


def test_composite_that_dies_between_parts_keeps_the_first(world, monkeypatch):
    """Each part of a composite tool is a transaction of its own: what was committed before the death stays."""

    def dies(tx, args):
        parts = domains.cloud.deploy_green_service(tx, args)
        yield next(parts)
        raise RuntimeError

    monkeypatch.setitem(domains.HANDLERS, "deploy_green_service", dies)
    with pytest.raises(RuntimeError):
        world.call("deploy_green_service", {"service_name": "api", "version": "v2"}, attempt="1")
    state = world.snapshot()
    assert state["services"]["api-green"]["version"] == "v2"
    assert "catalog" not in state
    assert [row.effect.entity for row in world.ledger()] == ["services/api-green"]


def test_reader_that_writes_changes_nothing(world, monkeypatch):
    """A tool declared as a reader cannot leave a write behind."""
    monkeypatch.setitem(domains.HANDLERS, "get_account", domains.database.freeze_account)
    before = _state(world)
    assert world.call("get_account", {"account_id": "acc_1"}, attempt="1").ok
    assert _state(world) == before


def test_refused_call_gives_out_no_id(world):
    """Ids are counted over the calls that succeeded only."""
    wire = {"wire_id": "w", "source_curr": "USD", "target_curr": "EUR", "amount_cents": 10}
    assert not world.call("execute_wire_transfer", {**wire, "amount_cents": 5000}, attempt="1").ok
    assert world.call("execute_wire_transfer", wire, attempt="2").output["transfer_id"] == seeded_id(
        7, "wir", 1
    )


def test_write_of_the_same_value_is_an_effect(world):
    """A write that changes nothing still has its effect, with equal digests."""
    outcome = world.call("assign_incident_team", {"incident_id": "INC-1", "team_name": "web"}, attempt="1")
    (effect,) = outcome.effects
    assert effect.op is Op.UPDATE
    assert effect.before == effect.after != ""


def test_removal_of_nothing_is_an_effect_without_digests(world):
    """Deleting an object that is not there is no error and has an effect with two empty digests."""
    outcome = world.call("delete_object", {"bucket_name": "east", "key": "no"}, attempt="1")
    assert outcome.output == {"bucket_name": "east", "key": "no", "deleted": False}
    (effect,) = outcome.effects
    assert (effect.entity, effect.op, effect.before, effect.after) == ("objects/east/no", Op.DELETE, "", "")


@pytest.mark.parametrize(
    ("tool", "arguments", "output"),
    [
        ("no_tool", {}, {"code": "not_found", "message": "no tool no_tool"}),
        ("get_account", {}, {"code": "invalid_arguments", "message": "arguments/account_id is missing"}),
        (
            "credit_account_balance",
            {"account_id": "acc_1", "amount": "5"},
            {"code": "invalid_arguments", "message": "arguments/amount must be integer, is string"},
        ),
        (
            "credit_account_balance",
            {"account_id": "acc_1", "amount": True},
            {"code": "invalid_arguments", "message": "arguments/amount must be integer, is boolean"},
        ),
        (
            "get_account",
            {"account_id": "acc_1", "force": 1},
            {"code": "invalid_arguments", "message": "arguments/force is not known here"},
        ),
    ],
)
def test_bad_request_is_refused_in_words(world, tool, arguments, output):
    """An unknown tool and unfit arguments are refused, and nothing changes."""
    before = _state(world)
    outcome = world.call(tool, arguments, attempt="1")
    assert (outcome.ok, outcome.output, outcome.effects) == (False, output, [])
    assert _state(world) == before


def test_tool_without_code_is_named(tools):
    """A tool spec that this world has no code for is a mistake in the data, and says so."""
    spec = tools["get_account"]
    with pytest.raises(UndolabError, match="tool get_moon has no code"):
        World({}, {"get_moon": spec}, seed=1)


@pytest.mark.parametrize(
    "text", ["x' OR '1'='1", '"; DROP TABLE accounts; --', "../../etc", "-l", "a\0b", "ä/ö"]
)
def test_ids_are_plain_strings(world, text):
    """No text from a caller is read as SQL, as a path or as an option."""
    assert world.call("get_account", {"account_id": text}, attempt="1").output == {
        "code": "not_found",
        "message": f"no account {text}",
    }
    put = {"bucket_name": "east", "key": text, "content": text}
    assert world.call("put_object", put, attempt="2").ok
    got = world.call("get_object", {"bucket_name": "east", "key": text}, attempt="3").output
    assert (got["key"], got["content"]) == (text, text)
    assert f"east/{text}" in world.snapshot()["objects"]
