"""Cases from the field that the judge decides, each as a kind: over any number and any mix of repeats."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from undolab.model.calls import Effect, FinalReport, LedgerRow
from undolab.model.canon import digest
from undolab.model.tools import Op
from undolab.model.verdict import FailureClass
from undolab.model.wire import ReportEvent
from undolab.oracle import judge, reconstruct
from undolab.oracle.effects import account

AUDIT = {"entity_id": "acc", "action": "PAID", "details": "5"}
PAY = {"account_id": "acc", "dividend": 5}
WRONG = st.one_of(st.text(max_size=5), st.integers(-9, 9), st.none(), st.booleans())


@settings(max_examples=40, deadline=None)
@given(wanted=st.integers(1, 4), below=st.lists(st.booleans(), min_size=1, max_size=6))
def test_b2_only_the_task_says_how_many_are_meant(
    arm: Any, task: Any, tools: Any, wanted: int, below: list[bool]
) -> None:
    """Equal calls count as duplicates from the wanted number on, whether a turn or a retry layer gave each a new id."""
    effect = {"id": "pay", "tool": "allocate_dividend", "entity": "accounts/acc", "arguments": PAY}
    one = arm(task.make(effects=[{**effect, "min": wanted, "max": wanted}], order=[], goal=[]), tools)
    turn, attempt = 0, 0
    for below_the_agent in below:
        if below_the_agent and turn:
            attempt += 1
            one.call("allocate_dividend", attempt=f"{turn}.1.{attempt}", **PAY)
        else:
            turn, attempt = turn + 1, 1
            one.call("allocate_dividend", **PAY)

    verdict = one.verdict()

    made = len(below)
    assert verdict.harmful_duplicates == max(0, made - wanted)
    assert verdict.missing == (made < wanted)
    assert verdict.passed is (made == wanted)
    assert verdict.unsafe_resends == 0


@settings(max_examples=30, deadline=None)
@given(replays=st.integers(1, 3), failed=st.booleans())
def test_b8_a_replayed_turn_is_a_duplicate_and_the_log_says_which_layer_made_it(
    arm: Any, task: Any, tools: Any, replays: int, failed: bool
) -> None:
    """A finished call made again below the agent is flagged; its attempt number and turn name the retry layer, not the model."""
    one = arm(task.make(), tools)
    one.call("allocate_dividend", **PAY)
    if failed:
        one.call("get_account", account_id="none")
    for number in range(replays):
        one.call("allocate_dividend", attempt=f"1.1.{number + 2}", **PAY)
    one.call("write_audit_record", **AUDIT)

    verdict = one.verdict()

    assert (verdict.failure, verdict.harmful_duplicates) == (FailureClass.DUPLICATE_EFFECT, replays)
    again = [row.attempt for row in one.commits if row.tool == "allocate_dividend"][1:]
    assert all(attempt.startswith("1.1.") and not attempt.endswith(".1") for attempt in again)


@settings(max_examples=30, deadline=None)
@given(
    instances=st.lists(st.integers(0, 1), min_size=2, max_size=6),
    keys=st.lists(st.sampled_from(["k", "other", None]), min_size=6, max_size=6),
)
def test_b29_a_declared_key_counts_for_nothing_where_two_stores_each_commit(
    task: Any, instances: list[int], keys: list[str | None]
) -> None:
    """One key, several stores without a common memory: each first use commits, and the effects alone decide."""
    effect = {"id": "hook", "tool": "post_webhook_event", "entity": "webhooks/*", "arguments": {}}
    wanted = task.make(effects=[effect], order=[], goal=[], forbidden=[])
    known: set[tuple[int, str]] = set()
    rows: list[LedgerRow] = []
    for number, (instance, key) in enumerate(zip(instances, keys, strict=False), start=1):
        if key is not None and (instance, key) in known:
            continue
        known.add((instance, key or ""))
        made = Effect(
            id=f"e{number}", entity=f"webhooks/d{number}", op=Op.CREATE, before="", after=f"a{number}"
        )
        rows.append(
            LedgerRow(
                seq=number,
                attempt=f"{number}.1.1",
                tool="post_webhook_event",
                arguments={},
                effect=made,
                key=key,
            )
        )

    found = account(wanted.effects, wanted.forbidden, rows)

    assert sum(role == "duplicate" for role in found.roles) == len(rows) - 1
    assert sum(role == "required" for role in found.roles) == 1


def test_b29_an_answer_that_claims_to_be_a_replay_but_committed_is_not_believed(
    arm: Any, task: Any, tools: Any
) -> None:
    """Both answers say `replay`, both committed: two effects, one duplicate, and the log is said to contradict itself."""
    hook = {"target_url": "u", "event_type": "e", "payload": "{}"}
    effect = {"id": "hook", "tool": "post_webhook_event", "entity": "webhooks/*", "arguments": hook}
    wanted = task.make(
        tools=["post_webhook_event", "list_webhook_deliveries"],
        effects=[effect],
        order=[],
        goal=[],
        forbidden=[],
    )
    deaf = {
        **tools,
        "post_webhook_event": msgspec.structs.replace(tools["post_webhook_event"], idempotency_key=False),
    }
    one = arm(wanted, deaf)
    one.call("post_webhook_event", key="k", **hook)
    one.call("post_webhook_event", key="k", **hook)
    one.turn()
    one.log.add(
        ReportEvent,
        report=FinalReport.DONE,
        reason="finished",
        turns=3,
        final_state=digest(one.fold.state()),
    )
    honest = {name: tools[name] for name in wanted.tools}
    claimed = [
        msgspec.structs.replace(line, replay_of="1.1.1") if getattr(line, "attempt", "") == "2.1.1" else line
        for line in one.log.lines
    ]

    for lines in (one.log.lines, claimed):
        verdict = judge(wanted, honest, lines, one.commits, one.fold.state())
        assert (verdict.harmful_duplicates, verdict.passed) == (1, False)
        assert reconstruct(wanted, honest, lines).problems


@settings(max_examples=30, deadline=None)
@given(good=st.integers(1, 3), wrong=st.lists(WRONG, max_size=3))
def test_a_call_that_the_service_refused_is_no_effect_and_no_repeat(
    arm: Any, task: Any, tools: Any, good: int, wrong: list[Any]
) -> None:
    """Any number of refused calls before, between and after leave the count of effects as it is."""
    one = arm(task.make(order=[]), tools)
    bad = [
        value
        for value in wrong
        if not (isinstance(value, int) and not isinstance(value, bool) and value >= 1)
    ]
    for value in bad:
        one.call("allocate_dividend", account_id="acc", dividend=value)
    for _ in range(good):
        one.call("allocate_dividend", **PAY)
    for value in bad:
        one.call("allocate_dividend", account_id="acc", dividend=value)
    one.call("write_audit_record", **AUDIT)

    verdict = one.verdict()

    assert (verdict.harmful_duplicates, verdict.committed, verdict.orphans) == (good - 1, good + 1, 0)
