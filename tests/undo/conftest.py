"""A store on disk with a clock that the test moves, and the context of one agent's run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from undolab.undo import schema
from undolab.undo.store import Store
from undolab.undo.types import Context, Effect

ME = Context("acme", "agent", "run-1")
PEER = Context("acme", "colleague", "-")


class Clock:
    """Milliseconds that only the test moves; they start in 2100, so that other processes' clocks do not move the store's."""

    def __init__(self) -> None:
        self.now = 4_102_444_800_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    schema.create(tmp_path / "undo.db")
    return tmp_path / "undo.db"


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[Store]:
    """A store with one ticket, balance 10, in which `ME` may recover everything."""
    made = Store.open(path, clock=clock)
    made.permit("acme", "agent", "allow")
    made.seed(
        "acme", "ticket", {"fields": {"status": "open", "note": "original"}, "opening": 10, "limit": 10}
    )
    yield made
    made.close()


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
