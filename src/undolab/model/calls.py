"""Calls, replies and effects: what passes between agent, method, proxy and world."""

from enum import StrEnum
from typing import Any

import msgspec

from undolab.model.tools import Op


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that an agent or a method wants made."""

    tool: str
    arguments: dict[str, Any]
    turn: int
    """The agent's turn, from 1."""
    position: int = 1
    """Position of the call within the turn, from 1."""
    origin: str = "agent"
    """`agent`, or `method` for calls that a recovery method adds (probes, compensations)."""
    key: str | None = None
    """Idempotency-Key, where the method sends one."""


class Phase(StrEnum):
    """An attempt is an invoke and then one of ok, fail, unknown (the words of Jepsen's histories)."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    """Answered with an error: the service says it did nothing."""
    UNKNOWN = "unknown"
    """No answer: it may have happened or not."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller sees of one attempt."""

    phase: Phase
    output: dict[str, Any]
    """ok: the result. fail: `{"code", "message"}`. unknown: `LOST` for every boundary, to the byte."""


LOST: dict[str, Any] = {
    "code": "connection_lost",
    "message": "connection lost before a response was received",
}
"""The visible error of an unknown outcome. It must not depend on whether the call committed."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """A committed change of one entity. `before` and `after` are digests of the row, empty where there is none."""

    id: str
    entity: str
    op: Op
    before: str
    after: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the world did with one request; only the proxy and the judge see it whole."""

    ok: bool
    output: dict[str, Any]
    effects: list[Effect] = []
    replay_of: str | None = None
    """Id of the attempt whose stored answer this is, where an idempotency key matched."""


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The world's own account of one committed effect, written in the transaction of the change."""

    seq: int
    attempt: str
    tool: str
    arguments: dict[str, Any]
    effect: Effect
    key: str | None = None


class FinalReport(StrEnum):
    """What the agent says at the end."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"
    NONE = "none"
    """It stopped without saying."""
