"""Methods that keep something when their process dies: B1 (checkpoint and roll back) and B5 (journal)."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from undolab.model.calls import Call, Phase, Reply
from undolab.model.canon import digest
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Disk, Forgetful, Port, retried, step

ROLLED_BACK = Reply(
    phase=Phase.FAIL,
    output={"code": "rolled_back", "message": "the step failed; the state before it was restored"},
)
"""What B1 tells the agent when its budget is spent. It is the client's state that was restored, not the world's."""


class Checkpoint:
    """B1: a checkpoint of the client's state after each acknowledged call; on failure it is restored and run from again.

    Acknowledged calls are answered from the checkpoint when they are run again. It is written when the next call begins or
    the agent's turn is over, so a death right after an answer finds it unwritten.
    """

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, port: Port, disk: Disk, retry: Retry = STANDARD) -> None:
        """Keep the checkpoint on `disk`."""
        self._port = port
        self._disk = disk
        self._retry = retry
        self._unwritten: dict[str, Reply] = {}

    def call(self, call: Call) -> Reply:
        """Answer from the checkpoint, or make the call as B0 does; a spent budget ends in a roll back."""
        self.checkpoint()
        place = _place(call)
        if place in self._disk:
            known: Reply = self._disk[place]
            return known
        reply = retried(self._port, call, self._retry)
        if reply.phase is Phase.UNKNOWN:
            return ROLLED_BACK
        self._unwritten[place] = reply
        return reply

    def checkpoint(self) -> None:
        """Write the checkpoint."""
        self._disk.update(self._unwritten)
        self._unwritten.clear()


class Entry(msgspec.Struct, frozen=True):
    """What the journal knows of one call."""

    state: str
    """`INTENT`, `SENT` or `ACKED`."""
    reply: Reply | None = None


class Journal(Forgetful):
    """B5: a durable journal of every writing call: INTENT, SENT, ACKED.

    What is ACKED is answered from it, what is SENT is unknown and sent again. While the process lives that is B0.
    """

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self, port: Port, tools: Mapping[str, ToolSpec], disk: Disk, retry: Retry = STANDARD
    ) -> None:
        """Keep the journal on `disk`."""
        self._port = port
        self._tools = tools
        self._disk = disk
        self._retry = retry

    def call(self, call: Call) -> Reply:
        """Answer from the journal, or make the call as B0 does, each step written down before the next is taken."""
        if not self._tools[call.tool].writes:
            return retried(self._port, call, self._retry)
        place = _place(call)
        entry: Entry = self._disk.setdefault(place, Entry("INTENT"))
        if entry.state == "ACKED" and entry.reply is not None:
            return entry.reply
        self._disk[place] = Entry("SENT")
        reply = retried(self._port, call, self._retry)
        if reply.phase is not Phase.UNKNOWN:
            self._disk[place] = Entry("ACKED", reply)
        return reply


def _place(call: Call) -> str:
    return digest([step(call), call.tool, call.arguments])
