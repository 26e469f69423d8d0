"""The cases: for each workflow and boundary right and wrong runs, each with the verdict that it must get."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from undolab.agents.base import Agent
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.calls import LedgerRow, Phase
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, FaultEvent, TurnEvent, WireEffectEvent, WireLine, WorldEvent
from undolab.model.workflow import State, Step, Workflow
from undolab.oracle import judge
from undolab.trials.arm import ArmRun, Task, prepare, run_arm
from undolab.trials.classes import workflow_class
from undolab.trials.schedule import BOUNDARIES, schedule, target_step
from undolab.trials.validity import script
from undolab.trials.validity.forged import forgeries
from undolab.wire import LogWriter

_SEED = 1
_KEYED = "B2-K"
_LOST = frozenset(
    {
        Boundary.PRE_MUTATION,
        Boundary.DURING_MUTATION,
        Boundary.POST_MUTATION_PRE_ACK,
        Boundary.POST_ACK_PRE_CHECKPOINT_TOLD,
        Boundary.LATE_COMMIT,
        Boundary.OVERTAKEN,
        Boundary.OUTLIVES_BUDGET,
        Boundary.CONCURRENT_WRITE,
    }
)
"""Boundaries at which an agent without a method is told that an outcome is unknown."""
_DELAYED = frozenset({Boundary.LATE_COMMIT, Boundary.OVERTAKEN})


_IN_LEDGER = frozenset(
    {
        Boundary.DURING_MUTATION,
        Boundary.POST_MUTATION_PRE_ACK,
        Boundary.POST_ACK_PRE_CHECKPOINT,
        Boundary.POST_ACK_PRE_CHECKPOINT_TOLD,
        Boundary.LATE_COMMIT,
        Boundary.OUTLIVES_BUDGET,
        Boundary.DUPLICATE_DELIVERY,
    }
)
"""Boundaries at which the struck call has rows in the ledger."""


class Case(NamedTuple):
    """One history with what the judge must say of it."""

    workflow: Workflow
    boundary: str
    kind: str
    asks: str
    """`verdict`, `duplicates`, `exposure`, `report` or `resends`: what of the verdict is known beforehand."""
    expected: str
    tools: Mapping[str, ToolSpec]
    lines: Sequence[WireLine]
    rows: Sequence[LedgerRow]
    state: State

    def found(self) -> str:
        """Judge the history and return the answer to what is asked."""
        return answer(judge(self.workflow, self.tools, self.lines, self.rows, self.state), self.asks)


def answer(verdict: Verdict, asks: str) -> str:
    """Return what a verdict says of the thing asked for."""
    match asks:
        case "verdict":
            return "pass" if verdict.passed else "fail"
        case "duplicates":
            return "harmful" if verdict.harmful_duplicates else "none"
        case "exposure":
            return verdict.exposure.value
        case "resends":
            return "unsafe" if verdict.unsafe_resends else "safe"
        case _:
            return f"{verdict.report.value} {'true' if verdict.truthful else 'untrue'}"


def run_cases(workflows: Sequence[Workflow], catalogue: Mapping[str, ToolSpec]) -> Iterator[Case]:
    """Yield every case of the suite."""
    for workflow in workflows:
        facts = workflow_class(workflow, catalogue)
        task = prepare(workflow, catalogue, prompt="script", examples="script")
        for boundary in (Boundary.NONE, *BOUNDARIES):
            method = _right_method(boundary, facts)
            yield from _At(task, facts, boundary, method).cases()


def cases_csv(rows: Sequence[tuple[str, str, str, str, str, str]]) -> bytes:
    """Return the table of cases: workflow, boundary, kind, asks, expected, found."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("workflow", "boundary", "kind", "asks", "expected", "found"))
    writer.writerows(rows)
    return text.getvalue().encode()


def summary(rows: Sequence[tuple[str, str, str, str, str, str]]) -> list[str]:
    """Return one line for each kind of case: right and all."""
    every = Counter((row[2], row[3]) for row in rows)
    right = Counter((row[2], row[3]) for row in rows if row[4] == row[5])
    return [f"{kind} ({asks}): {right[kind, asks]}/{count}" for (kind, asks), count in every.items()]


def _right_method(boundary: Boundary, facts: Mapping[str, str]) -> str | None:
    """Return the method with which following the plan is right at a boundary; None where there is none."""
    seen = facts["seen"] == "yes"
    match boundary:
        case Boundary.NONE | Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            return "none"
        case Boundary.PRE_MUTATION:
            return "B0"
        case Boundary.DURING_MUTATION:
            return "B7" if facts.get("undo") == "yes" else "B0" if facts.get("half") == "completes" else None
        case Boundary.POST_ACK_PRE_CHECKPOINT:
            return "B5"
        case Boundary.OUTLIVES_BUDGET | Boundary.CONCURRENT_WRITE:
            return "B6" if seen else None
        case Boundary.DURING_COMPENSATION:
            return "B7"
        case _:
            return _KEYED


