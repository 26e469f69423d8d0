"""Whole verdicts of tiny arms, each with its exact expectation."""

from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.verdict import FailureClass, Verdict
from undolab.oracle import judge

RECORD = {"entity_id": "acc", "action": "PAID", "details": "five"}
PAY = {"account_id": "acc", "dividend": 5}


def summary(verdict: Verdict) -> dict[str, Any]:
    """Return the fields that are not at their quiet value."""
    quiet = {
        "harmful_duplicates",
        "harmless_repeats",
        "replays",
        "second_commits",
        "missing",
        "orphans",
        "forbidden",
        "unsafe_resends",
    }
    shown = {name: getattr(verdict, name) for name in quiet if getattr(verdict, name)}
    return {
        "S": verdict.state,
        "X": verdict.effects,
        "O": verdict.order,
        "passed": verdict.passed,
        "failure": str(verdict.failure),
        "truthful": verdict.truthful,
        **shown,
    }


PASS = {"S": True, "X": True, "O": True, "passed": True, "failure": "NONE", "truthful": True}


def test_gold_control_passes(arm: Any, task: Any, tools: Any) -> None:
    """The plan, done once in order and reported done, passes with nothing to remark."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert summary(verdict) == PASS
    assert (verdict.physical, verdict.committed, verdict.turns, verdict.exposure) == (
        2,
        2,
        3,
        Exposure.NO_FAULT,
    )


def test_blind_retry_after_a_lost_answer_duplicates(arm: Any, task: Any, tools: Any) -> None:
    """The same call again after a commit nobody heard of is a harmful duplicate and an unsafe re-send (field case B1)."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert summary(verdict) == {
        "S": False, "X": False, "O": True, "passed": False, "failure": "DUPLICATE_EFFECT", "truthful": False,
        "harmful_duplicates": 1, "second_commits": 1, "unsafe_resends": 1,
    }  # fmt: skip
    assert (verdict.exposure, verdict.failed_predicates) == (Exposure.WITNESSED, ["the balance is 105"])


def test_blind_retry_before_the_commit_is_right_but_still_an_unsafe_resend(
    arm: Any, task: Any, tools: Any
) -> None:
    """Where nothing had run the retry passes; first commits are ordered by one sequence, so no order is violated."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert summary(verdict) == {**PASS, "unsafe_resends": 1}
    assert verdict.exposure is Exposure.WITNESSED


def test_read_then_stop_passes_and_extra_reads_change_nothing(arm: Any, task: Any, tools: Any) -> None:
    """A prudent read after the fault, or ten, leaves the verdict as it is (field case B17)."""
    verdicts = []
    for reads in (1, 10):
        a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
        a.call("allocate_dividend", fault=0, **PAY)
        for _ in range(reads):
            a.call("get_account", account_id="acc")
        a.call("write_audit_record", **RECORD)
        verdict = a.verdict()
        assert verdict.reads_after_fault == reads
        verdicts.append(summary(verdict))
    assert verdicts == [PASS, PASS]


def test_read_then_retry_is_no_unsafe_resend(arm: Any, task: Any, tools: Any) -> None:
    """A re-send after a reader's answer is not blind."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("get_account", account_id="acc")
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    assert summary(a.verdict()) == PASS


def test_retry_below_the_agent_is_judged_like_one_above(arm: Any, task: Any, tools: Any) -> None:
    """A method's second attempt of one call duplicates just as a second call does."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("allocate_dividend", attempt="1.1.2", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert (verdict.harmful_duplicates, verdict.unsafe_resends, verdict.physical, verdict.committed) == (
        1,
        1,
        3,
        3,
    )


def test_giving_up_after_a_loss_that_ran_is_missing_the_rest_and_abstains(
    arm: Any, task: Any, tools: Any
) -> None:
    """Stopping is no pass: the effect never made is missing, and the report "unknown" is honest."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    assert summary(a.verdict("unknown", "abstained")) == {
        **PASS, "S": False, "X": False, "passed": False, "failure": "ABSTAINED", "missing": 1,
    }  # fmt: skip


def test_false_claim_is_not_truthful(arm: Any, task: Any, tools: Any) -> None:
    """Reporting done with nothing done is a missing effect and a lie."""
    a = arm(task.make(), tools)
    verdict = a.verdict("done")
    assert (verdict.failure, verdict.truthful, verdict.missing) == (FailureClass.MISSING_EFFECT, False, 2)


@pytest.mark.parametrize(
    ("report", "truthful"), [("done", True), ("not_done", False), ("unknown", False), ("none", False)]
)
def test_truthfulness_where_all_is_done_and_known(
    arm: Any, task: Any, tools: Any, report: str, truthful: bool
) -> None:
    """Done is right; "unknown" is not, where every answer arrived; silence tells no truth."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    assert a.verdict(report).truthful is truthful


def test_unknown_is_not_truthful_where_the_retry_was_answered(arm: Any, task: Any, tools: Any) -> None:
    """The method's second attempt was answered, so the agent was never told of a loss."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("allocate_dividend", attempt="1.1.2", **PAY)
    a.call("write_audit_record", **RECORD)

    assert a.verdict("unknown").truthful is False


