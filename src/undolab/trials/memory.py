"""What a model's agent decided in one arm of a trial is not worked out again in the others.

The arms of a trial share their control's way up to the fault, and most of them come back to it. An agent is a function of
what it has seen, its seed, and how often its process has died; so in each trial every decision is worked out once, and kept
under the exchanges that led to it, whole. World, method, fault and judge still run in each arm, and what an arm saw is still
compared with its control: an arm that saw something else finds nothing here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from undolab.agents.base import Agent, Exchange, TaskView, Turn

_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Place:
    """Where an agent stands after some exchanges."""

    turn: Turn | None = None
    """What it decided there; None: no agent has been there yet."""
    seen: str = ""
    """Digest of what the decision rests on."""
    kept: Any = None
    """What an agent needs to go on from there."""
    after: "dict[bytes, Place]" = field(default_factory=dict)
    """The places that further exchanges lead to."""
    lives: "dict[int, Place]" = field(default_factory=dict)
    """Where an agent starts again that died here, by how often it has died."""


Wake = Callable[[Any], Agent]
"""Makes an agent that goes on from what was kept; from None it starts anew."""
Keep = Callable[[Any], Any]
"""Returns what an agent needs to go on; for one that keeps nothing itself, None."""


class Remembering:
    """An agent that asks another one only where no agent of its trial has been; one object a life of the process.

    Args:
        start: where this life starts.
        wake: makes the agent that decides.
        keep: says what of it must be kept.
        kept: what the life before has left.
    """

    def __init__(self, start: Place, wake: Wake, keep: Keep, kept: Any = None) -> None:
        self._start = start
        self._wake = wake
        self._keep = keep
        self._kept = kept
        self._agent: Agent | None = None
        self._way: list[tuple[Exchange, Place]] = []
        self.last = start
        """Where it decided last."""

    def act(self, view: TaskView, history: Sequence[Exchange]) -> Turn:
        """Return what was decided here before, or decide."""
        place = self._find(history)
        if place.turn is None:
            if self._agent is None:
                self._agent = self._wake(self._kept)
            place.turn = self._agent.act(view, history)
            place.seen = self._agent.seen(view, history)
            place.kept = self._keep(self._agent)
        else:
            # An agent that did not come along can only go on from what another has left here.
            self._agent = None
        self.last, self._kept = place, place.kept
        return place.turn

    def seen(self, view: TaskView, history: Sequence[Exchange]) -> str:  # noqa: ARG002 - the place decides
        """Return the digest of what the decision after this history rests on."""
        return self._find(history).seen

    def _find(self, history: Sequence[Exchange]) -> Place:
        way, number = self._way, 0
        while number < len(way) and number < len(history) and way[number][0] is history[number]:
            number += 1
        del way[number:]
        place = way[-1][1] if way else self._start
        for exchange in history[number:]:
            place = place.after.setdefault(_encode(exchange), Place())
            way.append((exchange, place))
        return place
