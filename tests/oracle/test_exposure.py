"""A fault counts only if wire and ledger show it."""

from typing import Any

import msgspec
import pytest

from undolab.model.calls import Phase
from undolab.model.fault import Exposure
from undolab.model.verdict import FailureClass
from undolab.model.wire import FaultEvent, WireEffectEvent
from undolab.oracle import judge

PAY = {"account_id": "acc", "dividend": 5}


def test_target_never_called_is_not_exposed(arm: Any, task: Any, tools: Any) -> None:
    """A fault planned on a second matching call that never comes is NOT_EXPOSED, not recovered (field case B30)."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK", nth=2))
    a.call("allocate_dividend", **PAY)
    assert a.verdict().exposure is Exposure.NOT_EXPOSED


def test_injector_that_only_says_applied_is_invalid(arm: Any, task: Any, tools: Any) -> None:
    """Stages without a lost answer are no fault, whatever they say (field case B30)."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    for stage in ("armed", "injected", "witnessed"):
        a.stage(0, stage, "1.1.1")
    a.call("allocate_dividend", **PAY)
    verdict = a.verdict()
    assert (verdict.exposure, verdict.failure) == (Exposure.INVALID_INJECTION, FailureClass.INVALID_INJECTION)


def test_target_called_without_a_fault_is_invalid(arm: Any, task: Any, tools: Any) -> None:
    """A target that was called and answered means that our injector failed."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION"))
    a.call("allocate_dividend", **PAY)
    assert a.verdict().exposure is Exposure.INVALID_INJECTION


@pytest.mark.parametrize("boundary", ["PRE_MUTATION", "POST_MUTATION_PRE_ACK"])
def test_the_ledger_decides_the_boundary(arm: Any, task: Any, tools: Any, boundary: str) -> None:
    """A commit at PRE_MUTATION, or none at POST_MUTATION_PRE_ACK, is an invalid injection."""
    other = {"PRE_MUTATION": "POST_MUTATION_PRE_ACK", "POST_MUTATION_PRE_ACK": "PRE_MUTATION"}[boundary]
    a = arm(task.make(), tools, task.plan(boundary))
    a.call("allocate_dividend", fault=0, **PAY)
    lines = a.end()
    commits = a.commits if boundary == "POST_MUTATION_PRE_ACK" else []
    assert judge(a.workflow, a.tools, lines, commits, a.fold.state()).exposure is Exposure.WITNESSED
    b = arm(task.make(), tools, task.plan(other))
    b.call("allocate_dividend", fault=0, **PAY)
    swapped = b.end()
    swapped[0] = msgspec.structs.replace(swapped[0], faults=[task.plan(boundary)])
    assert (
        judge(b.workflow, b.tools, swapped, b.commits, b.fold.state()).exposure is Exposure.INVALID_INJECTION
    )


def test_fault_at_another_call_is_invalid(arm: Any, task: Any, tools: Any) -> None:
    """A fault that strikes a call other than its target is invalid."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION", match={"account_id": "other"}))
    a.call("allocate_dividend", fault=0, **PAY)
    assert a.verdict().exposure is Exposure.INVALID_INJECTION


def test_retries_and_probes_do_not_move_the_target(arm: Any, task: Any, tools: Any) -> None:
    """The nth matching call is the agent's: a method's attempts and added calls are not counted."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION", nth=2))
    a.call("allocate_dividend", **PAY)
    a.call("allocate_dividend", attempt="1.1.2", **PAY)
    a.call("allocate_dividend", attempt="1.1.1m", **PAY)
    a.call("allocate_dividend", fault=0, **PAY)
    assert a.verdict().exposure is Exposure.WITNESSED


def test_answer_that_reached_the_caller_is_no_loss(arm: Any, task: Any, tools: Any) -> None:
    """An unknown outcome that was acknowledged is a contradiction, so the injection is invalid."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    lines = a.end()
    at = next(n for n, x in enumerate(lines) if isinstance(x, WireEffectEvent) and x.phase is Phase.UNKNOWN)
    lines[at] = msgspec.structs.replace(lines[at], acknowledged_to_agent=True)
    assert judge(a.workflow, a.tools, lines, a.commits, a.fold.state()).exposure is Exposure.INVALID_INJECTION


def test_target_that_the_service_refused_is_not_exposed(arm: Any, task: Any, tools: Any) -> None:
    """A lost refusal at POST_MUTATION_PRE_ACK is the agent's bad call, not a bad injector: no mutation was reached."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, account_id="acc", dividend=0)
    assert a.verdict().exposure is Exposure.NOT_EXPOSED
    b = arm(task.make(), tools, task.plan("PRE_MUTATION"))
    b.call("allocate_dividend", fault=0, **PAY)
    lost_before_it_ran = b.end()
    lost_before_it_ran[0] = msgspec.structs.replace(
        lost_before_it_ran[0], faults=[task.plan("POST_MUTATION_PRE_ACK")]
    )
    verdict = judge(b.workflow, b.tools, lost_before_it_ran, b.commits, b.fold.state())
    assert verdict.exposure is Exposure.INVALID_INJECTION


def test_fault_in_an_arm_without_schedule_is_invalid(arm: Any, task: Any, tools: Any) -> None:
    """A control arm that shows a fault's stages is no control."""
    a = arm(task.make(), tools)
    a.log.add(FaultEvent, fault=0, stage="armed", attempt="1.1.1")
    assert a.verdict().exposure is Exposure.INVALID_INJECTION
