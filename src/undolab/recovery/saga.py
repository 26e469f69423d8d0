"""B3: a saga. When a step fails for good, the steps before it are taken back in reverse, by calls that stand on the wire."""

from collections.abc import Mapping
from typing import ClassVar

from undolab.model.calls import REFUSED, Call, Phase, Reply
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Forgetful, Port, retried
from undolab.recovery.compensate import Done, inverse_of, probe, take_back
from undolab.undo import Outcome


class Saga(Forgetful):
    """B0, and on final failure the registered inverses of all acknowledged writes, newest first.

    A step fails for good when its budget is spent without an answer or the service refuses it now and later; an answer that the
    agent can do something about (bad arguments, say) is the agent's. A saga takes back what it knows was done: the lost step
    itself is left as it is.
    """

    adds: ClassVar[frozenset[str]] = frozenset({"probes"})

    def __init__(self, port: Port, tools: Mapping[str, ToolSpec], retry: Retry = STANDARD) -> None:
        """Compensate through the inverses that `tools` declare."""
        self._port = port
        self._tools = tools
        self._retry = retry
        self._stack: list[Done] = []

    def call(self, call: Call) -> Reply:
        """Make the call as B0 does; on final failure answer with what became of the steps before."""
        before = probe(self._port, self._tools, call) if self._needs_before(call) else None
        reply = retried(self._port, call, self._retry)
        if reply.phase is Phase.UNKNOWN or reply.output == REFUSED:
            return self._roll_back(call)
        if reply.phase is Phase.OK and self._tools[call.tool].writes:
            self._stack.append(Done(call, reply, before))
        return reply

    def _needs_before(self, call: Call) -> bool:
        inverse = self._tools[call.tool].inverse
        return inverse is not None and "{before." in str(inverse.arguments)

    def _roll_back(self, at: Call) -> Reply:
        left = []
        while self._stack:
            done = self._stack.pop()
            undo = inverse_of(self._tools, done, at)
            if undo is None or take_back(self._port, undo, self._retry) is Outcome.REFUSED:
                left.append(done.call.tool)
        if left:
            message = f"the step failed; these steps before it could not be taken back: {', '.join(left)}"
            return Reply(phase=Phase.FAIL, output={"code": "compensation_incomplete", "message": message})
        message = "the step failed; the steps before it were taken back"
        return Reply(phase=Phase.FAIL, output={"code": "compensated", "message": message})
