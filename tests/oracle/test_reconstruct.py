"""Reconstruction agrees with the live verdict, and every forgery of a log is named with arm and line."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from undolab.model.calls import Effect, Phase
from undolab.model.tools import Op
from undolab.model.wire import FaultEvent, ReportEvent, WireEffectEvent, WireLine
from undolab.oracle import judge, reconstruct
from undolab.wire import LogWriter

NAME = "T-1/m/F1/NONE/none/1/fault"
PAY = {"account_id": "acc", "dividend": 5}
RECORD = {"entity_id": "acc", "action": "PAID", "details": "five"}


def sealed(lines: list[WireLine]) -> list[WireLine]:
    """Return the lines with sequence numbers and links made anew, as a careful forger would."""
    log = LogWriter()
    for line in lines:
        fields = {name: getattr(line, name) for name in line.__struct_fields__ if name not in ("seq", "prev")}
        log.add(type(line), **fields)
    return log.lines


@pytest.fixture
def lost(arm: Any, task: Any, tools: Any) -> Any:
    """An arm with a lost answer, a read, a refused call and the record."""
    a = arm(task.make(), tools, task.plan("POST_MUTATION_PRE_ACK"))
    a.call("allocate_dividend", fault=0, **PAY)
    a.call("get_account", account_id="acc")
    a.call("get_account", account_id="nobody")
    a.call("write_audit_record", **RECORD)
    a.end()
    return a


def problems(a: Any, tools: Any, lines: list[WireLine]) -> list[str]:
    return reconstruct(a.workflow, tools, lines).problems


def test_honest_log_has_no_problem_and_gives_the_live_verdict(lost: Any, tools: Any) -> None:
    """From log and fixture alone come the same commits and the same verdict as from the world."""
    found = reconstruct(lost.workflow, tools, lost.log.lines)
    assert found.problems == []
    assert found.commits == lost.commits
    assert found.verdict == judge(lost.workflow, lost.tools, lost.log.lines, lost.commits, lost.fold.state())


def line_of(lines: list[WireLine], choose: Callable[[Any], bool]) -> int:
    return next(n for n, line in enumerate(lines) if choose(line))


def is_end(line: Any, tool: str) -> bool:
    return isinstance(line, WireEffectEvent) and line.tool_name == tool and line.phase is not Phase.INVOKE


def is_start(line: Any, tool: str) -> bool:
    return isinstance(line, WireEffectEvent) and line.tool_name == tool and line.phase is Phase.INVOKE


FAKE = [Effect(id="e1", entity="accounts/acc", op=Op.UPDATE, before="0" * 16, after="1" * 16)]
EDITS = {
    "commit flag": (lambda x: is_end(x, "allocate_dividend"), {"committed_externally": False}, "committed_externally"),
    "commit flag of a read": (lambda x: is_end(x, "get_account"), {"committed_externally": True}, "committed_externally"),
    "acknowledged": (lambda x: is_end(x, "allocate_dividend"), {"acknowledged_to_agent": True}, "acknowledged_to_agent"),
    "argument": (lambda x: is_end(x, "write_audit_record"), {"arguments": {**RECORD, "details": "six"}}, "arguments differs"),
    "argument sent": (lambda x: is_start(x, "get_account"), {"arguments": {"account_id": "b"}}, "arguments differs"),
    "output": (lambda x: is_end(x, "get_account"), {"output": {"balance": 1}}, "output differs"),
    "phase": (lambda x: is_end(x, "get_account"), {"phase": Phase.FAIL}, "phase is fail"),
    "effects": (lambda x: is_end(x, "allocate_dividend"), {"effects": FAKE}, "effects differ"),
    "target": (lambda x: is_end(x, "allocate_dividend"), {"target": ["accounts/b"]}, "target"),
    "operation": (lambda x: is_end(x, "get_account"), {"op_type": Op.UPDATE}, "op_type"),
    "call index": (lambda x: is_start(x, "get_account"), {"call_index": 7}, "call_index"),
    "attempt": (lambda x: is_end(x, "get_account"), {"attempt": "9.1.1"}, "ends without having begun"),
    "replay": (lambda x: is_end(x, "get_account"), {"replay_of": "1.1.1"}, "replay_of"),
    "lost for no reason": (
        lambda x: is_end(x, "get_account"),
        {"phase": Phase.UNKNOWN, "acknowledged_to_agent": False},
        "no fault was injected",
    ),
    "clock": (lambda x: is_end(x, "get_account"), {"at_ms": 0}, "clock runs back"),
    "final state": (lambda x: isinstance(x, ReportEvent), {"final_state": "0" * 64}, "final state"),
    "turns": (lambda x: isinstance(x, ReportEvent), {"turns": 1}, "counts 1 turns"),
    "stage": (lambda x: isinstance(x, FaultEvent) and x.stage == "witnessed", {"stage": "released"}, "went through"),
    "stage at another call": (lambda x: isinstance(x, FaultEvent), {"attempt": "2.1.1"}, "its target is 1.1.1"),
    "witness": (
        lambda x: isinstance(x, FaultEvent) and x.stage == "witnessed",
        {"detail": {"ledger_rows": 2, "response_bytes": 0}},
        "claims 2 ledger rows, the fold finds 1",
    ),
    "fault of no plan": (lambda x: isinstance(x, FaultEvent), {"fault": 3}, "not in the arm's schedule"),
    "world seed": (lambda x: x.seq == 1, {"world_seed": 2}, "effects differ"),
    "workflow": (lambda x: x.seq == 1, {"workflow_digest": "0" * 64}, "workflow's digest"),
    "tools": (lambda x: x.seq == 1, {"tools_digest": "0" * 64}, "tools' digest"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_one_edit_in_a_resealed_log_is_named_with_arm_and_line(lost: Any, tools: Any, name: str) -> None:
    """One changed field, with all links made anew, is a problem that names the arm and the line."""
    choose, change, words = EDITS[name]
    lines = list(lost.log.lines)
    at = line_of(lines, choose)
    lines[at] = msgspec.structs.replace(lines[at], **change)
    found = problems(lost, tools, sealed(lines))
    assert any(words in problem for problem in found), found
    assert all(problem.startswith(f"{NAME}, seq ") for problem in found)


def test_edit_without_reseal_breaks_the_chain_at_the_next_line(lost: Any, tools: Any) -> None:
    """A changed line no longer is what the next line names."""
    lines = list(lost.log.lines)
    lines[-2] = msgspec.structs.replace(lines[-2], said="something else")
    assert problems(lost, tools, lines) == [
        f"{NAME}: line {len(lines)} does not follow from the line before it"
    ]


def test_dropped_line_shows_in_numbers_and_links(lost: Any, tools: Any) -> None:
    """A log without one of its middle lines has a hole."""
    lines = list(lost.log.lines)
    del lines[8]
    found = problems(lost, tools, lines)
    assert f"{NAME}: line 9 has sequence number 10" in found
    assert f"{NAME}: line 9 does not follow from the line before it" in found


def test_dropped_attempt_in_a_resealed_log_shows(lost: Any, tools: Any) -> None:
    """Leaving a committed call out is seen by the final state."""
    lines = [
        line
        for line in lost.log.lines
        if not (isinstance(line, WireEffectEvent) and line.tool_name == "write_audit_record")
    ]
    assert any("final state" in problem for problem in problems(lost, tools, sealed(lines)))


def test_log_cut_in_the_middle_is_one_clear_sentence(lost: Any, tools: Any) -> None:
    """A log without its end gets one sentence and no verdict; so does an empty one."""
    found = reconstruct(lost.workflow, tools, lost.log.lines[:6])
    assert (found.verdict, found.problems) == (
        None,
        [f"the wire log of {NAME} is cut: it ends after line 6 without a report; build the log again"],
    )
    assert reconstruct(lost.workflow, tools, []).verdict is None


def test_claimed_partial_commit_is_not_believed(lost: Any, tools: Any) -> None:
    """A committed flag on a call that never ran is refused (published defect 3)."""
    lines = list(lost.log.lines)
    at = line_of(lines, lambda x: is_end(x, "allocate_dividend"))
    lines[at] = msgspec.structs.replace(lines[at], output=None)
    found = reconstruct(lost.workflow, tools, sealed(lines))
    assert any(
        "committed_externally is True, the fold finds 0 effects" in problem for problem in found.problems
    )


def test_keyed_resend_is_a_replay_of_the_first_attempt(arm: Any, task: Any, tools: Any) -> None:
    """Reconstruction knows the key: the second attempt replays, commits nothing, and the verdict passes."""
    hook = {"target_url": "u", "event_type": "e", "payload": "{}"}
    workflow = task.make(
        tools=["list_webhook_deliveries", "post_webhook_event"],
        fixture={},
        effects=[{"id": "hook", "tool": "post_webhook_event", "entity": "webhooks/*"}],
        forbidden=[],
        order=[],
        goal=[{"say": "one delivery", "table": "webhooks", "check": "count", "value": 1}],
    )
    a = arm(workflow, tools, task.plan("POST_MUTATION_PRE_ACK", tool="post_webhook_event", match={}))
    a.call("post_webhook_event", key="k", fault=0, **hook)
    a.call("post_webhook_event", attempt="1.1.2", key="k", **hook)
    a.end()
    found = reconstruct(workflow, tools, a.log.lines)
    assert found.problems == []
    assert found.verdict is not None
    verdict = found.verdict
    assert (verdict.passed, verdict.replays, verdict.unsafe_resends, verdict.committed) == (True, 1, 0, 1)
