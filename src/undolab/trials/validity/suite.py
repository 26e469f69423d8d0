"""The cases: for each workflow and boundary right and wrong runs, each with the verdict that it must get."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from undolab.agents.base import Agent
from undolab.agents.scripted import Policy
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Step, Workflow
from undolab.trials.arm import Task, prepare
from undolab.trials.classes import workflow_class
from undolab.trials.schedule import BOUNDARIES, target_step
from undolab.trials.validity import script
from undolab.trials.validity.bench import Bench, Case
from undolab.trials.validity.deeds import deed_cases, half_cases
from undolab.trials.validity.evidence import altered_evidence, exposure_cases
from undolab.trials.validity.forged import forgeries
from undolab.trials.validity.reports import half_report_cases, report_cases
from undolab.trials.validity.resends import resend_cases

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


class _At(Bench):
    """All cases of one workflow at one boundary."""

    def __init__(self, task: Task, facts: Mapping[str, str], boundary: Boundary, method: str | None) -> None:
        super().__init__(task, facts, boundary)
        self._method = method

    def cases(self) -> Iterator[Case]:
        """Yield the cases; none where the boundary is not applicable."""
        if self.plans("none") is not None and self.boundary in _LOST:
            yield from self._policies()
        if self.boundary is Boundary.DURING_MUTATION and self.plans("none") is not None:
            yield from half_cases(self)
            yield from half_report_cases(self)
        if self._method is None or self.plans(self._method) is None:
            return
        right = self.run(self._agent(), self._method)
        yield self.case("right plan", "verdict", "pass", right)
        yield self.case("right plan", "report", "done true", right)
        if self.boundary is not Boundary.NONE:
            yield self.case("right plan", "exposure", "WITNESSED", right)
            yield from altered_evidence(self, right)
        for kind, rows, state in forgeries(self.workflow, right.ledger, right.state):
            yield self.case(kind, "verdict", "fail", right, rows=rows, state=state)
        yield from self._variants(self._method)
        yield from exposure_cases(self, right)
        yield from report_cases(self, right)
        yield from deed_cases(self, right)
        yield from resend_cases(self)

    def _variants(self, method: str) -> Iterator[Case]:
        workflow, tools = self.workflow, self.task.catalogue
        for kind, plan in (
            ("other spelling of JSON", script.respelled(workflow, tools)),
            ("extra reads", script.extra_reads(workflow, tools)),
            ("reads last", script.reads_last(workflow, tools)),
            ("independent writes reordered", script.reordered(workflow, tools)),
        ):
            if plan and self._still_hits(plan, method):
                yield self.case(kind, "verdict", "pass", self.blind(plan, method))
        place = self.target()
        target = workflow.plan[place]
        repeat = [*workflow.plan, target]
        if self.facts["repeat"] == "harm":
            extra = self.blind(repeat, method)
            yield self.case("extra effect", "verdict", "fail", extra)
            yield self.case("extra effect", "duplicates", "harmful", extra)
        elif workflow.plan[-1] == target or not self._later_writes(place):
            harmless = self.blind(repeat, method)
            yield self.case("harmless repeat", "verdict", "pass", harmless)
            yield self.case("harmless repeat", "duplicates", "none", harmless)
        writes = [
            n
            for n, step in enumerate(workflow.plan)
            if script.asked_for(workflow, n) and tools[step.tool].writes
        ]
        for n in writes:
            for plan in script.wrong_argument(workflow, tools, n):
                yield self.case("wrong argument", "verdict", "fail", self.blind(plan, method))
                break
            for plan in script.wrong_entity(workflow, n):
                yield self.case("wrong entity", "verdict", "fail", self.blind(plan, method))
                break
            lost = self.blind([*workflow.plan[:n], *workflow.plan[n + 1 :]], method)
            yield self.case("lost effect", "verdict", "fail", lost)
            yield self.case("lost effect", "report", "done untrue", lost)
        backwards = script.reversed_order(workflow)
        if backwards:
            yield self.case("reversed order", "verdict", "fail", self.blind(backwards, method))
        plans = self.plans(method) or ()
        if len(plans) == 1:
            without = self.blind(workflow.plan[: target_step(workflow, plans[0])], method)
            yield self.case("target never called", "exposure", "NOT_EXPOSED", without)

    def _policies(self) -> Iterator[Case]:
        """What an agent without a method gets for retrying, for going on, and for giving up."""
        retried = self.run(self.policy(Policy.ALWAYS_RETRY), "none")
        yield self.case("always retry", "verdict", self._of_retry(), retried)
        if self.boundary is not Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            yield self.case("always retry", "resends", "unsafe", retried)
        if self._retry_harms():
            yield self.case("always retry", "duplicates", "harmful", retried)
        stands = self.boundary not in (Boundary.PRE_MUTATION, Boundary.DURING_MUTATION)
        if self.boundary not in _DELAYED or self.facts["last"] == "yes":
            gone_on = self.run(self.policy(Policy.NEVER_RETRY), "none")
            yield self.case("never retry", "verdict", "pass" if stands else "fail", gone_on)
        gave_up = self.run(self.policy(Policy.GOLD), "none")
        last = stands and self.facts["last"] == "yes"
        yield self.case("give up", "verdict", "pass" if last else "fail", gave_up)
        yield self.case("give up", "class", "NONE" if last else "ABSTAINED", gave_up)
        yield self.case("give up", "report", "unknown true", gave_up)
        yield self.case("give up", "resends", "safe", gave_up)
        paired = self.boundary in (Boundary.PRE_MUTATION, Boundary.POST_MUTATION_PRE_ACK)
        if paired and self.facts["seen"] == "yes":
            verified = self.run(self.policy(Policy.VERIFY_FIRST), "none")
            yield self.case("verify first", "verdict", "pass", verified)
            yield self.case("verify first", "resends", "safe", verified)

    def _of_retry(self) -> str:
        repeat, half = self.facts["repeat"], self.facts.get("half", "")
        match self.boundary:
            case Boundary.PRE_MUTATION | Boundary.OUTLIVES_BUDGET:
                return "pass"
            case Boundary.DURING_MUTATION:
                return "pass" if half == "completes" else "fail"
            case Boundary.LATE_COMMIT | Boundary.OVERTAKEN:
                return "fail" if repeat == "harm" else "pass"
            case _:
                stopped = repeat == "refused" and self.facts["last"] == "no"
                return "fail" if repeat == "harm" or stopped else "pass"

    def _retry_harms(self) -> bool:
        if self.boundary is Boundary.DURING_MUTATION:
            return self.facts["half"] == "harm"
        safe = (Boundary.PRE_MUTATION, Boundary.OUTLIVES_BUDGET)
        return self.boundary not in safe and self.facts["repeat"] == "harm"

    def _later_writes(self, place: int) -> bool:
        return any(self.task.catalogue[step.tool].writes for step in self.workflow.plan[place + 1 :])

    def _still_hits(self, plan: Sequence[Step], method: str) -> bool:
        """Return True unless the variant would bring other calls under the faults than the plan does."""
        twofold = self.boundary is Boundary.TWO_FAULTS
        return not twofold or plan[: len(self.workflow.plan)] == self.workflow.plan or method == _KEYED

    def _agent(self) -> Agent:
        if self.boundary is Boundary.POST_ACK_PRE_CHECKPOINT_TOLD:
            return script.Blind(self.workflow.plan)
        return self.policy(Policy.GOLD)
