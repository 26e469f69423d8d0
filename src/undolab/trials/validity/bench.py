"""What every kind of case stands on: a case itself, and a bench that runs arms of one workflow at one boundary."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from undolab.agents.base import Agent
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.calls import FinalReport, LedgerRow, Phase
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, FaultEvent, ReportEvent, WireEffectEvent, WireLine
from undolab.model.workflow import RequiredEffect, State, Step, Workflow
from undolab.oracle import judge
from undolab.trials.arm import ArmRun, Task, run_arm
from undolab.trials.schedule import schedule, target_step
from undolab.trials.validity import script

_SEED = 1


class Case(NamedTuple):
    """One history with what the judge must say of it."""

    workflow: Workflow
    boundary: str
    kind: str
    asks: str
    """`verdict`, `duplicates`, `exposure`, `report`, `class`, `resends` or `resend count`: what is known beforehand."""
    expected: str
    tools: Mapping[str, ToolSpec]
    lines: Sequence[WireLine]
    rows: Sequence[LedgerRow]
    state: State

    def judged(self) -> Verdict:
        """Judge the history."""
        return judge(self.workflow, self.tools, self.lines, self.rows, self.state)

    def found(self) -> str:
        """Judge the history and return the answer to what is asked."""
        return answer(self.judged(), self.asks)


def answer(verdict: Verdict, asks: str) -> str:
    """Return what a verdict says of the thing asked for."""
    match asks:
        case "verdict":
            return "pass" if verdict.passed else "fail"
        case "duplicates":
            return "harmful" if verdict.harmful_duplicates else "none"
        case "exposure":
            return verdict.exposure.value
        case "class":
            return verdict.failure.value
        case "resends":
            return "unsafe" if verdict.unsafe_resends else "safe"
        case "resend count":
            return str(verdict.unsafe_resends)
        case _:
            return f"{verdict.report.value} {'true' if verdict.truthful else 'untrue'}"


class Bench:
    """Runs arms of one workflow at one boundary and makes cases of them."""

    def __init__(self, task: Task, facts: Mapping[str, str], boundary: Boundary) -> None:
        """Stand on a workflow made ready and the facts of its class."""
        self.task = task
        self.workflow = task.workflow
        self.facts = facts
        self.boundary = boundary

    def plans(self, method: str, boundary: Boundary | None = None) -> list[FaultPlan] | None:
        """Return the schedule of an arm with `method`, None where there is none."""
        return schedule(self.workflow, self.task.catalogue, boundary or self.boundary, method)

    def target(self) -> int:
        """Return which call of the plan the workflow's first scenario aims at."""
        return target_step(self.workflow, (self.plans("none", Boundary.POST_MUTATION_PRE_ACK) or [])[0])

    def policy(self, policy: Policy) -> Agent:
        """Return the scripted agent of a policy."""
        return ScriptedAgent(self.workflow.plan, self.task.tools, policy)

    def gold(self, method: str, faults: Sequence[FaultPlan] | None = None) -> ArmRun:
        """Run the agent that follows the plan and stops at an unknown outcome."""
        return self.run(self.policy(Policy.GOLD), method, faults)

    def blind(self, plan: Sequence[Step], method: str, faults: Sequence[FaultPlan] | None = None) -> ArmRun:
        """Run the agent that makes these calls, whatever comes back."""
        return self.run(script.Blind(plan), method, faults)

    def run(self, agent: Agent, method: str, faults: Sequence[FaultPlan] | None = None) -> ArmRun:
        """Run one arm, with the boundary's own schedule unless `faults` are given."""
        arm = ArmId(
            workflow=self.workflow.id,
            model="scripted:validity",
            framework="script",
            boundary=self.boundary,
            method=method,
            seed=_SEED,
            arm="control" if self.boundary is Boundary.NONE else "fault",
        )
        return run_arm(self.task, arm, agent, (self.plans(method) or ()) if faults is None else faults)

    def case(
        self,
        kind: str,
        asks: str,
        expected: str,
        run: ArmRun,
        *,
        rows: Sequence[LedgerRow] | None = None,
        state: State | None = None,
        lines: Sequence[WireLine] | None = None,
        workflow: Workflow | None = None,
        tools: Mapping[str, ToolSpec] | None = None,
    ) -> Case:
        """Return the case of a run, with whatever of it was made otherwise."""
        return Case(
            workflow or self.workflow,
            self.boundary,
            kind,
            asks,
            expected,
            tools or self.task.in_play(run.arm.method)[0],
            run.log.lines if lines is None else lines,
            run.ledger if rows is None else rows,
            run.state if state is None else state,
        )

    def loosened(self, tool: str) -> tuple[Workflow, str] | None:
        """Return the workflow with one argument less asked for of a tool, and the argument's name.

        None where no effect asks for two arguments of it: one must stay, or nothing says which thing is meant.
        """
        for n, effect in enumerate(self.workflow.effects):
            if effect.tool == tool and len(effect.arguments) > 1:
                *kept, free = effect.arguments
                looser = replace(effect, arguments={name: effect.arguments[name] for name in kept})
                return self.with_effect(n, looser), free
        return None

    def with_effect(self, place: int, effect: RequiredEffect) -> Workflow:
        """Return the workflow with one required effect replaced."""
        effects = list(self.workflow.effects)
        effects[place] = effect
        return replace(self.workflow, effects=effects)


def struck(run: ArmRun, fault: int = 0) -> str:
    """Return the attempt that a fault struck, by the injector's word."""
    return next(
        line.attempt
        for line in run.log.lines
        if isinstance(line, FaultEvent) and line.stage == "injected" and line.fault == fault
    )


def changed_end(
    lines: Sequence[WireLine], attempt: str, change: Callable[[WireEffectEvent], WireEffectEvent]
) -> list[WireLine]:
    """Return the lines with the end of one attempt changed. Their chain is not what the judge looks at."""
    return [
        change(line)
        if isinstance(line, WireEffectEvent) and line.attempt == attempt and line.phase is not Phase.INVOKE
        else line
        for line in lines
    ]


def changed_attempt(
    lines: Sequence[WireLine], attempt: str, change: Callable[[WireEffectEvent], WireEffectEvent]
) -> list[WireLine]:
    """Return the lines with both ends of one attempt changed."""
    return [
        change(line) if isinstance(line, WireEffectEvent) and line.attempt == attempt else line
        for line in lines
    ]


def reported(run: ArmRun, report: FinalReport, reason: str = "") -> list[WireLine]:
    """Return the run's lines with another report at the end, and another reason if one is given."""
    *lines, last = run.log.lines
    if isinstance(last, ReportEvent):
        last = replace(last, report=report, reason=reason or last.reason)
    return [*lines, last]


def rows_of(rows: Sequence[LedgerRow], attempt: str) -> list[LedgerRow]:
    """Return the rows of an attempt, in order."""
    return [row for row in rows if row.attempt == attempt]


def numbered(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Return the rows numbered in the order given."""
    return [replace(row, seq=n) for n, row in enumerate(rows, start=1)]
