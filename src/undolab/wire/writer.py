"""Appending lines to the log of one arm."""

from typing import Any

from undolab.model.canon import canonical
from undolab.model.wire import (
    ArmStart,
    FaultEvent,
    ReportEvent,
    TurnEvent,
    WireEffectEvent,
    WireLine,
    WorldEvent,
)
from undolab.wire.chain import GENESIS, line_digest

_Appended = (
    type[ArmStart]
    | type[WireEffectEvent]
    | type[WorldEvent]
    | type[FaultEvent]
    | type[TurnEvent]
    | type[ReportEvent]
)


class LogWriter:
    """The log of one arm as it grows: typed lines, their bytes and the head of the chain."""

    def __init__(self) -> None:
        """Start an empty log."""
        self.lines: list[WireLine] = []
        self._raw: list[bytes] = []
        self.head = GENESIS

    def add(self, kind: _Appended, **fields: Any) -> None:
        """Append one line; sequence number and link are filled in."""
        line = kind(seq=len(self.lines) + 1, prev=self.head, **fields)
        raw = canonical(line)
        self.lines.append(line)
        self._raw.append(raw)
        self.head = line_digest(raw)

    def data(self) -> bytes:
        """Return the log as JSON lines, each ended by a newline."""
        return b"".join(raw + b"\n" for raw in self._raw)
