"""B6: verify before retry, through the public readers only."""

from collections.abc import Mapping
from typing import ClassVar

from undolab.model.calls import Call, Phase, Reply
from undolab.model.observe import Seen, seen
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Forgetful, Port, retried
from undolab.recovery.compensate import probe


class VerifyBeforeRetry(Forgetful):
    """B6: read before the call, read again after a lost answer; present: adopt, absent: retry, unknowable: abstain."""

    adds: ClassVar[frozenset[str]] = frozenset({"probes"})

    def __init__(self, port: Port, tools: Mapping[str, ToolSpec], retry: Retry = STANDARD) -> None:
        """Verify through the readers that `tools` declare."""
        self._port = port
        self._tools = tools
        self._retry = retry

    def call(self, call: Call) -> Reply:
        """Make the call; after a lost answer retry only what a reader shows to be absent. A read itself is simply made again.

        An adopted call is answered `{"adopted": true, "observed": …}` with what the reader showed.
        """
        if not self._tools[call.tool].writes:
            return retried(self._port, call, self._retry)
        before = probe(self._port, self._tools, call)
        reply = self._port.send(call)
        attempt = 1
        while reply.phase is Phase.UNKNOWN:
            after = probe(self._port, self._tools, call)
            shown = self._judge(call, before, after)
            if shown is Seen.PRESENT and after is not None:
                return Reply(phase=Phase.OK, output={"adopted": True, "observed": after.output})
            if shown is Seen.UNKNOWABLE or attempt == self._retry.attempts:
                break
            attempt += 1
            self._port.wait(self._retry.backoff.wait_ms(attempt))
            reply = self._port.send(call)
        return reply

    def _judge(self, call: Call, before: Reply | None, after: Reply | None) -> Seen:
        observe = self._tools[call.tool].observe
        if observe is None or after is None:
            return Seen.UNKNOWABLE
        return seen(observe, call.arguments, before, after)
