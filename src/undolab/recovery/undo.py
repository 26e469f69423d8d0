"""B7: observe; take back what is ours; retry. A first cut through the tools' inverses, without receipts."""

from collections.abc import Mapping
from typing import ClassVar

from undolab.model.calls import Call, Phase, Reply
from undolab.model.observe import Seen, seen
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Forgetful, Port, retried
from undolab.recovery.compensate import Done, inverse_of, probe, take_back


class ObserveAndUndo(Forgetful):
    """Reads before a call and after a lost answer, as B6 does; differs where a call has several parts.

    A reader cannot tell half a call from a whole one. So a lost call of several parts that was not there before is taken back,
    whatever of it is there, and made again. Where it cannot be taken back, or somebody else wrote, B7 does what B6 does.
    """

    adds: ClassVar[frozenset[str]] = frozenset({"probes"})

    def __init__(self, port: Port, tools: Mapping[str, ToolSpec], retry: Retry = STANDARD) -> None:
        """Observe and compensate through what `tools` declare."""
        self._port = port
        self._tools = tools
        self._retry = retry

    def call(self, call: Call) -> Reply:
        """Make the call; after a lost answer adopt it, take it back and make it again, make it again, or abstain."""
        if not self._tools[call.tool].writes:
            return retried(self._port, call, self._retry)
        before = probe(self._port, self._tools, call)
        reply = self._port.send(call)
        attempt = 1
        while reply.phase is Phase.UNKNOWN:
            undo = self._undo(call, before)
            ready = undo is not None and take_back(self._port, undo, self._retry)
            if not ready:
                after = probe(self._port, self._tools, call)
                shown = self._judge(call, before, after)
                if shown is Seen.PRESENT and after is not None:
                    return Reply(phase=Phase.OK, output={"adopted": True, "observed": after.output})
                ready = shown is Seen.ABSENT
            if not ready or attempt == self._retry.attempts:
                break
            attempt += 1
            self._port.wait(self._retry.backoff.wait_ms(attempt))
            reply = self._port.send(call)
        return reply

    def _undo(self, call: Call, before: Reply | None) -> Call | None:
        """Return the call that takes back a call of several parts, if whatever is there now must be ours."""
        if (
            self._tools[call.tool].sub_writes == 1
            or before is None
            or self._judge(call, None, before) is Seen.PRESENT
        ):
            return None
        return inverse_of(self._tools, Done(call, None, before), call)

    def _judge(self, call: Call, before: Reply | None, after: Reply | None) -> Seen:
        observe = self._tools[call.tool].observe
        if observe is None or after is None:
            return Seen.UNKNOWABLE
        return seen(observe, call.arguments, before, after)
