"""Carrying a call to the world and back, with the wire log written at both ends."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from undolab.faults.inject import ANSWERED, DEATHS, DELAYED, SUSTAINED, Injector, inject, witness
from undolab.faults.schedule import Schedule, aims
from undolab.model.calls import LOST, REFUSED, Call, LedgerRow, Outcome, Phase, Reply
from undolab.model.canon import canonical
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import ToolSpec
from undolab.model.wire import FaultEvent, WireEffectEvent, WorldEvent
from undolab.wire import LogWriter
from undolab.world import Clock

LATENCY_MS = 50
"""Virtual time from request to answer."""
TIMEOUT_MS = 10_000
"""Virtual time after which a caller gives an answer up as lost."""

Cause = Literal["late", "finish", "redelivery", "third_party"]


class WorldPort(Protocol):
    """What the proxy needs of a world."""

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        attempt: str,
        key: str | None = None,
        stop_after: int | None = None,
    ) -> Outcome:
        """Run one request, or so many parts of it."""
        ...

    def finish(
        self, tool: str, arguments: dict[str, Any], *, attempt: str, key: str | None = None
    ) -> Outcome:
        """Run a request to its end that had begun."""
        ...

    def ledger(self) -> list[LedgerRow]:
        """Return every committed effect."""
        ...


class _Delayed(msgspec.Struct, frozen=True):
    """A request that will run when its caller has given up."""

    due_ms: int
    fault: int
    call: Call
    attempt: str


class FaultProxy:
    """The only way from an agent or method to the world."""

    def __init__(
        self,
        world: WorldPort,
        tools: Mapping[str, ToolSpec],
        log: LogWriter,
        faults: Sequence[FaultPlan] = (),
        injector: Injector = inject,
    ) -> None:
        """Put the proxy before `world`; `faults` is the arm's schedule."""
        self._world = world
        self._tools = tools
        self._log = log
        self._faults = faults
        self._schedule = Schedule(faults)
        self._injector = injector
        self._calls: dict[str, int] = {}
        self._attempts: dict[str, int] = {}
        self._delayed: list[_Delayed] = []
        self._holding: dict[int, tuple[str, int]] = {}
        self._death: Boundary | None = None
        self.clock = Clock()

    def wait(self, ms: int) -> None:
        """Let virtual time pass, as a back-off does; what is due meanwhile at the service happens."""
        end = self.clock.now_ms + ms
        while self._delayed and self._delayed[0].due_ms <= end:
            self._land(self._delayed.pop(0))
        self.clock.advance(max(0, end - self.clock.now_ms))

    def drain(self) -> None:
        """Let everything happen that is still under way at the service, and end the faults that still hold."""
        while self._delayed:
            self._land(self._delayed.pop(0))
        for fault, (attempt, _) in sorted(self._holding.items()):
            self._stage(fault, "released", attempt)
        self._holding.clear()

    def death(self) -> Boundary | None:
        """Return the boundary at which the agent's process has died since the last asking, or None."""
        died, self._death = self._death, None
        return died

    def send(self, call: Call) -> Reply:
        """Make one attempt of `call` and return what its caller sees."""
        attempt, first = self._number(call)
        for fault in sorted(self._holding):
            if aims(self._faults[fault], call) and call.origin == "agent":
                return self._sustain(call, attempt, fault)
        due = self._schedule.due(call, first=first)
        if due is not None:
            self._stage(due, "armed", attempt)
        self._write(call, attempt, Phase.INVOKE)
        if due is None:
            return self._answered(call, attempt)
        if self._faults[due].boundary in ANSWERED:
            return self._struck(call, attempt, due)
        return self._lost(call, attempt, due)

    def _answered(self, call: Call, attempt: str) -> Reply:
        outcome = self._execute(call, attempt)
        self.wait(LATENCY_MS)
        phase = Phase.OK if outcome.ok else Phase.FAIL
        self._write(call, attempt, phase, outcome, heard=True)
        return Reply(phase=phase, output=outcome.output)

    def _lost(self, call: Call, attempt: str, fault: int) -> Reply:
        plan = self._faults[fault]
        boundary = plan.boundary
        parts = 0 if boundary is Boundary.OVERTAKEN else plan.parts or None
        outcome = self._injector(boundary, lambda: self._execute(call, attempt, parts))
        self._stage(fault, "injected", attempt)
        delayed = boundary in DELAYED and (outcome is None or not outcome.output)
        if delayed:
            self._delayed.append(_Delayed(self.clock.now_ms + (plan.delay_ms or 0), fault, call, attempt))
            self._delayed.sort(key=lambda one: one.due_ms)
        self.wait(TIMEOUT_MS)
        self._write(call, attempt, Phase.UNKNOWN, outcome, parts=parts)
        reply = Reply(phase=Phase.UNKNOWN, output=LOST)
        others = 0
        if boundary is Boundary.CONCURRENT_WRITE:
            foreign = msgspec.structs.replace(call, key=None)
            outcome = self._world.call(call.tool, call.arguments, attempt=f"{attempt}x")
            others = len(outcome.effects)
            self._happen("third_party", fault, foreign, f"{attempt}x", outcome)
        if delayed:
            return reply
        self._witness(fault, attempt, reply, others=others)
        self._hold_or_release(fault, attempt)
        return reply

    def _struck(self, call: Call, attempt: str, fault: int) -> Reply:
        boundary = self._faults[fault].boundary
        if boundary is Boundary.STEP_REFUSED:
            self._stage(fault, "injected", attempt)
            reply = self._refuse(call, attempt)
            self._witness(fault, attempt, reply)
            self._hold_or_release(fault, attempt)
            return reply
        reply = self._answered(call, attempt)
        self._stage(fault, "injected", attempt)
        others, again = 0, None
        if boundary in DEATHS:
            self._death = boundary
        else:
            again = self._world.call(call.tool, call.arguments, attempt=f"{attempt}d", key=call.key)
            others = len(again.effects)
            self._happen("redelivery", fault, call, f"{attempt}d", again)
        self._witness(fault, attempt, reply, others=others, ended=again is not None)
        self._stage(fault, "released", attempt)
        return reply

    def _refuse(self, call: Call, attempt: str) -> Reply:
        self.wait(LATENCY_MS)
        self._write(call, attempt, Phase.FAIL, Outcome(ok=False, output=REFUSED), heard=True)
        return Reply(phase=Phase.FAIL, output=REFUSED)

    def _sustain(self, call: Call, attempt: str, fault: int) -> Reply:
        first, left = self._holding[fault]
        self._write(call, attempt, Phase.INVOKE)
        self._stage(fault, "sustained", attempt)
        if self._faults[fault].boundary is Boundary.STEP_REFUSED:
            return self._refuse(call, attempt)
        self.wait(TIMEOUT_MS)
        self._write(call, attempt, Phase.UNKNOWN)
        self._holding[fault] = first, left - 1
        if left == 1:
            del self._holding[fault]
            self._stage(fault, "released", first)
        return Reply(phase=Phase.UNKNOWN, output=LOST)

    def _hold_or_release(self, fault: int, attempt: str) -> None:
        plan = self._faults[fault]
        left = (plan.times or 1) - 1 if plan.boundary is Boundary.OUTLIVES_BUDGET else 1
        if plan.boundary in SUSTAINED and left:
            self._holding[fault] = attempt, left
        else:
            self._stage(fault, "released", attempt)

    def _land(self, delayed: _Delayed) -> None:
        """Run a request whose caller has given up."""
        self.clock.advance(max(0, delayed.due_ms - self.clock.now_ms))
        running = self._faults[delayed.fault].boundary is Boundary.OVERTAKEN
        run = self._world.finish if running else self._world.call
        call, attempt = delayed.call, delayed.attempt
        outcome = run(call.tool, call.arguments, attempt=attempt, key=call.key)
        self._happen("finish" if running else "late", delayed.fault, call, attempt, outcome)
        self._witness(delayed.fault, attempt, Reply(phase=Phase.UNKNOWN, output=LOST), ended=True)
        self._stage(delayed.fault, "released", attempt)

    def _execute(self, call: Call, attempt: str, stop_after: int | None = None) -> Outcome:
        if stop_after is None:
            return self._world.call(call.tool, call.arguments, attempt=attempt, key=call.key)
        return self._world.call(
            call.tool, call.arguments, attempt=attempt, key=call.key, stop_after=stop_after
        )

    def _number(self, call: Call) -> tuple[str, bool]:
        suffix = "" if call.origin == "agent" else "m"
        place = f"{call.turn}.{call.position}{suffix}"
        number = self._attempts.get(place, 0) + 1
        self._attempts[place] = number
        self._calls[call.tool] = self._calls.get(call.tool, 0) + 1
        return f"{call.turn}.{call.position}.{number}{suffix}", number == 1

    def _witness(
        self, fault: int, attempt: str, reply: Reply, *, others: int = 0, ended: bool = False
    ) -> None:
        rows = sum(row.attempt == attempt for row in self._world.ledger())
        boundary = self._faults[fault].boundary
        evidence = witness(boundary, rows, _response_bytes(reply), others=others, ended=ended)
        if evidence is not None:
            self._stage(fault, "witnessed", attempt, evidence)

    def _stage(self, fault: int, stage: str, attempt: str, detail: dict[str, Any] | None = None) -> None:
        self._log.add(FaultEvent, fault=fault, stage=stage, attempt=attempt, detail=detail or {})

    def _happen(self, cause: Cause, fault: int, call: Call, attempt: str, outcome: Outcome) -> None:
        self._log.add(
            WorldEvent,
            cause=cause,
            fault=fault,
            attempt=attempt,
            tool_name=call.tool,
            arguments=call.arguments,
            at_ms=self.clock.now_ms,
            output=outcome.output,
            key=call.key,
            target=[effect.entity for effect in outcome.effects],
            effects=outcome.effects,
            replay_of=outcome.replay_of,
        )

    def _write(
        self,
        call: Call,
        attempt: str,
        phase: Phase,
        outcome: Outcome | None = None,
        *,
        heard: bool = False,
        parts: int | None = None,
    ) -> None:
        died = outcome is not None and not outcome.ok and not outcome.output
        self._log.add(
            WireEffectEvent,
            phase=phase,
            attempt=attempt,
            call_index=self._calls[call.tool],
            tool_name=call.tool,
            op_type=self._tools[call.tool].op,
            arguments=call.arguments,
            at_ms=self.clock.now_ms,
            origin=call.origin,
            key=call.key,
            committed_externally=bool(outcome and outcome.effects),
            acknowledged_to_agent=heard,
            target=[effect.entity for effect in outcome.effects] if outcome else [],
            effects=outcome.effects if outcome else [],
            output=outcome.output if outcome and not died else None,
            replay_of=outcome.replay_of if outcome else None,
            parts=parts if died else None,
        )


def _response_bytes(reply: Reply) -> int:
    """Return how many bytes of an answer the caller was given."""
    return 0 if reply.output == LOST else len(canonical(reply.output))
