"""The lines of one arm sorted by kind, so that each rule of the judge reads only what concerns it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from undolab.model.calls import Phase
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.model.wire import (
    ArmStart,
    FaultEvent,
    ReportEvent,
    TurnEvent,
    WireEffectEvent,
    WireLine,
    WorldEvent,
)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """One arm's log, by kind of line; each list in the order of the log."""

    start: ArmStart
    events: list[WireEffectEvent]
    faults: list[FaultEvent]
    turns: list[TurnEvent]
    report: ReportEvent
    world: list[WorldEvent] = []
    """What the service did while nobody waited for it."""

    def completion(self, attempt: str) -> WireEffectEvent | None:
        """Return how the attempt ended, or None if the log does not say."""
        for event in self.events:
            if event.attempt == attempt and event.phase is not Phase.INVOKE:
                return event
        return None

    def happenings(self) -> list[WireEffectEvent | WorldEvent]:
        """Return both ends of every attempt and what else the service did, in the order of the log."""
        return sorted([*self.events, *self.world], key=lambda event: event.seq)

    def refused(self) -> set[str]:
        """Return the attempts that met a step which is refused for good: the service never saw them."""
        plans = self.start.faults
        return {
            event.attempt
            for event in self.faults
            if event.stage in ("injected", "sustained")
            and 0 <= event.fault < len(plans)
            and plans[event.fault].boundary is Boundary.STEP_REFUSED
        }


def history(lines: Sequence[WireLine]) -> History:
    """Sort the lines of one arm by kind.

    Raises:
        UndolabError: the log has no start line or no report line.
    """
    if not lines or not isinstance(lines[0], ArmStart):
        raise UndolabError("the wire log does not begin with a start line; build the log again")
    start, report = lines[0], lines[-1]
    if not isinstance(report, ReportEvent):
        raise UndolabError(
            f"the wire log of {start.arm.name()} is cut: it ends after line {report.seq} without a report; "
            "build the log again"
        )
    kinds: dict[type[WireLine], list[Any]] = {
        kind: [] for kind in (ArmStart, WireEffectEvent, FaultEvent, TurnEvent, ReportEvent, WorldEvent)
    }
    for line in lines:
        kinds[type(line)].append(line)
    return History(
        start=start,
        events=kinds[WireEffectEvent],
        faults=kinds[FaultEvent],
        turns=kinds[TurnEvent],
        report=report,
        world=kinds[WorldEvent],
    )
