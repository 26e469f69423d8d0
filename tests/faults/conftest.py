"""A world of one counter, small enough to read, for tests of what stands before a world."""

from typing import Any

import pytest

from undolab.model.calls import Effect, LedgerRow, Outcome
from undolab.model.tools import Op, ToolSpec

TOOLS = {
    "add": ToolSpec(
        name="add", domain="test", description="Add.", parameters={}, op=Op.UPDATE, idempotency_key=True
    ),
    "read": ToolSpec(name="read", domain="test", description="Read.", parameters={}, op=Op.READ),
}


class Counter:
    """`add` adds `by`, `read` answers the count; `add` of a negative number is refused."""

    def __init__(self) -> None:
        self.count = 0
        self.rows: list[LedgerRow] = []

    def call(self, tool: str, arguments: dict[str, Any], *, attempt: str, key: str | None = None) -> Outcome:
        if tool == "read":
            return Outcome(ok=True, output={"count": self.count})
        if arguments["by"] < 0:
            return Outcome(ok=False, output={"code": "conflict", "message": "by is negative"})
        before, self.count = self.count, self.count + arguments["by"]
        effect = Effect(
            id=f"e{len(self.rows) + 1}",
            entity="counters/c",
            op=Op.UPDATE,
            before=str(before),
            after=str(self.count),
        )
        self.rows.append(
            LedgerRow(
                seq=len(self.rows) + 1,
                attempt=attempt,
                tool=tool,
                arguments=arguments,
                effect=effect,
                key=key,
            )
        )
        return Outcome(ok=True, output={"count": self.count}, effects=[effect])

    def ledger(self) -> list[LedgerRow]:
        return list(self.rows)


@pytest.fixture
def counter() -> Counter:
    """Return a fresh world."""
    return Counter()


@pytest.fixture
def tools() -> dict[str, ToolSpec]:
    """Return its tools."""
    return TOOLS
