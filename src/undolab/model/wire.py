"""The lines of the wire log. One log an arm, one chain a log; the judge needs nothing else but the fixture."""

from typing import Any, TypeAlias

import msgspec

from undolab.model.calls import Effect, FinalReport, Phase
from undolab.model.fault import FaultPlan
from undolab.model.tools import Op


class ArmId(msgspec.Struct, frozen=True, kw_only=True):
    """Which arm of which trial."""

    workflow: str
    model: str
    """Model name, or `scripted:<agent>`."""
    framework: str
    """`F1`, `F2`, or `script`."""
    boundary: str
    """`NONE` in a control arm."""
    method: str
    """Recovery method; `none` in the shared control arm."""
    seed: int
    arm: str
    """`control`, `control+method` or `fault`."""

    def name(self) -> str:
        """Return the sortable name `workflow/model/framework/boundary/method/seed/arm`."""
        return f"{self.workflow}/{self.model}/{self.framework}/{self.boundary}/{self.method}/{self.seed}/{self.arm}"


class ArmStart(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="start", omit_defaults=True):
    """First line: what ran on what."""

    seq: int
    prev: str
    arm: ArmId
    workflow_digest: str
    """Digest of the workflow file's data."""
    tools_digest: str
    """Digest of the tool specs in play."""
    world_seed: int
    prompt: str
    """Prompt mode: `runbook`, `objective` or `script`."""
    examples: str
    """Worked-example variant: `plain`, or `script`."""
    faults: list[FaultPlan] = []


class WireEffectEvent(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="event", omit_defaults=True
):
    """One end of one attempt, as the proxy between agent and world saw it."""

    seq: int
    """Global sequence number within the arm: the order in which things happened."""
    prev: str
    """First 32 hex digits of the SHA-256 of the line before."""
    phase: Phase
    attempt: str
    """`turn.position.attempt`, with a trailing `m` for calls that the method added."""
    call_index: int
    """How many calls of this tool were invoked so far, this one counted; from 1."""
    tool_name: str
    op_type: Op
    arguments: dict[str, Any]
    at_ms: int
    """Virtual clock, milliseconds since the arm began."""
    origin: str = "agent"
    key: str | None = None
    committed_externally: bool = False
    acknowledged_to_agent: bool = False
    """True if the answer reached the caller of this attempt."""
    target: list[str] = []
    """Entities changed, in the order of the writes."""
    effects: list[Effect] = []
    output: dict[str, Any] | None = None
    """What the world answered, delivered or not; None on invoke and where nothing ran."""
    replay_of: str | None = None


class FaultEvent(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="fault", omit_defaults=True
):
    """One stage in the life of a fault."""

    seq: int
    prev: str
    fault: int
    """Index in the arm's schedule."""
    stage: str
    """`armed`, `injected`, `witnessed` or `released`; `scheduled` is the start line."""
    attempt: str
    detail: dict[str, Any] = {}


class TurnEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="turn", omit_defaults=True):
    """One completion of the agent: the digest of what it had seen and of what it said."""

    seq: int
    prev: str
    turn: int
    seen: str
    """Digest of every byte that the agent had seen when it decided."""
    said: str
    """The agent's answer, raw."""
    error: str = ""
    """Why no call came of it: invalid JSON, an unknown tool, bad arguments, truncation."""
    record: str = ""
    """Key and ordinal of the model record, `<key>#<ordinal>`; empty for scripts."""


class ReportEvent(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="report", omit_defaults=True
):
    """Last line: how the agent ended."""

    seq: int
    prev: str
    report: FinalReport
    reason: str
    """`finished`, `turn_limit`, `agent_failure: …`, `abstained`."""
    turns: int
    final_state: str
    """Digest of the final snapshot."""


WireLine: TypeAlias = ArmStart | WireEffectEvent | FaultEvent | TurnEvent | ReportEvent
