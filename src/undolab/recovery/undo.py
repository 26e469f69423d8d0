"""B7: observe; take back what is ours, by its receipt; retry. What the undo layer adds to a client."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from undolab.model.calls import LOST, Call, Phase, Reply
from undolab.model.observe import Seen, seen
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Disk, Forgetful, Port, retried
from undolab.recovery.compensate import Done, inverse_of, probe, take_back
from undolab.recovery.receipts import Receipts
from undolab.undo import Outcome


class ObserveAndUndo(Forgetful):
    """Reads before a call and after a lost answer, as B6 does, and keeps a receipt of each write in an undo store.

    Two things follow from the receipts. A process that died does not make a call again that was answered in its earlier life,
    and takes one up that was not. And a call of several parts, of which a reader cannot tell half from a whole one, is taken
    back and made again after a lost answer, if what is there can only be ours: the place was empty before, or the inverse names
    our very values, and no reader showed anybody else's work since. Everything else is left as it stands, as B6 leaves it.
    """

    adds: ClassVar[frozenset[str]] = frozenset({"probes"})

    def __init__(
        self,
        port: Port,
        tools: Mapping[str, ToolSpec],
        disk: Disk,
        task: str,
        run: str,
        retry: Retry = STANDARD,
    ) -> None:
        """Observe and compensate through what `tools` declare; keep the receipts of the run on `disk`."""
        self._port = port
        self._tools = tools
        self._disk = disk
        self._task = task
        self._run = run
        self._retry = retry

    @cached_property
    def _receipts(self) -> Receipts:
        return Receipts(self._disk, self._task, self._run)  # opened by the first write

    def call(self, call: Call) -> Reply:
        """Make the call; after a lost answer adopt it, take it back and make it again, make it again, or abstain."""
        if not self._tools[call.tool].writes:
            return retried(self._port, call, self._retry)
        kept = self._receipts.find(call)
        if kept.answer is not None:
            return kept.answer
        if kept.receipt:
            receipt, before, reply = kept.receipt, kept.before, Reply(phase=Phase.UNKNOWN, output=LOST)
        else:
            before = probe(self._port, self._tools, call)
            receipt = self._receipts.intend(call, before)
            reply = self._port.send(call)
            if reply.phase is Phase.FAIL:
                self._receipts.settle(receipt, absent=True)
        reply = self._recovered(call, receipt, before, reply)
        if reply.phase is not Phase.UNKNOWN:
            self._receipts.answered(call, reply)
        return reply

    def _recovered(self, call: Call, receipt: str, before: Reply | None, reply: Reply) -> Reply:
        attempt = 1
        while reply.phase is Phase.UNKNOWN:
            after, shown = self._observed(call, before, receipt)
            undo = None if shown is Seen.UNKNOWABLE else self._undo(call, before, receipt)
            ready = undo is not None and self._taken_back(undo, receipt)
            if not ready:
                if undo is not None:  # its answer may have been lost: look again
                    after, shown = self._observed(call, before, receipt)
                if shown is Seen.PRESENT and after is not None:
                    return Reply(phase=Phase.OK, output={"adopted": True, "observed": after.output})
                ready = shown is Seen.ABSENT
            if not ready or attempt == self._retry.attempts:
                break
            attempt += 1
            self._port.wait(self._retry.backoff.wait_ms(attempt))
            receipt = self._receipts.intend(call, before)
            reply = self._port.send(call)
        return reply

    def _observed(self, call: Call, before: Reply | None, receipt: str) -> tuple[Reply | None, Seen]:
        """Read what is there now; what fits neither with our write nor without it is somebody else's, and is written down."""
        after = probe(self._port, self._tools, call)
        shown = self._judge(call, before, after)
        if shown is Seen.UNKNOWABLE and before is not None and after is not None and after.phase is Phase.OK:
            self._receipts.foreign(receipt, after)
        return after, shown

    def _undo(self, call: Call, before: Reply | None, receipt: str) -> Call | None:
        """Return the call that takes back a call of several parts, if whatever it takes away must be ours."""
        spec = self._tools[call.tool]
        if spec.sub_writes == 1 or before is None or self._judge(call, None, before) is Seen.PRESENT:
            return None
        empty = before.phase is Phase.FAIL and before.output.get("code") == "not_found"
        named = before.phase is Phase.OK and _names_our_values(spec)
        if not (empty or named) or not self._receipts.ours(receipt):
            return None
        return inverse_of(self._tools, Done(call, None, before), call)

    def _taken_back(self, undo: Call, receipt: str) -> bool:
        outcome = take_back(self._port, undo, self._retry)
        if outcome is not Outcome.REFUSED:
            self._receipts.settle(receipt, absent=outcome is Outcome.ALREADY_ABSENT)
        return outcome is not Outcome.REFUSED

    def _judge(self, call: Call, before: Reply | None, after: Reply | None) -> Seen:
        observe = self._tools[call.tool].observe
        if observe is None or after is None:
            return Seen.UNKNOWABLE
        return seen(observe, call.arguments, before, after)


def _names_our_values(spec: ToolSpec) -> bool:
    """Return True if the inverse names every value that the write puts, so that it cannot take away another one."""
    if spec.observe is None or spec.inverse is None or not spec.observe.fields:
        return False
    named = list(spec.inverse.arguments.values())
    return all(value in named for value in spec.observe.fields.values())
