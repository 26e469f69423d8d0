"""A port that answers from a script and remembers what it was sent."""

from collections.abc import Callable

import pytest

from undolab.model.calls import LOST, Call, Phase, Reply
from undolab.model.tools import Op, ToolSpec


class Port:
    """Answers each attempt with the next reply; keeps attempts and waits."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.sent: list[Call] = []
        self.waits: list[int] = []

    def send(self, call: Call) -> Reply:
        self.sent.append(call)
        return self.replies.pop(0)

    def wait(self, ms: int) -> None:
        self.waits.append(ms)


@pytest.fixture
def port() -> Callable[..., Port]:
    """Return a maker of ports."""
    return Port


@pytest.fixture
def lost() -> Reply:
    """Return the reply of a lost outcome."""
    return Reply(phase=Phase.UNKNOWN, output=LOST)


@pytest.fixture
def keyed() -> dict[str, ToolSpec]:
    """Return one tool that honours keys."""
    spec = ToolSpec(
        name="add", domain="test", description="Add.", parameters={}, op=Op.UPDATE, idempotency_key=True
    )
    return {"add": spec}