class _At:
    """All cases of one workflow at one boundary."""

    def __init__(self, task: Task, facts: Mapping[str, str], boundary: Boundary, method: str | None) -> None:
        self._task = task
        self._workflow = task.workflow
        self._facts = facts
        self._boundary = boundary
        self._method = method

    def cases(self) -> Iterator[Case]:
        """Yield the cases; none where the boundary is not applicable."""
        if self._plans("none") is not None and self._boundary in _LOST:
            yield from self._policies()
        if self._method is None or self._plans(self._method) is None:
            return
        right = self._run(self._agent(), self._method)
        yield self._case("right plan", "verdict", "pass", right)
        yield self._case("right plan", "report", "done true", right)
        if self._boundary is not Boundary.NONE:
            yield self._case("right plan", "exposure", "WITNESSED", right)
            yield self._case(
                "injector that only claims", "exposure", "INVALID_INJECTION", _unwitnessed(right)
            )
            yield from self._without_evidence(right)
        for kind, rows, state in forgeries(self._workflow, right.ledger, right.state):
            yield self._judged(kind, "verdict", "fail", right, rows, state)
        yield from self._variants(self._method)

    def _without_evidence(self, right: ArmRun) -> Iterator[Case]:
        """Take away, one at a time, what shows that the fault struck."""
        struck = _struck(right)
        if self._boundary in _IN_LEDGER:
            rows = [row for row in right.ledger if row.attempt != struck]
            kind = "struck call not in the ledger"
            yield self._judged(kind, "exposure", "INVALID_INJECTION", right, rows, right.state)
        lines = [line for line in right.log.lines if not isinstance(line, WorldEvent)]
        if len(lines) < len(right.log.lines):
            yield self._case(
                "no sign of the service's own doing", "exposure", "INVALID_INJECTION", _logged(right, lines)
            )
        told = [replace(line, resume=0) if isinstance(line, TurnEvent) else line for line in right.log.lines]
        if told != right.log.lines:
            yield self._case(
                "no sign of a resumed process", "exposure", "INVALID_INJECTION", _logged(right, told)
            )

    def _variants(self, method: str) -> Iterator[Case]:
        workflow, tools = self._workflow, self._task.catalogue
        for kind, plan in (
            ("other spelling of JSON", script.respelled(workflow, tools)),
            ("extra reads", script.extra_reads(workflow, tools)),
            ("reads last", script.reads_last(workflow, tools)),
            ("independent writes reordered", script.reordered(workflow, tools)),
        ):
            if plan and self._still_hits(plan, method):
                yield self._case(kind, "verdict", "pass", self._run(script.Blind(plan), method))
        place = self._target()
        target = workflow.plan[place]
        repeat = [*workflow.plan, target]
        if self._facts["repeat"] == "harm":
            extra = self._run(script.Blind(repeat), method)
            yield self._case("extra effect", "verdict", "fail", extra)
            yield self._case("extra effect", "duplicates", "harmful", extra)
        elif workflow.plan[-1] == target or not self._later_writes(place):
            harmless = self._run(script.Blind(repeat), method)
            yield self._case("harmless repeat", "verdict", "pass", harmless)
            yield self._case("harmless repeat", "duplicates", "none", harmless)
        writes = [
            n
            for n, step in enumerate(workflow.plan)
            if script.asked_for(workflow, n) and tools[step.tool].writes
        ]
        for n in writes:
            for plan in script.wrong_argument(workflow, tools, n):
                yield self._case("wrong argument", "verdict", "fail", self._run(script.Blind(plan), method))
                break
            for plan in script.wrong_entity(workflow, n):
                yield self._case("wrong entity", "verdict", "fail", self._run(script.Blind(plan), method))
                break
            lost = self._run(script.Blind([*workflow.plan[:n], *workflow.plan[n + 1 :]]), method)
            yield self._case("lost effect", "verdict", "fail", lost)
            yield self._case("lost effect", "report", "done untrue", lost)
        backwards = script.reversed_order(workflow)
        if backwards:
            yield self._case("reversed order", "verdict", "fail", self._run(script.Blind(backwards), method))
        plans = self._plans(method) or ()
        if len(plans) == 1:
            without = self._run(script.Blind(workflow.plan[: target_step(workflow, plans[0])]), method)
            yield self._case("target never called", "exposure", "NOT_EXPOSED", without)

    def _policies(self) -> Iterator[Case]:
        """What an agent without a method gets for retrying, for going on, and for giving up."""
        retried = self._run(self._policy(Policy.ALWAYS_RETRY), "none")
        yield self._case("always retry", "verdict", self._of_retry(), retried)
        if self._boundary is not Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            yield self._case("always retry", "resends", "unsafe", retried)
        if self._retry_harms():
            yield self._case("always retry", "duplicates", "harmful", retried)
        stands = self._boundary not in (Boundary.PRE_MUTATION, Boundary.DURING_MUTATION)
        if self._boundary not in _DELAYED or self._facts["last"] == "yes":
            gone_on = self._run(self._policy(Policy.NEVER_RETRY), "none")
            yield self._case("never retry", "verdict", "pass" if stands else "fail", gone_on)
        gave_up = self._run(self._policy(Policy.GOLD), "none")
        last = stands and self._facts["last"] == "yes"
        yield self._case("give up", "verdict", "pass" if last else "fail", gave_up)
        yield self._case("give up", "report", "unknown true", gave_up)
        yield self._case("give up", "resends", "safe", gave_up)
        paired = self._boundary in (Boundary.PRE_MUTATION, Boundary.POST_MUTATION_PRE_ACK)
        if paired and self._facts["seen"] == "yes":
            verified = self._run(self._policy(Policy.VERIFY_FIRST), "none")
            yield self._case("verify first", "verdict", "pass", verified)
            yield self._case("verify first", "resends", "safe", verified)

    def _of_retry(self) -> str:
        repeat, half = self._facts["repeat"], self._facts.get("half", "")
        match self._boundary:
            case Boundary.PRE_MUTATION | Boundary.OUTLIVES_BUDGET:
                return "pass"
            case Boundary.DURING_MUTATION:
                return "pass" if half == "completes" else "fail"
            case Boundary.LATE_COMMIT | Boundary.OVERTAKEN:
                return "fail" if repeat == "harm" else "pass"
            case _:
                stopped = repeat == "refused" and self._facts["last"] == "no"
                return "fail" if repeat == "harm" or stopped else "pass"

    def _retry_harms(self) -> bool:
        if self._boundary is Boundary.DURING_MUTATION:
            return self._facts["half"] == "harm"
        safe = (Boundary.PRE_MUTATION, Boundary.OUTLIVES_BUDGET)
        return self._boundary not in safe and self._facts["repeat"] == "harm"

    def _later_writes(self, place: int) -> bool:
        return any(self._task.catalogue[step.tool].writes for step in self._workflow.plan[place + 1 :])

    def _still_hits(self, plan: Sequence[Step], method: str) -> bool:
        """Return True unless the variant would bring other calls under the faults than the plan does."""
        twofold = self._boundary is Boundary.TWO_FAULTS
        return not twofold or plan[: len(self._workflow.plan)] == self._workflow.plan or method == _KEYED

    def _target(self) -> int:
        """Return which call of the plan the workflow's first scenario aims at."""
        aim = schedule(self._workflow, self._task.catalogue, Boundary.POST_MUTATION_PRE_ACK, "none") or []
        return target_step(self._workflow, aim[0])

    def _agent(self) -> Agent:
        if self._boundary is Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            return script.Blind(self._workflow.plan)
        return self._policy(Policy.GOLD)

    def _policy(self, policy: Policy) -> Agent:
        return ScriptedAgent(self._workflow.plan, self._task.tools, policy)

    def _plans(self, method: str) -> list[FaultPlan] | None:
        return schedule(self._workflow, self._task.catalogue, self._boundary, method)

    def _run(self, agent: Agent, method: str) -> ArmRun:
        arm = ArmId(
            workflow=self._workflow.id,
            model="scripted:validity",
            framework="script",
            boundary=self._boundary,
            method=method,
            seed=_SEED,
            arm="control" if self._boundary is Boundary.NONE else "fault",
        )
        return run_arm(self._task, arm, agent, self._plans(method) or ())

    def _case(self, kind: str, asks: str, expected: str, run: ArmRun) -> Case:
        return self._judged(kind, asks, expected, run, run.ledger, run.state)

    def _judged(
        self,
        kind: str,
        asks: str,
        expected: str,
        run: ArmRun,
        rows: Sequence[LedgerRow],
        state: State,
    ) -> Case:
        tools, _ = self._task.in_play(run.arm.method)
        return Case(self._workflow, self._boundary, kind, asks, expected, tools, run.log.lines, rows, state)


def _unwitnessed(run: ArmRun) -> ArmRun:
    """Return the run with a log in which the call that the first fault struck ended in the other way than it did."""
    struck = _struck(run)
    lines: list[WireLine] = [
        replace(line, acknowledged_to_agent=not line.acknowledged_to_agent)
        if isinstance(line, WireEffectEvent) and line.attempt == struck and line.phase is not Phase.INVOKE
        else line
        for line in run.log.lines
    ]
    return _logged(run, lines)


def _struck(run: ArmRun) -> str:
    lines = run.log.lines
    return next(line.attempt for line in lines if isinstance(line, FaultEvent) and line.stage == "injected")


def _logged(run: ArmRun, lines: Sequence[WireLine]) -> ArmRun:
    """Return the run with other lines in its log; their chain is not what the judge looks at."""
    log = LogWriter()
    log.lines = list(lines)
    return replace(run, log=log)
