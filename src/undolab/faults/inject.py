"""What a fault does to one request, and the witness that it really did."""

from collections.abc import Callable
from typing import Any, TypeAlias

from undolab.model.calls import Outcome
from undolab.model.fault import Boundary

Execute: TypeAlias = Callable[[], Outcome]
Injector: TypeAlias = Callable[[Boundary, Execute], Outcome | None]

ANSWERED = frozenset(
    {
        Boundary.POST_ACK_PRE_CHECKPOINT,
        Boundary.POST_ACK_PRE_CHECKPOINT_TOLD,
        Boundary.DUPLICATE_DELIVERY,
        Boundary.STEP_REFUSED,
    }
)
"""Faults whose call gets an answer all the same."""
DELAYED = frozenset({Boundary.LATE_COMMIT, Boundary.OVERTAKEN})
"""Faults whose call runs after its caller gave up."""
DEATHS = frozenset({Boundary.POST_ACK_PRE_CHECKPOINT, Boundary.POST_ACK_PRE_CHECKPOINT_TOLD})
"""Faults that end the agent's process."""
SUSTAINED = frozenset({Boundary.OUTLIVES_BUDGET, Boundary.STEP_REFUSED})
"""Faults that further attempts at the same call meet too."""

_COMMITTED = frozenset(
    {
        Boundary.DURING_MUTATION,
        Boundary.POST_MUTATION_PRE_ACK,
        Boundary.DURING_COMPENSATION,
        Boundary.OUTLIVES_BUDGET,
        Boundary.LATE_COMMIT,
        Boundary.DUPLICATE_DELIVERY,
        *DEATHS,
    }
)


def inject(boundary: Boundary, execute: Execute) -> Outcome | None:
    """Let a request meet the fault; return the outcome that the world reached but nobody hears of, None if nothing ran."""
    match boundary:
        case Boundary.PRE_MUTATION | Boundary.CONCURRENT_WRITE | Boundary.LATE_COMMIT:
            return None
        case (
            Boundary.POST_MUTATION_PRE_ACK
            | Boundary.DURING_MUTATION
            | Boundary.DURING_COMPENSATION
            | Boundary.OUTLIVES_BUDGET
            | Boundary.OVERTAKEN
        ):
            return execute()
        case _:
            raise ValueError(f"a call cannot be lost at boundary {boundary}")


def witness(
    boundary: Boundary, rows: int, response_bytes: int, *, others: int = 0, ended: bool = False
) -> dict[str, Any] | None:
    """Return the evidence that the fault happened, or None.

    The evidence is the world's ledger and the bytes that went back to the caller; what the injector says is not heard.

    Args:
        boundary: where the fault was to strike.
        rows: ledger rows of the attempt.
        response_bytes: how many bytes of an answer its caller was given.
        others: ledger rows of a second delivery or of somebody else's write.
        ended: whether a running call, or a second delivery, came to its end, which need not be a commit.
    """
    committed = rows > 0 or (boundary is Boundary.OVERTAKEN and ended)
    if committed is not (boundary in _COMMITTED or boundary is Boundary.OVERTAKEN):
        return None
    if bool(response_bytes) is not (boundary in ANSWERED):
        return None
    evidence = {"ledger_rows": rows, "response_bytes": response_bytes}
    if boundary in (Boundary.DUPLICATE_DELIVERY, Boundary.CONCURRENT_WRITE):
        return {**evidence, "others": others} if others or ended else None
    return evidence
