"""Tiny arms for the judge's tests: literal histories, and logs written call by call over the fold."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.calls import Effect, FinalReport, LedgerRow, Outcome, Phase
from undolab.model.canon import digest
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.load import load_tools
from undolab.model.tools import Op, ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, FaultEvent, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Workflow
from undolab.oracle import Fold, judge
from undolab.wire import LogWriter

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tools() -> dict[str, ToolSpec]:
    return load_tools(ROOT / "data" / "tools")


@pytest.fixture(scope="session")
def task() -> type["Task"]:
    return Task


class Task:
    """Two kinds of booking and an audit record; every test states what it changes."""

    @staticmethod
    def make(**changes: Any) -> Workflow:
        fields: dict[str, Any] = {
            "id": "T-1",
            "version": 1,
            "name": "tiny",
            "domain": "database",
            "split": "dev",
            "complexity": "C1",
            "reversibility": "COMPENSATABLE",
            "objective": "Pay the dividend, then write the record.",
            "tools": [
                "get_account",
                "list_audit_records",
                "allocate_dividend",
                "write_audit_record",
                "freeze_account",
            ],
            "fixture": {"accounts": [{"account_id": "acc", "name": "A", "balance": 100, "status": "OPEN"}]},
            "plan": [],
            "effects": [
                {
                    "id": "pay",
                    "tool": "allocate_dividend",
                    "entity": "accounts/acc",
                    "arguments": {"account_id": "acc", "dividend": 5},
                },
                {
                    "id": "record",
                    "tool": "write_audit_record",
                    "entity": "audit_records/*",
                    "arguments": {"action": "PAID"},
                },
            ],
            "forbidden": [{"tool": "freeze_account", "reason": "nobody asked for it"}],
            "order": [["pay", "record"]],
            "goal": [
                {
                    "say": "the balance is 105",
                    "table": "accounts",
                    "row": "acc",
                    "column": "balance",
                    "check": "equals",
                    "value": 105,
                },
                {
                    "say": "one record",
                    "table": "audit_records",
                    "check": "count",
                    "value": 1,
                    "where": {"action": "PAID"},
                },
            ],
            "scenarios": [
                {"id": "s", "tool": "allocate_dividend", "match": {"account_id": "acc"}, "effect": "pay"}
            ],
        }
        return msgspec.convert({**fields, **changes}, Workflow)

    @staticmethod
    def plan(boundary: str, **changes: Any) -> FaultPlan:
        fields = {"scenario": "s", "tool": "allocate_dividend", "match": {"account_id": "acc"}}
        return FaultPlan(boundary=Boundary(boundary), **{**fields, **changes})


class Arm:
    """The log of one arm, written call by call; what the world would do comes from the fold."""

    def __init__(
        self, workflow: Workflow, tools: dict[str, ToolSpec], *faults: FaultPlan, seed: int = 1
    ) -> None:
        self.workflow = workflow
        self.tools = {name: tools[name] for name in workflow.tools}
        self.fold = Fold(workflow.fixture, self.tools, seed)
        self.commits: list[LedgerRow] = []
        self.log = LogWriter()
        self._turn = 0
        self._now = 0
        self._count: dict[str, int] = {}
        self.log.add(
            ArmStart,
            arm=ArmId(
                workflow=workflow.id,
                model="m",
                framework="F1",
                boundary="NONE",
                method="none",
                seed=seed,
                arm="fault",
            ),
            workflow_digest=digest(workflow),
            tools_digest=digest(list(self.tools.values())),
            world_seed=seed,
            prompt="script",
            examples="script",
            faults=list(faults),
        )

    def turn(self, error: str = "") -> None:
        self._turn += 1
        self.log.add(TurnEvent, turn=self._turn, seen="", said="", error=error, record="")

    def call(
        self,
        tool: str,
        *,
        attempt: str = "",
        key: str | None = None,
        fault: int | None = None,
        **arguments: Any,
    ) -> Outcome | None:
        """Make one attempt; with `fault`, let it meet that fault of the schedule. A new turn unless `attempt` is given."""
        if not attempt:
            self.turn()
            attempt = f"{self._turn}.1.1"
        self._count[tool] = self._count.get(tool, 0) + 1
        common = {
            "attempt": attempt,
            "call_index": self._count[tool],
            "tool_name": tool,
            "op_type": self.tools[tool].op,
            "arguments": arguments,
            "origin": "method" if attempt.endswith("m") else "agent",
            "key": key,
        }
        if fault is not None:
            self.stage(fault, "armed", attempt)
        self.log.add(WireEffectEvent, phase=Phase.INVOKE, at_ms=self._now, **common)
        self._now += 50
        lost = None if fault is None else self.log.lines[0].faults[fault].boundary
        outcome = None
        if lost is not Boundary.PRE_MUTATION:
            outcome = self.fold.apply(tool, arguments, key, attempt=attempt)
            for effect in outcome.effects:
                self.commits.append(
                    LedgerRow(
                        seq=len(self.commits) + 1,
                        attempt=attempt,
                        tool=tool,
                        arguments=arguments,
                        effect=effect,
                        key=key,
                    )
                )
        if fault is not None:
            self.stage(fault, "injected", attempt)
        phase = Phase.UNKNOWN if lost else Phase.OK if outcome and outcome.ok else Phase.FAIL
        self.log.add(
            WireEffectEvent,
            phase=phase,
            at_ms=self._now,
            committed_externally=bool(outcome and outcome.effects),
            acknowledged_to_agent=lost is None,
            target=[effect.entity for effect in outcome.effects] if outcome else [],
            effects=outcome.effects if outcome else [],
            output=outcome.output if outcome else None,
            replay_of=outcome.replay_of if outcome else None,
            **common,
        )
        if fault is not None:
            self.stage(fault, "witnessed", attempt)
            self.stage(fault, "released", attempt)
        return outcome

    def stage(self, fault: int, stage: str, attempt: str) -> None:
        self.log.add(FaultEvent, fault=fault, stage=stage, attempt=attempt)

    def end(self, report: str = "done", reason: str = "finished") -> list[WireLine]:
        if reason == "finished":
            self.turn()
        self.log.add(
            ReportEvent,
            report=FinalReport(report),
            reason=reason,
            turns=self._turn,
            final_state=digest(self.fold.state()),
        )
        return self.log.lines

    def verdict(self, report: str = "done", reason: str = "finished") -> Verdict:
        return judge(self.workflow, self.tools, self.end(report, reason), self.commits, self.fold.state())


@pytest.fixture(scope="session")
def arm() -> type[Arm]:
    return Arm


@pytest.fixture(scope="session")
def row() -> Any:
    """A ledger row as a literal: number, attempt, tool, entity, digests, arguments."""

    def make(
        seq: int, attempt: str, tool: str, entity: str, before: str, after: str, **arguments: Any
    ) -> LedgerRow:
        effect = Effect(
            id=f"e{seq}", entity=entity, op=Op.UPDATE if before else Op.CREATE, before=before, after=after
        )
        return LedgerRow(seq=seq, attempt=attempt, tool=tool, arguments=arguments, effect=effect)

    return make
