"""What a fault does to one request, and the witness that it really did."""

from collections.abc import Callable
from typing import Any, TypeAlias

from undolab.model.calls import LedgerRow, Outcome
from undolab.model.fault import Boundary

Execute: TypeAlias = Callable[[], Outcome]
Injector: TypeAlias = Callable[[Boundary, Execute], Outcome | None]


def inject(boundary: Boundary, execute: Execute) -> Outcome | None:
    """Let a request meet the fault; return the outcome that the world reached but nobody hears of, None if nothing ran."""
    match boundary:
        case Boundary.PRE_MUTATION:
            return None
        case Boundary.POST_MUTATION_PRE_ACK:
            return execute()
        case Boundary.NONE:
            raise ValueError("no fault is scheduled at boundary NONE")


def witness(boundary: Boundary, rows: list[LedgerRow], response_bytes: int) -> dict[str, Any] | None:
    """Return the evidence that the fault happened, or None.

    The evidence is the world's ledger rows of the attempt and the bytes that went back to the caller; what the injector says
    is not heard.
    """
    committed = len(rows)
    expected = committed > 0 if boundary is Boundary.POST_MUTATION_PRE_ACK else committed == 0
    if not expected or response_bytes:
        return None
    return {"ledger_rows": committed, "response_bytes": response_bytes}
