"""A store with a clock that the test moves, in SQLite and in PostgreSQL, and the context of one agent's run."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.undo.cluster import Cluster, NoServer

from undolab.undo import database as databases
from undolab.undo.store import Answer, Store
from undolab.undo.types import Context, Effect, Outcome

ME = Context("acme", "agent", "run-1")
PEER = Context("acme", "colleague", "-")
REFUSED = Answer(Outcome.REFUSED)
UNDONE = Answer(Outcome.COMPENSATED)


class Clock:
    """Milliseconds that only the test moves; they start in 2100, so that other processes' clocks do not move the store's."""

    def __init__(self) -> None:
        self.now = 4_102_444_800_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one worker run everything that needs the PostgreSQL server, so that there is one of it."""
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()) or "[postgres" in item.name:
            item.add_marker(pytest.mark.xdist_group("postgres"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server; without one the tests that need it are skipped, or fail where `make test-postgres` asked for them."""
    made: Cluster | None = None
    reason = ""
    try:
        if importlib.util.find_spec("psycopg") is None:
            raise NoServer("the package psycopg is not installed (the extra `postgres`)")
        made = Cluster()
    except NoServer as error:
        reason = str(error)
    if made is None:
        if os.environ.get("UNDOLAB_POSTGRES") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    yield made
    made.stop()


_TABLES = "receipts events holds tags credits heads versions incarnations permissions contexts audit".split()


def empty(cluster: Cluster) -> str:
    """Return the URL of an empty store on the server; emptying the tables is much faster than making them."""
    with cluster.link() as link:
        there = link.execute("SELECT to_regnamespace('undolab_undo') IS NOT NULL").fetchone()[0]
        if there:
            for table in _TABLES:
                link.execute(f"DELETE FROM undolab_undo.{table}")
            link.execute("UPDATE undolab_undo.clock SET now = 0")
    if not there:
        databases.create(cluster.url)
    return cluster.url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """A new, empty store: a file, or the URL of a PostgreSQL database."""
    if request.param == "postgres":
        return empty(request.getfixturevalue("cluster"))
    databases.create(tmp_path / "undo.db")
    return tmp_path / "undo.db"


only_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
only_postgres = pytest.mark.parametrize("database", ["postgres"], indirect=True)


@pytest.fixture
def store(database: Path | str, clock: Clock) -> Iterator[Store]:
    """A store with one ticket, balance 10, in which `ME` may recover everything."""
    made = Store.open(database, clock=clock)
    made.permit("acme", "agent", "allow")
    made.seed(
        "acme", "ticket", {"fields": {"status": "open", "note": "original"}, "opening": 10, "limit": 10}
    )
    yield made
    made.close()


def last_reason(store: Store) -> str:
    return store.audit_entries()[-1].reason


def everything(store: Store) -> list[tuple[object, ...]]:
    tables = ("incarnations", "versions", "heads", "credits", "tags", "holds", "receipts")
    return [row for table in tables for row in store._db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]


def put(field: str, value: str, name: str = "ticket") -> Effect:
    return Effect("set", name, {"field": field, "value": value})


def add(delta: int, name: str = "ticket") -> Effect:
    return Effect("add", name, {"delta": delta})


def grant(member: str, name: str = "ticket") -> Effect:
    return Effect("grant", name, {"member": member})


def reserve(amount: int, name: str = "ticket") -> Effect:
    return Effect("reserve", name, {"amount": amount})


def create(name: str, opening: int = 0) -> Effect:
    return Effect("create", name, {"fields": {"status": "open"}, "opening": opening})


EACH = [
    put("status", "triage"),
    add(4),
    grant("contractor"),
    create("folder"),
    Effect("update", "ticket", {"fields": {"status": "triage", "note": "mine"}}),
    Effect("transfer", "ticket", {"to": "till", "amount": 4}),
    reserve(4),
]
