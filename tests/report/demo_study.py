"""A small complete study written by hand, for the tests of the demo page: one task, two boundaries, four methods."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from undolab.model.calls import Effect, FinalReport, LedgerRow, Phase
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import Observe, Op, Reversibility, ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, FaultEvent, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Predicate, RequiredEffect, Scenario, Split, Step, Workflow
from undolab.oracle import judge
from undolab.report import demo
from undolab.stats.rows import CellRow, Estimate, MetricsFile, Scope, Study
from undolab.wire import LogWriter

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "demo"
MODEL = "gemma3-270m"
POST = Boundary.POST_MUTATION_PRE_ACK
PRE = Boundary.PRE_MUTATION
METHODS = ["none", "B0", "B2", "B6"]

TOOLS = {
    "get_subscription": ToolSpec(
        name="get_subscription",
        domain="payments",
        description="Show one subscription.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.READ,
    ),
    "charge_renewal": ToolSpec(
        name="charge_renewal",
        domain="payments",
        description="Charge a subscription for one more period.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.CREATE,
        entity="renewals/*",
        idempotency_key=True,
        reversibility=Reversibility.COMPENSATABLE,
        observe=Observe(
            tool="get_subscription",
            arguments={"sub_id": "{sub_id}"},
            rule="added",
            field="periods_paid",
            by=1,
        ),
    ),
    "send_receipt": ToolSpec(
        name="send_receipt",
        domain="payments",
        description="Send a receipt by mail.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.CREATE,
        entity="receipts/*",
        reversibility=Reversibility.IRREVERSIBLE,
    ),
}
CHARGE = {"sub_id": "sub_9001", "amount_cents": 4900}
RECEIPT = {"sub_id": "sub_9001"}
WORKFLOW = Workflow(
    id="RB-PAY-900",
    version=1,
    name="Renew a subscription",
    domain="payments",
    split=Split.TEST,
    complexity="C2",
    reversibility=Reversibility.COMPENSATABLE,
    objective="Renew subscription sub_9001 of Marta for one period at 49.00 EUR, then send her the receipt.",
    tools=list(TOOLS),
    fixture={"subscriptions": [{"sub_id": "sub_9001", "periods_paid": 3}]},
    plan=[
        Step(say="Charge the renewal of sub_9001.", tool="charge_renewal", arguments=CHARGE),
        Step(say="Send Marta the receipt.", tool="send_receipt", arguments=RECEIPT),
    ],
    effects=[
        RequiredEffect(id="charge", tool="charge_renewal", entity="renewals/*", arguments=CHARGE),
        RequiredEffect(id="receipt", tool="send_receipt", entity="receipts/*"),
    ],
    order=[("charge", "receipt")],
    goal=[
        Predicate(say="Marta paid for exactly one more period.", table="renewals", check="count", value=1),
        Predicate(say="One receipt was sent.", table="receipts", check="count", value=1),
    ],
    scenarios=[Scenario(id="charge", tool="charge_renewal", effect="charge")],
)


class Script:
    """A hand-driven arm: writes the wire lines that a run would write, and keeps the world's counts."""

    def __init__(self, boundary: Boundary, method: str, seed: int, arm: str) -> None:
        """Start an arm."""
        self.arm = ArmId(
            workflow=WORKFLOW.id,
            model=MODEL,
            framework="F1",
            boundary=boundary.value,
            method=method,
            seed=seed,
            arm=arm,
        )
        self.boundary = boundary
        self.log = LogWriter()
        self.rows: list[LedgerRow] = []
        self.tables: dict[str, dict[str, dict[str, Any]]] = {"renewals": {}, "receipts": {}}
        self.calls: dict[str, int] = {}
        plans = (
            [FaultPlan(boundary=boundary, scenario="charge", tool="charge_renewal")] if arm == "fault" else []
        )
        self.log.add(
            ArmStart,
            arm=self.arm,
            workflow_digest="0" * 64,
            tools_digest="0" * 64,
            world_seed=seed,
            prompt="runbook",
            examples="plain",
            faults=plans,
        )

    def turn(self, number: int, said: str, error: str = "") -> None:
        """Log what the agent said."""
        self.log.add(TurnEvent, turn=number, seen="0" * 64, said=said, error=error)

    def attempt(
        self,
        name: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        lost: bool = False,
        key: str | None = None,
        replay_of: str | None = None,
    ) -> None:
        """Log one attempt; `lost` injects the arm's fault into it."""
        op = TOOLS[tool].op
        self.calls[tool] = self.calls.get(tool, 0) + 1
        common = {
            "attempt": name,
            "call_index": self.calls[tool],
            "tool_name": tool,
            "op_type": op,
            "arguments": arguments,
            "at_ms": 0,
            "origin": "method" if name.endswith("m") else "agent",
            "key": key,
        }
        self.log.add(WireEffectEvent, phase=Phase.INVOKE, **common)
        ran = not (lost and self.boundary is PRE)
        effects: list[Effect] = []
        output: dict[str, Any] | None = None
        if ran and op is Op.READ:
            output = {"sub_id": "sub_9001", "periods_paid": 3 + len(self.tables["renewals"])}
        elif ran:
            table = "renewals" if tool == "charge_renewal" else "receipts"
            if replay_of is None:
                row = f"{table[:3]}_{len(self.tables[table]) + 1:08x}"
                effects = self._commit(name, tool, arguments, table, row)
            output = {"id": list(self.tables[table])[-1], "status": "done"}
        if lost:
            self.log.add(FaultEvent, fault=0, stage="injected", attempt=name)
            self.log.add(
                FaultEvent, fault=0, stage="witnessed", attempt=name, detail={"ledger_rows": len(effects)}
            )
        self.log.add(
            WireEffectEvent,
            phase=Phase.UNKNOWN if lost else Phase.OK,
            committed_externally=bool(effects),
            acknowledged_to_agent=not lost,
            target=[effect.entity for effect in effects],
            effects=effects,
            output=output,
            replay_of=replay_of,
            **common,
        )

    def finish(self, report: FinalReport, turns: int) -> tuple[str, list[WireLine], Verdict]:
        """End the arm and judge it."""
        self.log.add(ReportEvent, report=report, reason="finished", turns=turns, final_state="0" * 64)
        verdict = judge(WORKFLOW, TOOLS, self.log.lines, self.rows, self.tables)
        return self.arm.name(), self.log.lines, verdict

    def _commit(self, name: str, tool: str, arguments: dict[str, Any], table: str, row: str) -> list[Effect]:
        self.tables[table][row] = dict(arguments)
        number = len(self.rows) + 1
        effect = Effect(
            id=f"e{number}", entity=f"{table}/{row}", op=Op.CREATE, before="", after=f"{number:016x}"
        )
        self.rows.append(LedgerRow(seq=number, attempt=name, tool=tool, arguments=arguments, effect=effect))
        return [effect]


