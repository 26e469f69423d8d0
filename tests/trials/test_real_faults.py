"""The boundaries that the published harness only named: each must leave its own mark in ledger and log."""

from collections.abc import Iterator
from typing import Any

import pytest

from undolab.agents.scripted import Policy
from undolab.model.calls import Phase
from undolab.model.fault import Boundary, Exposure
from undolab.model.play import COMPENSATING
from undolab.model.wire import ArmId
from undolab.recovery import METHODS
from undolab.trials.arm import ArmRun, prepare, run_arm
from undolab.trials.schedule import schedule
from undolab.trials.source import make_agents


def runs(
    workflows: Any, tools: Any, boundary: Boundary, method: str, policy: Policy = Policy.GOLD
) -> Iterator[ArmRun]:
    """Yield the arm of every task in which the boundary is applicable."""
    make = make_agents({}, {})
    for workflow in workflows:
        plans = schedule(workflow, tools, boundary, method)
        if plans is None:
            continue
        task = prepare(workflow, tools, prompt="script", examples="script")
        arm = ArmId(
            workflow=workflow.id,
            model=f"scripted:{policy}",
            framework="script",
            boundary=boundary,
            method=method,
            seed=1,
            arm="fault",
        )

        def revive(resume: int, task: Any = task, arm: ArmId = arm) -> Any:
            return make(task, arm, resume)

        yield run_arm(task, arm, make(task, arm), plans, revive=revive)


def happened(run: ArmRun, cause: str) -> list[Any]:
    return [line for line in run.log.lines if getattr(line, "cause", "") == cause]


def changing(run: ArmRun, attempt: str) -> bool:
    return any(row.attempt == attempt and row.effect.before != row.effect.after for row in run.ledger)


def test_a_dead_agent_that_is_told_nothing_does_its_last_turn_again(workflows: Any, tools: Any) -> None:
    """The answered call is asked for twice, the resumed turn says so, and a repeat that changes something is a duplicate."""
    found = list(runs(workflows, tools, Boundary.POST_ACK_PRE_CHECKPOINT, "none"))

    assert len(found) == len(workflows)
    for run in found:
        assert run.verdict.exposure is Exposure.WITNESSED
        again = [line.attempt for line in run.log.lines if getattr(line, "attempt", "").endswith(".2")]
        assert again
        assert [line.resume for line in run.log.lines if getattr(line, "resume", 0)]
        assert run.verdict.harmful_duplicates == changing(run, again[0])


def test_a_durable_journal_is_worth_nothing_alive_and_everything_after_a_death(
    workflows: Any, tools: Any
) -> None:
    """B5 is B0 while its process lives; after the death it answers from the journal what B0 sends again."""
    alive = [
        [run.verdict.passed for run in runs(workflows, tools, Boundary.POST_MUTATION_PRE_ACK, method)]
        for method in ("B0", "B5")
    ]
    dead = [
        [run.verdict.passed for run in runs(workflows, tools, Boundary.POST_ACK_PRE_CHECKPOINT, method)]
        for method in ("B0", "B5")
    ]

    assert alive[0] == alive[1]
    assert all(dead[1])
    assert not all(dead[0])


@pytest.mark.parametrize("method", ["B3", "B7"])
def test_compensations_stand_on_the_wire_and_the_fault_hits_one_of_them(
    workflows: Any, tools: Any, method: str
) -> None:
    """What a method takes back is a committed call of its own, and DURING_COMPENSATION strikes such a call and no other."""
    found = list(runs(workflows, tools, Boundary.DURING_COMPENSATION, method))

    assert found
    for run in found:
        assert run.verdict.exposure is Exposure.WITNESSED
        struck = {line.attempt for line in run.log.lines if getattr(line, "stage", "") == "injected"}
        undone = [row for row in run.ledger if row.attempt.endswith("m")]
        assert undone
        assert {row.attempt for row in undone} & struck


def test_methods_that_never_compensate_have_no_such_arm(workflows: Any, tools: Any) -> None:
    """There DURING_COMPENSATION is not applicable: no arm, rather than a fault under another name."""
    for method in ("none", "B0", "B2", "B6"):
        assert list(runs(workflows, tools, Boundary.DURING_COMPENSATION, method)) == []


def test_half_a_call_is_really_half(workflows: Any, tools: Any) -> None:
    """At DURING_MUTATION one part of two is in the ledger, nobody is answered, and the task is not done."""
    found = list(runs(workflows, tools, Boundary.DURING_MUTATION, "none"))

    assert {run.arm.workflow for run in found} >= {"RB-DB-004", "RB-STOR-004", "RB-CLOUD-004", "RB-GIT-004"}
    for run in found:
        assert run.verdict.exposure is Exposure.WITNESSED
        (end,) = [line for line in run.log.lines if getattr(line, "phase", None) is Phase.UNKNOWN]
        assert (end.parts, end.acknowledged_to_agent) == (1, False)
        assert tools[end.tool_name].sub_writes == 2
        assert len(end.effects) == sum(row.attempt == end.attempt for row in run.ledger) > 0
        assert run.verdict.passed is False


@pytest.mark.parametrize(
    ("boundary", "cause"),
    [
        (Boundary.LATE_COMMIT, "late"),
        (Boundary.OVERTAKEN, "finish"),
        (Boundary.DUPLICATE_DELIVERY, "redelivery"),
        (Boundary.CONCURRENT_WRITE, "third_party"),
    ],
)
def test_faults_of_time_and_of_others_really_happen(
    workflows: Any, tools: Any, boundary: Boundary, cause: str
) -> None:
    """A late commit, a running call's end, a second delivery and somebody else's write are effects in the ledger, not words."""
    found = list(runs(workflows, tools, boundary, "none"))

    assert len(found) == len(workflows)
    for run in found:
        assert run.verdict.exposure is Exposure.WITNESSED
        (event,) = happened(run, cause)
        rows = [row for row in run.ledger if row.attempt == event.attempt]
        assert len(rows) == len(event.effects)
        assert rows or event.replay_of or not event.output.get("ok", False)
    assert any(row.attempt == happened(run, cause)[0].attempt for run in found for row in run.ledger)


def test_two_faults_are_two(workflows: Any, tools: Any) -> None:
    """With an agent that goes on, both faults of the schedule strike, one on each side of its commit."""
    for run in runs(workflows, tools, Boundary.TWO_FAULTS, "none", Policy.VERIFY_FIRST):
        injected = [line.fault for line in run.log.lines if getattr(line, "stage", "") == "injected"]
        assert injected[0] == 0
        assert run.verdict.exposure is Exposure.WITNESSED
        if len(injected) == 2:
            break
    else:
        pytest.fail("no task met both of its faults")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_meets_every_boundary_that_applies_to_it(
    workflows: Any, tools: Any, method: str
) -> None:
    """No method is without results anywhere: each boundary has witnessed arms, save undo calls where nothing is undone."""
    some = workflows[::3]
    for boundary in set(Boundary) - {Boundary.NONE, Boundary.STEP_REFUSED, Boundary.TWO_FAULTS}:
        if boundary is Boundary.DURING_COMPENSATION and method not in COMPENSATING:
            continue
        chosen = workflows if boundary is Boundary.DURING_COMPENSATION else some
        found = [run.verdict.exposure for run in runs(chosen, tools, boundary, method)]
        assert set(found) == {Exposure.WITNESSED}, boundary