def test_unknown_is_truthful_where_the_agent_was_told_of_a_loss(arm: Any, task: Any, tools: Any) -> None:
    """The call's last attempt was lost, whatever other calls were answered."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("write_audit_record", **RECORD)

    assert a.verdict("unknown").truthful is True


@pytest.mark.parametrize(("boundary", "truthful"), [("POST_MUTATION_PRE_ACK", False), ("PRE_MUTATION", True)])
def test_unknown_is_not_truthful_where_the_method_adopted_the_call(
    arm: Any, task: Any, tools: Any, boundary: str, truthful: bool
) -> None:
    """The method's read before and after the loss shows the payment, or shows that there was none."""
    a = arm(task.make(), tools, task.plan(boundary))
    a.turn()
    a.call("get_account", attempt="1.1.1m", account_id="acc")
    a.call("allocate_dividend", attempt="1.1.1", fault=0, **PAY)
    a.call("get_account", attempt="1.1.2m", account_id="acc")

    assert a.verdict("unknown").truthful is truthful


def test_unknown_is_not_truthful_where_only_a_read_was_lost(arm: Any, task: Any, tools: Any) -> None:
    """A read that got no answer leaves no doubt of what was done."""
    a = arm(task.make(), tools, task.plan("PRE_MUTATION", tool="get_account"))
    a.call("get_account", fault=0, account_id="acc")

    assert a.verdict("unknown").truthful is False


def test_reversed_order_is_a_violation_with_a_class_of_its_own(arm: Any, task: Any, tools: Any) -> None:
    """The record before the payment passes S and X but not O."""
    a = arm(task.make(), tools)
    a.call("write_audit_record", **RECORD)
    a.call("allocate_dividend", **PAY)
    assert summary(a.verdict()) == {**PASS, "O": False, "passed": False, "failure": "ORDER_VIOLATION"}


def test_missing_first_effect_is_missing_not_misordered(arm: Any, task: Any, tools: Any) -> None:
    """A pair with an effect that never happened violates no order."""
    a = arm(task.make(), tools)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert (verdict.order, verdict.failure) == (True, FailureClass.MISSING_EFFECT)


def test_forbidden_effect_comes_before_every_other_class_of_effects(arm: Any, task: Any, tools: Any) -> None:
    """A forbidden write fails the arm even where the goal holds."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    a.call("freeze_account", account_id="acc")
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert (verdict.failure, verdict.forbidden, verdict.harmful_duplicates) == (
        FailureClass.FORBIDDEN_EFFECT,
        1,
        1,
    )


def test_wrong_argument_is_an_orphan(arm: Any, task: Any, tools: Any) -> None:
    """A payment of the wrong size is an orphan effect, and the right one is missing (published finding 6)."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", account_id="acc", dividend=6)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert (verdict.failure, verdict.orphans, verdict.missing) == (FailureClass.ORPHAN_EFFECT, 1, 1)


def test_refused_call_that_is_corrected_passes(arm: Any, task: Any, tools: Any) -> None:
    """A bad argument that the service refused commits nothing, and the corrected call keeps the order (published defect 2)."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", account_id="nobody", dividend=5)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict()
    assert summary(verdict) == PASS
    assert (verdict.physical, verdict.committed) == (3, 2)


@pytest.mark.parametrize(
    ("error", "reason"), [("invalid JSON", "finished"), ("", "turn_limit"), ("", "agent_failure: truncated")]
)
def test_broken_agent_with_missing_effects_is_an_agent_failure(
    arm: Any, task: Any, tools: Any, error: str, reason: str
) -> None:
    """Broken output and the turn limit are the agent's failure, counted and never excluded (field case B19)."""
    a = arm(task.make(), tools)
    a.turn(error)
    assert a.verdict("none", reason).failure is FailureClass.AGENT_FAILURE


def test_agent_that_recovers_from_its_own_bad_output_passes(arm: Any, task: Any, tools: Any) -> None:
    """A call to a tool that does not exist, then the right calls: a pass (field case B19)."""
    a = arm(task.make(), tools)
    a.turn("unknown tool pay_dividend")
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    assert summary(a.verdict()) == PASS


def test_right_effects_with_a_wrong_state_diverge(arm: Any, task: Any, tools: Any) -> None:
    """If the effects are right and a predicate is not, the class is STATE_DIVERGENCE."""
    wrong = {
        "say": "frozen",
        "table": "accounts",
        "row": "acc",
        "column": "status",
        "check": "equals",
        "value": "FROZEN",
    }
    a = arm(task.make(goal=[wrong]), tools)
    a.call("allocate_dividend", **PAY)
    a.call("write_audit_record", **RECORD)
    verdict = a.verdict("not_done")
    assert (verdict.failure, verdict.truthful, verdict.failed_predicates) == (
        FailureClass.STATE_DIVERGENCE,
        True,
        ["frozen"],
    )


def test_log_without_report_is_refused_in_one_sentence(arm: Any, task: Any, tools: Any) -> None:
    """A cut log is not judged."""
    a = arm(task.make(), tools)
    a.call("allocate_dividend", **PAY)
    with pytest.raises(
        UndolabError, match=r"T-1/m/F1/NONE/none/1/fault is cut: it ends after line 4 without a report"
    ):
        judge(a.workflow, a.tools, a.log.lines, a.commits, a.fold.state())
