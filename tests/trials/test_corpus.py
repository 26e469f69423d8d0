"""What scripted agents must get: these cases prove the judge and the harness, not the agents."""

from typing import Any

import pytest

from undolab.model.fault import Exposure
from undolab.trials.classes import workflow_class

PRE, POST = "PRE_MUTATION", "POST_MUTATION_PRE_ACK"


def observable(workflow: Any, tools: Any) -> bool:
    return tools[workflow.scenarios[0].tool].observe is not None


def test_every_gold_plan_passes_its_control(arms: Any, workflows: Any) -> None:
    """Each workflow is solvable by its own plan."""
    controls = arms("gold")

    assert len(controls) == len(workflows)
    assert [run.arm.workflow for run in controls if not run.verdict.passed] == []


@pytest.mark.parametrize("boundary", [PRE, POST])
def test_every_scenario_fires_and_is_witnessed(corpus: Any, boundary: str) -> None:
    """No fault arm of the corpus is without its fault."""
    exposures = {run.verdict.exposure for run, _ in corpus.values() if run.arm.boundary == boundary}

    assert exposures == {Exposure.WITNESSED}


def test_blind_retry_fails_where_harm_exists(arms: Any, workflows: Any, tools: Any) -> None:
    """After a lost answer always-retry leaves a harmful duplicate just where the target changes something each time."""
    harmed = {run.arm.workflow for run in arms("always-retry", POST) if run.verdict.harmful_duplicates}

    assert harmed == {w.id for w in workflows if workflow_class(w, tools)["repeat"] == "harm"}
    assert harmed <= {run.arm.workflow for run in arms("always-retry", POST) if not run.verdict.passed}


def test_blind_retry_passes_where_nothing_ran(arms: Any) -> None:
    """Where the call never ran, repeating it is right."""
    assert [run.arm.workflow for run in arms("always-retry", PRE) if not run.verdict.passed] == []


def test_going_on_passes_where_all_ran_and_fails_where_nothing_did(arms: Any) -> None:
    """Never-retry is the mirror of always-retry."""
    assert [run.arm.workflow for run in arms("never-retry", POST) if not run.verdict.passed] == []
    assert [run.arm.workflow for run in arms("never-retry", PRE) if run.verdict.passed] == []


@pytest.mark.parametrize("boundary", [PRE, POST])
def test_verify_first_passes_every_observable_workflow(
    arms: Any, workflows: Any, tools: Any, boundary: str
) -> None:
    """Reading before and after tells the two sides of the commit apart; what nobody can read it leaves, and says so."""
    shown = {workflow.id for workflow in workflows if observable(workflow, tools)}
    runs = arms("verify-first", boundary)

    assert {run.arm.workflow for run in runs if run.verdict.passed} >= shown
    assert all(run.verdict.report == "unknown" for run in runs if run.arm.workflow not in shown)


@pytest.mark.parametrize("boundary", [PRE, POST])
def test_b6_with_the_gold_plan_passes_every_observable_workflow(
    arms: Any, workflows: Any, tools: Any, boundary: str
) -> None:
    """The method gets what the careful agent gets."""
    shown = {workflow.id for workflow in workflows if observable(workflow, tools)}

    assert {run.arm.workflow for run in arms("gold", boundary, "B6") if run.verdict.passed} >= shown


def test_a_key_makes_the_repeat_harmless_where_the_service_honours_it(
    arms: Any, tools: Any, workflows: Any
) -> None:
    """B2 passes after a lost answer on every keyed target, and elsewhere does what B0 does."""
    keyed = {w.id for w in workflows if tools[w.scenarios[0].tool].idempotency_key}
    b2 = {run.arm.workflow: run.verdict for run in arms("gold", POST, "B2")}
    b0 = {run.arm.workflow: run.verdict for run in arms("gold", POST, "B0")}

    assert keyed
    assert all(b2[name].passed and b2[name].replays == 1 and not b0[name].passed for name in keyed)
    assert all(b2[name].passed == b0[name].passed for name in b2.keys() - keyed)


def test_every_method_leaves_every_gold_control_as_it_was(corpus: Any) -> None:
    """A method is transparent: without a fault nothing changes but what it declares."""
    pairs = [pair for run, pair in corpus.values() if run.arm.arm == "control+method"]

    assert pairs
    assert [pair.arm for pair in pairs if not pair.equal] == []


def test_up_to_the_target_call_each_fault_arm_is_its_control(corpus: Any) -> None:
    """The prefix of a pair is one and the same run."""
    pairs = [pair for run, pair in corpus.values() if run.arm.arm == "fault"]

    assert [pair.difference for pair in pairs if not pair.equal] == []
    assert all(pair.compared > 0 for pair in pairs)


def test_the_bytes_seen_when_the_error_arrives_do_not_depend_on_the_boundary(corpus: Any) -> None:
    """Before and after the commit the agent stands before the same bytes, for every pair."""
    seen: dict[str, set[str]] = {}
    for name, (run, pair) in corpus.items():
        if run.arm.arm == "fault":
            seen.setdefault(name.replace(run.arm.boundary, "*"), set()).add(pair.seen_at_fault)

    assert seen
    assert all(len(digests) == 1 and "" not in digests for digests in seen.values())
