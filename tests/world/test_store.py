"""Fixtures that do not fit, worlds in files, and worlds by the dozen."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from undolab.model.errors import UndolabError
from undolab.world import World, store

ROW = {"account_id": "a", "name": "Ann", "balance": 1, "status": "ACTIVE"}


@pytest.mark.parametrize(
    ("fixture", "problem"),
    [
        ({"moons": []}, "fixture table 'moons' is unknown"),
        ({"accounts": [{**ROW, "colour": "red"}]}, "/accounts/0 does not fit: there is no column colour"),
        ({"accounts": [{"account_id": "a"}]}, "/accounts/0 does not fit: column name is missing"),
        ({"accounts": [{**ROW, "name": 5}]}, "/accounts/0 does not fit: column name is int, not str"),
        (
            {"accounts": [{**ROW, "balance": True}]},
            "/accounts/0 does not fit: column balance is bool, not int",
        ),
        ({"accounts": [ROW, ROW]}, "/accounts/1 does not fit: UNIQUE constraint failed: accounts.account_id"),
    ],
)
def test_unfit_fixture_is_named(new_world, fixture, problem):
    """A fixture row that does not fit its table is a mistake in the data, named with its place."""
    with pytest.raises(UndolabError, match=problem):
        new_world(fixture=fixture)


def test_objects_of_a_fixture_get_size_and_etag(world):
    """Size and etag are computed from the bytes of the content."""
    row = world.snapshot()["objects"]["east/data/a.txt"]
    assert (row["size"], row["etag"]) == (6, "0fbc7403")


def test_world_in_a_file_is_the_same_world(new_world, tmp_path):
    """A world in a file answers as one in memory, can be read by others between calls, and goes back in time too."""
    path = tmp_path / "world.db"
    inside, outside = new_world(), new_world(path=str(path))
    saved = outside.save()
    for world in (inside, outside):
        world.call("credit_account_balance", {"account_id": "acc_1", "amount": 1}, attempt="1")
        world.call("deploy_green_service", {"service_name": "api", "version": "v2"}, attempt="2")
    assert outside.snapshot() == inside.snapshot()
    assert outside.ledger() == inside.ledger()
    reader = sqlite3.connect(path)
    assert reader.execute("SELECT balance FROM accounts WHERE account_id = 'acc_1'").fetchone() == (101,)
    outside.restore(saved)
    assert reader.execute("SELECT balance FROM accounts WHERE account_id = 'acc_1'").fetchone() == (100,)
    reader.close()
    assert outside.snapshot() == new_world().snapshot()


def test_file_that_exists_is_not_touched(new_world, tmp_path):
    """A world never writes into a file that was there before."""
    path = tmp_path / "world.db"
    path.write_bytes(b"mine")
    with pytest.raises(UndolabError, match="exists already: remove it or name another"):
        new_world(path=str(path))
    assert path.read_bytes() == b"mine"


def test_closed_world_cannot_be_read(rows, tools):
    """A closed world shows nothing: its store may be another world's by then."""
    world = World(rows, tools, seed=1)
    world.close()
    with pytest.raises(AttributeError):
        world.snapshot()


def test_connections_kept_are_bounded(tools):
    """Many fixtures and many worlds at once do not pile up open connections."""
    for n in range(80):
        worlds = [
            World({"accounts": [{**ROW, "balance": n}]}, tools, seed=1) for _ in range(6 if n == 79 else 1)
        ]
        for world in worlds:
            world.close()
    assert len(store._idle) <= store._KEEP_FIXTURES
    assert all(len(idle) <= store._KEEP_EACH for idle in store._idle.values())


def test_worlds_work_in_threads(rows, tools):
    """Worlds of one fixture used from several threads at once do not see each other."""

    def total(n):
        world = World(rows, tools, seed=1)
        for _ in range(n):
            world.call("credit_account_balance", {"account_id": "acc_1", "amount": 1}, attempt="1")
        balance = world.snapshot()["accounts"]["acc_1"]["balance"]
        world.close()
        return balance - 100

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(total, range(24))) == list(range(24))
