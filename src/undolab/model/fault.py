"""Boundaries, fault schedules and the life of a fault: scheduled, armed, injected, witnessed, released."""

from enum import StrEnum
from typing import Any

import msgspec


class Boundary(StrEnum):
    """Where in the life of a call the fault strikes."""

    NONE = "NONE"
    PRE_MUTATION = "PRE_MUTATION"
    """Nothing ran; the connection died."""
    POST_MUTATION_PRE_ACK = "POST_MUTATION_PRE_ACK"
    """All committed; the answer was lost."""


class Exposure(StrEnum):
    """What became of a scheduled fault."""

    NO_FAULT = "NO_FAULT"
    """None was scheduled (a control arm)."""
    WITNESSED = "WITNESSED"
    NOT_EXPOSED = "NOT_EXPOSED"
    """The target call was never made."""
    INVALID_INJECTION = "INVALID_INJECTION"
    """The target call was made but the independent witness is missing."""


class FaultPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scheduled fault: a boundary and the call it aims at (see `Scenario`)."""

    boundary: Boundary
    scenario: str
    tool: str
    match: dict[str, Any] = {}
    nth: int = 1
