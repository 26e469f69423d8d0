"""Taking a committed write back through the public tool that its spec names."""

from collections.abc import Mapping

import msgspec

from undolab.model.calls import Call, Phase, Reply
from undolab.model.observe import inverse_call, reader_arguments
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import Retry
from undolab.recovery.base import Port, retried
from undolab.undo import Outcome


class Done(msgspec.Struct, frozen=True):
    """A write that may have to be taken back."""

    call: Call
    reply: Reply | None
    """Its answer; None where it was lost."""
    before: Reply | None
    """What the reader showed before it; None where nobody read."""


def probe(port: Port, tools: Mapping[str, ToolSpec], call: Call) -> Reply | None:
    """Read what the call's observer shows; None where the call has none."""
    observe = tools[call.tool].observe
    arguments = reader_arguments(observe, call.arguments) if observe else None
    if observe is None or arguments is None or observe.tool not in tools:
        return None
    return port.send(_ours(call, observe.tool, arguments))


def inverse_of(tools: Mapping[str, ToolSpec], done: Done, at: Call) -> Call | None:
    """Return the call that takes the write back, made at the agent's call `at`; None where there is none."""
    inverse = tools[done.call.tool].inverse
    if inverse is None or inverse.tool not in tools:
        return None
    before = done.before.output if done.before is not None and done.before.phase is Phase.OK else None
    arguments = inverse_call(inverse, done.call.arguments, done.reply.output if done.reply else None, before)
    return None if arguments is None else _ours(at, inverse.tool, arguments)


def take_back(port: Port, undo: Call, retry: Retry) -> Outcome:
    """Send the undo call, again where its answer is lost; `not_found` says that nothing is left to take back."""
    reply = retried(port, undo, retry)
    if reply.phase is Phase.OK:
        return Outcome.COMPENSATED
    gone = reply.phase is Phase.FAIL and reply.output.get("code") == "not_found"
    return Outcome.ALREADY_ABSENT if gone else Outcome.REFUSED


def _ours(at: Call, tool: str, arguments: dict[str, object]) -> Call:
    return Call(tool=tool, arguments=arguments, turn=at.turn, position=at.position, origin="method")
