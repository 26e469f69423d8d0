"""Boundaries, fault schedules and the life of a fault: scheduled, armed, injected, witnessed, released."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType


class Boundary(StrEnum):
    """Where in the life of a call the fault strikes."""

    NONE = "NONE"
    PRE_MUTATION = "PRE_MUTATION"
    """Nothing ran; the connection died."""
    DURING_MUTATION = "DURING_MUTATION"
    """Some of the call's parts committed; then the service and the connection died."""
    POST_MUTATION_PRE_ACK = "POST_MUTATION_PRE_ACK"
    """All committed; the answer was lost."""
    POST_ACK_PRE_CHECKPOINT = "POST_ACK_PRE_CHECKPOINT"
    """Answered; then the agent's process died, and it resumes from its checkpoint before that turn. Nobody tells it."""
    POST_ACK_PRE_CHECKPOINT_TOLD = "POST_ACK_PRE_CHECKPOINT_TOLD"
    """The same, but its history ends with the call and the word that it was interrupted."""
    DURING_COMPENSATION = "DURING_COMPENSATION"
    """A call that takes an effect back was committed; its answer was lost."""

    LATE_COMMIT = "LATE_COMMIT"
    """The request was held up: its caller gave up, a read-back showed nothing, and then it was committed."""
    OVERTAKEN = "OVERTAKEN"
    """The call was still running when its caller gave up: a retry could overtake it."""
    OUTLIVES_BUDGET = "OUTLIVES_BUDGET"
    """All committed, and the answers to the next attempts were lost too, as many as a retry budget has."""
    DUPLICATE_DELIVERY = "DUPLICATE_DELIVERY"
    """The transport delivered the request twice; its caller got the first answer."""
    CONCURRENT_WRITE = "CONCURRENT_WRITE"
    """The request was lost before it ran, and somebody else wrote the same."""
    TWO_FAULTS = "TWO_FAULTS"
    """Two calls of the arm meet a fault: one before its mutation, one after."""
    STEP_REFUSED = "STEP_REFUSED"
    """The service refuses the call for good: the step that makes a method compensate. Only as part of a schedule."""


class Exposure(StrEnum):
    """What became of a scheduled fault."""

    NO_FAULT = "NO_FAULT"
    """None was scheduled (a control arm)."""
    WITNESSED = "WITNESSED"
    NOT_EXPOSED = "NOT_EXPOSED"
    """The target call was never made, or there was no mutation for the fault to strike."""
    INVALID_INJECTION = "INVALID_INJECTION"
    """The target call was made but the independent witness is missing."""


class FaultPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scheduled fault: a boundary and the call it aims at (see `Scenario`).

    What a boundary has no use for stays unset, and is not written.
    """

    boundary: Boundary
    scenario: str
    tool: str
    match: dict[str, Any] = {}
    nth: int = 1
    parts: int | UnsetType = UNSET
    """DURING_MUTATION: how many parts of the call are committed."""
    times: int | UnsetType = UNSET
    """OUTLIVES_BUDGET: how many attempts at the call go without an answer, the first counted."""
    delay_ms: int | UnsetType = UNSET
    """LATE_COMMIT, OVERTAKEN: virtual time from the request to its commit."""
    follows: bool | UnsetType = UNSET
    """True: another fault of the schedule may end the arm before this one is reached."""
