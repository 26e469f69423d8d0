"""What an agent is to the harness: a function of the task it may see and of what has happened so far."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from undolab.model.calls import FinalReport, Reply
from undolab.model.workflow import Step


class PublicTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the agent sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    reads: bool
    """True if it only reads."""


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow as the agent sees it: no id, no fixture, no goal, no fault."""

    objective: str
    steps: list[Step]
    """The runbook; empty in objective mode."""
    tools: list[PublicTool]
    max_turns: int


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call the agent wants."""

    tool: str
    arguments: dict[str, Any]


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent answered in one turn."""

    said: str
    """The raw answer."""
    calls: list[ToolCall] = []
    report: FinalReport | None = None
    """Set when the agent ends."""
    error: str = ""
    """Why no call came of it; the agent's failure, never excluded."""
    record: str = ""
    """`<key>#<ordinal>` of the model record."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A turn and the replies to its calls."""

    turn: Turn
    replies: list[Reply]


class Agent(Protocol):
    """An agent of one arm."""

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Decide the next turn from everything seen so far."""
        ...

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:
        """Return the digest of every byte that the next decision rests on."""
        ...
