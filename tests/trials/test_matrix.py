"""The whole scripted matrix: every fault is witnessed, every verdict is the one foretold, every log can be judged again."""

import csv
import io
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from undolab.agents.scripted import Policy
from undolab.model.fault import Boundary, Exposure
from undolab.model.wire import TurnEvent, WorldEvent
from undolab.oracle import reconstruct
from undolab.trials.arm import prepare
from undolab.trials.classes import workflow_class
from undolab.trials.conformance import applicability_csv, study
from undolab.trials.expected import expected, found, read_rules
from undolab.trials.run import run_workflow
from undolab.trials.schedule import BOUNDARIES, schedule
from undolab.trials.source import make_agents

ROOT = Path(__file__).parents[2]
EXPECTED = ROOT / "data/expected"


@pytest.fixture(scope="module")
def matrix(workflows: Any, tools: Any) -> dict[str, Any]:
    """Every gold arm by name: 36 workflows, twelve boundaries, ten methods."""
    make = make_agents({}, {})
    return {
        run.arm.name(): (run, pair)
        for workflow in workflows
        for run, pair in run_workflow(
            prepare(workflow, tools, prompt="script", examples="script"),
            study(workflow, [Policy.GOLD], BOUNDARIES),
            make,
        )
    }


def test_no_fault_is_missed_or_without_witness(matrix: Any) -> None:
    """On gold plans each scheduled fault strikes and is shown to have struck."""
    faults = [run.verdict for run, _ in matrix.values() if run.arm.arm == "fault"]

    assert len(faults) > 3_000
    assert [v.arm.name() for v in faults if v.exposure is not Exposure.WITNESSED] == []


def test_every_verdict_is_the_one_foretold(matrix: Any, workflows: Any, tools: Any) -> None:
    """The table was written before the runs; each arm finds its row in it."""
    rules = read_rules(EXPECTED / "verdicts.csv")
    facts = {workflow.id: workflow_class(workflow, tools) for workflow in workflows}

    wrong = [
        (name, wanted, found(run.verdict))
        for name, (run, _) in matrix.items()
        for wanted in [expected(rules, facts[run.arm.workflow], run.arm.boundary, run.arm.method)]
        if wanted != found(run.verdict)
    ]

    assert wrong == []


def test_each_two_methods_differ_somewhere(matrix: Any) -> None:
    """No two methods are the same under two names, but for B0 and B4, which differ in their waits alone."""
    cells: dict[str, dict[tuple[str, str], str]] = {}
    for run, _ in matrix.values():
        cells.setdefault(run.arm.method, {})[run.arm.workflow, run.arm.boundary] = found(run.verdict)

    same = [
        (a, b) for a, b in combinations(cells, 2) if all(cells[a].get(k) == v for k, v in cells[b].items())
    ]

    assert same == [("B0", "B4")]


def test_every_log_is_judged_the_same_from_the_wire_alone(matrix: Any, workflows: Any, tools: Any) -> None:
    """Half calls, late commits, second deliveries, third parties and resumed agents fold to the same verdict."""
    by_id = {workflow.id: workflow for workflow in workflows}
    wrong = []
    for name, (run, _) in list(matrix.items())[::3]:
        again = reconstruct(by_id[run.arm.workflow], tools, run.log.lines)
        if again.problems or again.verdict != run.verdict or again.commits != run.ledger:
            wrong.append((name, again.problems[:1]))

    assert wrong == []


def test_compensations_stand_on_the_wire_as_committed_calls(matrix: Any) -> None:
    """B3's undo calls are the method's own attempts; the first one changes what it takes back, its repeat finds it done."""
    name = "RB-TICK-002/scripted:gold/script/DURING_COMPENSATION/B3/1/fault"
    run, _ = matrix[name]

    undone = [row for row in run.ledger if row.attempt.endswith("m")]

    assert [row.effect.before != row.effect.after for row in undone] == [True, False]


def test_a_fault_is_aimed_whatever_the_order_of_calls(workflows: Any, tools: Any) -> None:
    """A target is named by tool and arguments, so that distractors and reads before it move nothing."""
    for workflow in workflows:
        for boundary in BOUNDARIES:
            for plan in schedule(workflow, tools, boundary, "none") or ():
                assert plan.tool in workflow.tools
                assert plan.match or plan.nth == 1


