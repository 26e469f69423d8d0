"""Carrying a call to the world and back, with the wire log written at both ends."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from undolab.faults.inject import Injector, inject, witness
from undolab.faults.schedule import Schedule
from undolab.model.calls import LOST, Call, LedgerRow, Outcome, Phase, Reply
from undolab.model.canon import canonical
from undolab.model.fault import FaultPlan
from undolab.model.tools import ToolSpec
from undolab.model.wire import FaultEvent, WireEffectEvent
from undolab.wire import LogWriter
from undolab.world import Clock

LATENCY_MS = 50
"""Virtual time from request to answer."""
TIMEOUT_MS = 10_000
"""Virtual time after which a caller gives an answer up as lost."""


class WorldPort(Protocol):
    """What the proxy needs of a world."""

    def call(self, tool: str, arguments: dict[str, Any], *, attempt: str, key: str | None = None) -> Outcome:
        """Run one request."""
        ...

    def ledger(self) -> list[LedgerRow]:
        """Return every committed effect."""
        ...


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
        self.clock = Clock()

    def wait(self, ms: int) -> None:
        """Let virtual time pass, as a back-off does."""
        self.clock.advance(ms)

    def send(self, call: Call) -> Reply:
        """Make one attempt of `call` and return what its caller sees."""
        attempt, first = self._number(call)
        fault = self._schedule.due(call) if first and call.origin == "agent" else None
        if fault is not None:
            self._stage(fault, "armed", attempt)
        self._write(call, attempt, Phase.INVOKE)
        if fault is None:
            return self._answered(call, attempt)
        return self._faulted(call, attempt, fault)

    def _answered(self, call: Call, attempt: str) -> Reply:
        outcome = self._execute(call, attempt)
        self.clock.advance(LATENCY_MS)
        phase = Phase.OK if outcome.ok else Phase.FAIL
        self._write(call, attempt, phase, outcome, heard=True)
        return Reply(phase=phase, output=outcome.output)

    def _faulted(self, call: Call, attempt: str, fault: int) -> Reply:
        boundary = self._faults[fault].boundary
        outcome = self._injector(boundary, lambda: self._execute(call, attempt))
        self._stage(fault, "injected", attempt)
        self.clock.advance(TIMEOUT_MS)
        self._write(call, attempt, Phase.UNKNOWN, outcome)
        reply = Reply(phase=Phase.UNKNOWN, output=LOST)
        rows = [row for row in self._world.ledger() if row.attempt == attempt]
        evidence = witness(boundary, rows, _response_bytes(reply))
        if evidence is not None:
            self._stage(fault, "witnessed", attempt, evidence)
        self._stage(fault, "released", attempt)
        return reply

    def _execute(self, call: Call, attempt: str) -> Outcome:
        return self._world.call(call.tool, call.arguments, attempt=attempt, key=call.key)

    def _number(self, call: Call) -> tuple[str, bool]:
        suffix = "" if call.origin == "agent" else "m"
        place = f"{call.turn}.{call.position}{suffix}"
        number = self._attempts.get(place, 0) + 1
        self._attempts[place] = number
        self._calls[call.tool] = self._calls.get(call.tool, 0) + 1
        return f"{call.turn}.{call.position}.{number}{suffix}", number == 1

    def _stage(self, fault: int, stage: str, attempt: str, detail: dict[str, Any] | None = None) -> None:
        self._log.add(FaultEvent, fault=fault, stage=stage, attempt=attempt, detail=detail or {})

    def _write(
        self, call: Call, attempt: str, phase: Phase, outcome: Outcome | None = None, *, heard: bool = False
    ) -> None:
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
            output=outcome.output if outcome else None,
            replay_of=outcome.replay_of if outcome else None,
        )


def _response_bytes(reply: Reply) -> int:
    """Return how many bytes of the service's answer the caller was given."""
    return 0 if reply.output == LOST else len(canonical(reply.output))
