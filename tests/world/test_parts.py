"""Calls that die between their parts, and calls that are still running."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from undolab.model.load import load_tools
from undolab.model.play import tools_in_play
from undolab.oracle import Fold
from undolab.world import World

CATALOGUE = load_tools(Path(__file__).parents[2] / "data/tools")
NAMES = ["get_schema", "apply_schema_migration", "revert_schema_migration", "deduct_account_balance"]
FIXTURE = {
    "schemas": [{"schema": "s", "version": 1}],
    "accounts": [{"account_id": "a", "name": "A", "balance": 10, "status": "OPEN"}],
}
TWO = {"schema": "s", "version": 2}
KEYED = tools_in_play(NAMES, CATALOGUE, "B2-K")


@pytest.fixture
def world() -> Iterator[World]:
    made = World(FIXTURE, tools_in_play(NAMES, CATALOGUE, "none"), seed=1)
    yield made
    made.close()


def test_a_call_that_dies_keeps_what_it_committed(world: World) -> None:
    """The migration's row stands, the version was not raised, and nothing is answered."""
    died = world.call("apply_schema_migration", TWO, attempt="1.1.1", stop_after=1)

    assert (died.ok, died.output, [e.entity for e in died.effects]) == (False, {}, ["schema_migrations/s-2"])
    assert world.snapshot()["schemas"]["s"]["version"] == 1
    assert [row.attempt for row in world.ledger()] == ["1.1.1"]


def test_a_repeat_of_a_half_done_migration_is_refused(world: World) -> None:
    """The row is there, so the service says already_exists although the version is the old one."""
    world.call("apply_schema_migration", TWO, attempt="1.1.1", stop_after=1)

    again = world.call("apply_schema_migration", TWO, attempt="1.1.2")

    assert (again.ok, again.output["code"]) == (False, "already_exists")


def test_a_half_done_migration_can_be_taken_back_and_made_again(world: World) -> None:
    """Its inverse removes what is there."""
    world.call("apply_schema_migration", TWO, attempt="1.1.1", stop_after=1)

    assert world.call("revert_schema_migration", TWO, attempt="1.1.1m").ok
    assert world.call("apply_schema_migration", TWO, attempt="1.1.2").ok
    assert world.snapshot()["schemas"]["s"]["version"] == 2


def test_a_call_with_fewer_parts_runs_to_its_end(world: World) -> None:
    """There is no second part to die before."""
    assert world.call(
        "deduct_account_balance", {"account_id": "a", "amount": 3}, attempt="1.1.1", stop_after=1
    ).ok


def test_the_key_of_a_dead_call_stays_in_flight() -> None:
    """409 for ever: nobody finishes the call."""
    world = World(FIXTURE, KEYED, seed=1)
    world.call("apply_schema_migration", TWO, attempt="1.1.1", key="k", stop_after=1)

    again = world.call("apply_schema_migration", TWO, attempt="1.1.2", key="k")

    assert again.output == {"code": "key_in_flight", "message": "a call with key k is in progress"}
    world.close()


def test_a_running_call_holds_its_key_until_it_is_finished() -> None:
    """A retry meets 409 while the first call runs, and its answer afterwards (field case B5)."""
    world, booking = World(FIXTURE, KEYED, seed=1), {"account_id": "a", "amount": 3}
    world.call("deduct_account_balance", booking, attempt="1.1.1", key="k", stop_after=0)

    during = world.call("deduct_account_balance", booking, attempt="1.1.2", key="k")
    done = world.finish("deduct_account_balance", booking, attempt="1.1.1", key="k")
    after = world.call("deduct_account_balance", booking, attempt="1.1.3", key="k")

    assert during.output["code"] == "key_in_flight"
    assert (done.output["balance"], after.output["balance"], after.replay_of) == (7, 7, "1.1.1")
    world.close()


@pytest.mark.parametrize("stop_after", [None, 0, 1, 2])
@pytest.mark.parametrize("key", [None, "k"])
def test_world_and_fold_die_in_the_same_way(stop_after: int | None, key: str | None) -> None:
    """Both leave the same rows, effects and keys behind, whatever comes after."""
    world, fold = World(FIXTURE, KEYED, seed=1), Fold(FIXTURE, KEYED, 1)
    tool = "apply_schema_migration"

    found = [
        world.call(tool, TWO, attempt="1", key=key, stop_after=stop_after),
        world.call(tool, TWO, attempt="2", key=key),
        world.finish(tool, TWO, attempt="1", key=key),
        world.call(tool, TWO, attempt="3", key=key),
    ]
    folded = [
        fold.apply(tool, TWO, key, attempt="1", stop_after=stop_after),
        fold.apply(tool, TWO, key, attempt="2"),
        fold.finish(tool, TWO, key, attempt="1"),
        fold.apply(tool, TWO, key, attempt="3"),
    ]

    assert found == folded
    assert world.snapshot() == fold.state()
    world.close()