def test_where_a_boundary_applies_is_frozen(workflows: Any, tools: Any) -> None:
    """The matrix of applicability is data: a change of it shows."""
    assert (EXPECTED / "applicability.csv").read_bytes() == applicability_csv(workflows, tools)


def test_half_done_calls_are_there_in_every_domain_that_needs_them(workflows: Any, tools: Any) -> None:
    """At least the four workflows that the design names can be killed between two parts."""
    rows = csv.DictReader(io.StringIO((EXPECTED / "applicability.csv").read_text()))
    half = {
        row["workflow"] for row in rows if row["boundary"] == "DURING_MUTATION" and "B0" in row["methods"]
    }

    assert half >= {"RB-DB-004", "RB-STOR-004", "RB-CLOUD-004", "RB-GIT-004"}


def _turns(matrix: Any, boundary: Boundary) -> Iterator[list[TurnEvent]]:
    for run, _ in matrix.values():
        if run.arm.boundary == boundary:
            yield [line for line in run.log.lines if isinstance(line, TurnEvent)]


def test_an_agent_that_is_told_nothing_does_its_last_turn_again(matrix: Any) -> None:
    """The resumed process stands before the same bytes as the dead one did."""
    for turns in _turns(matrix, Boundary.POST_ACK_PRE_CHECKPOINT):
        at = next(n for n, turn in enumerate(turns) if turn.resume)
        assert (turns[at].turn, turns[at].seen) == (turns[at - 1].turn, turns[at - 1].seen)


def test_an_agent_that_is_told_goes_on_from_there(matrix: Any) -> None:
    """Its history ends with the call and the word that nobody knows what came of it (field case B9)."""
    for turns in _turns(matrix, Boundary.POST_ACK_PRE_CHECKPOINT_TOLD):
        at = next(n for n, turn in enumerate(turns) if turn.resume)
        assert turns[at].turn == turns[at - 1].turn + 1
        assert turns[at].seen != turns[at - 1].seen


@pytest.mark.parametrize(
    ("boundary", "problem"),
    [
        ("LATE_COMMIT", "final state"),
        ("DUPLICATE_DELIVERY", "went through"),
        ("CONCURRENT_WRITE", "went through"),
        ("OVERTAKEN", "went through"),
    ],
)
def test_a_log_that_hides_what_the_service_did_is_found_out(
    matrix: Any, workflows: Any, tools: Any, boundary: str, problem: str
) -> None:
    """Without its world lines a log does not lead to its own final state."""
    run, _ = matrix[f"RB-DB-005/scripted:gold/script/{boundary}/B0/1/fault"]
    workflow = next(one for one in workflows if one.id == "RB-DB-005")
    lines = [line for line in run.log.lines if not isinstance(line, WorldEvent)]

    assert any(problem in found for found in reconstruct(workflow, tools, lines).problems)


def test_a_log_that_lies_about_the_parts_is_found_out(matrix: Any, workflows: Any, tools: Any) -> None:
    """The fold stops after as many parts as the line says, and finds other effects."""
    run, _ = matrix["RB-DB-004/scripted:gold/script/DURING_MUTATION/B0/1/fault"]
    workflow = next(one for one in workflows if one.id == "RB-DB-004")
    lines = [replace(line, parts=2) if getattr(line, "parts", None) == 1 else line for line in run.log.lines]

    assert any("parts" in found for found in reconstruct(workflow, tools, lines).problems)


def test_a_resumed_agent_without_a_death_is_found_out(matrix: Any, workflows: Any, tools: Any) -> None:
    """No process resumes that has not died."""
    run, _ = matrix["RB-DB-005/scripted:gold/script/NONE/none/1/control"]
    workflow = next(one for one in workflows if one.id == "RB-DB-005")
    lines = [replace(line, resume=1) if isinstance(line, TurnEvent) else line for line in run.log.lines]

    assert any("resumed 1 times" in found for found in reconstruct(workflow, tools, lines).problems)
