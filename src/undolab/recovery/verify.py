"""B6: verify before retry, through the public readers only."""

from collections.abc import Mapping
from typing import ClassVar

from undolab.model.calls import Call, Phase, Reply
from undolab.model.observe import Seen, reader_arguments, seen
from undolab.model.tools import ToolSpec
from undolab.recovery.base import ATTEMPTS, Port, back_off


class VerifyBeforeRetry:
    """B6: read before the call, read again after a lost answer; present: adopt, absent: retry, unknowable: abstain."""

    adds: ClassVar[frozenset[str]] = frozenset({"probes"})

    def __init__(self, port: Port, tools: Mapping[str, ToolSpec]) -> None:
        """Verify through the readers that `tools` declare."""
        self._port = port
        self._tools = tools

    def call(self, call: Call) -> Reply:
        """Make the call; after a lost answer retry only what a reader shows to be absent.

        An adopted call is answered `{"adopted": true, "observed": …}` with what the reader showed.
        """
        before = self._probe(call)
        reply = self._port.send(call)
        attempt = 1
        while reply.phase is Phase.UNKNOWN:
            after = self._probe(call)
            shown = self._judge(call, before, after)
            if shown is Seen.PRESENT and after is not None:
                return Reply(phase=Phase.OK, output={"adopted": True, "observed": after.output})
            if shown is Seen.UNKNOWABLE or attempt == ATTEMPTS:
                break
            attempt += 1
            back_off(self._port, attempt)
            reply = self._port.send(call)
        return reply

    def _judge(self, call: Call, before: Reply | None, after: Reply | None) -> Seen:
        observe = self._tools[call.tool].observe
        if observe is None or after is None:
            return Seen.UNKNOWABLE
        return seen(observe, call.arguments, before, after)

    def _probe(self, call: Call) -> Reply | None:
        observe = self._tools[call.tool].observe
        arguments = reader_arguments(observe, call.arguments) if observe else None
        if observe is None or arguments is None:
            return None
        probe = Call(
            tool=observe.tool, arguments=arguments, turn=call.turn, position=call.position, origin="method"
        )
        return self._port.send(probe)