def say(tool: str, arguments: dict[str, Any], step: int, more: str = "") -> str:
    """Return a turn as the small model writes it."""
    inside = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    return f"step {step}: {tool}({inside}){more}"


def run(
    boundary: Boundary, method: str, seed: int, arm: str, more: str = ""
) -> tuple[str, list[WireLine], Verdict]:
    """Return one arm: charge, then receipt, with the method's usual answer to the lost one."""
    script = Script(boundary, method, seed, arm)
    faulted = arm == "fault"
    key = "idem_6f1d2a90b3c4e5f7" if method == "B2" else None
    script.turn(1, say("charge_renewal", CHARGE, 1, more))
    if method == "B6":
        script.attempt("1.1.1m", "get_subscription", RECEIPT)
    script.attempt("1.1.1", "charge_renewal", CHARGE, lost=faulted, key=key)
    if faulted and method == "B6":
        script.attempt("1.1.2m", "get_subscription", RECEIPT)
    if faulted and (method in {"B0", "B2"} or (method == "B6" and boundary is PRE)):
        replay = "1.1.1" if method == "B2" and boundary is POST else None
        script.attempt("1.1.2", "charge_renewal", CHARGE, key=key, replay_of=replay)
    script.turn(2, say("send_receipt", RECEIPT, 2))
    script.attempt("2.1.1", "send_receipt", RECEIPT)
    script.turn(3, "finish: done")
    return script.finish(FinalReport.DONE, 3)


def study_runs(seeds: Sequence[int] = (2001,), more: str = "") -> list[tuple[str, list[WireLine], Verdict]]:
    """Return a small complete study."""
    found = []
    for seed in seeds:
        found.append(run(Boundary.NONE, "none", seed, "control", more))
        found += [
            run(boundary, method, seed, "fault", more) for boundary in (PRE, POST) for method in METHODS
        ]
    return found


def metrics() -> MetricsFile:
    """Return headline numbers of the right shape."""
    study = Study(
        workflows=[WORKFLOW.id],
        models=[MODEL],
        frameworks=["F1"],
        boundaries=[PRE.value, POST.value],
        methods=METHODS,
        seeds=[2001],
        prompt="runbook",
        examples="plain",
        replicates=100,
        bootstrap_seed=1,
        rules=1,
    )
    cells = []
    for number, (boundary, method) in enumerate((b, m) for b in study.boundaries for m in METHODS):
        scope = Scope(
            model=MODEL,
            framework="F1",
            prompt="runbook",
            examples="plain",
            boundary=boundary,
            method=method,
            task="all",
        )
        right = Estimate(
            num=number, den=10, value=number / 10, lo=max(0.0, number / 10 - 0.1), hi=0.8, dropped=0
        )
        twice = Estimate(num=0, den=0, value=None, lo=None, hi=None, dropped=0) if number == 0 else right
        cells.append(
            CellRow(
                scope=scope,
                N=10,
                exposed=10,
                D=8,
                R=number,
                F=number,
                interval="cluster_bootstrap",
                metrics={"crsr": right, "der": twice},
                failures={},
                sums={},
            )
        )
    return MetricsFile(study=study, cells=cells)


def collected(seeds: Sequence[int] = (2001,), more: str = "", budget: int = demo.BUDGET) -> dict[str, Any]:
    """Return the embedded data of the small study."""
    runs = study_runs(seeds, more)
    logs = [(name, lines) for name, lines, _ in runs]
    verdicts = {name: verdict for name, _, verdict in runs}
    return demo.collect(logs, verdicts, {WORKFLOW.id: WORKFLOW}, TOOLS, budget)


def page(**options: Any) -> str:
    """Return the whole page of the small study."""
    return demo.render(collected(**options), metrics(), TEMPLATE)


def fault_arm(data: dict[str, Any], boundary: Boundary, method: str) -> dict[str, Any]:
    """Return the embedded fault arm of one pair."""
    pair = next(p for p in data["pairs"] if (p["boundary"], p["method"]) == (boundary.value, method))
    found: dict[str, Any] = data["arms"][pair["fault"]]
    return found
