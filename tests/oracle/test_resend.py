"""Unsafe re-sends: what protects a repeated attempt and what does not."""

from typing import Any

import pytest

from undolab.model.calls import Phase
from undolab.model.tools import Op
from undolab.model.wire import WireEffectEvent
from undolab.model.workflow import RequiredEffect
from undolab.oracle.resend import unsafe_resends

HOOK = {"target_url": "u", "event_type": "e", "payload": "{}"}
SEND = RequiredEffect(
    id="hook", tool="post_webhook_event", entity="webhooks/*", arguments={"target_url": "u"}
)


def history(*calls: tuple[str, str, dict[str, Any], str | None]) -> list[WireEffectEvent]:
    """Literal events: (tool, phase at the end, arguments, key)."""
    events: list[WireEffectEvent] = []
    for n, (tool, phase, arguments, key) in enumerate(calls, start=1):
        for end in (Phase.INVOKE, Phase(phase)):
            events.append(
                WireEffectEvent(
                    seq=len(events) + 2,
                    prev="",
                    phase=end,
                    attempt=f"{n}.1.1",
                    call_index=n,
                    tool_name=tool,
                    op_type=Op.CREATE,
                    arguments=arguments,
                    at_ms=0,
                    key=key,
                )
            )
    return events


READ = ("list_webhook_deliveries", "ok", {"target_url": "u"}, None)
LOST = ("post_webhook_event", "unknown", HOOK, None)
SENT = ("post_webhook_event", "ok", HOOK, None)


@pytest.mark.parametrize(
    ("calls", "unsafe"),
    [
        ([LOST, SENT], 1),
        ([LOST, LOST, SENT], 2),
        ([LOST, READ, SENT], 0),
        ([LOST, READ, LOST, SENT], 1),
        ([SENT, SENT], 0),
        ([LOST, ("post_webhook_event", "fail", HOOK, None), SENT], 1),
        ([LOST, ("list_webhook_deliveries", "unknown", {"target_url": "u"}, None), SENT], 1),
        ([LOST, ("send_slack_alert", "ok", {"channel": "c", "message": "m"}, None)], 0),
        ([LOST, ("post_webhook_event", "ok", {**HOOK, "payload": '{"again": true}'}, None)], 1),
        ([LOST, ("post_webhook_event", "ok", {**HOOK, "target_url": "v"}, None)], 0),
        ([("post_webhook_event", "unknown", HOOK, "k"), ("post_webhook_event", "ok", HOOK, "k")], 0),
        ([("post_webhook_event", "unknown", HOOK, "k"), ("post_webhook_event", "ok", HOOK, "other")], 1),
        ([LOST, ("post_webhook_event", "ok", HOOK, "k")], 1),
    ],
)
def test_unsafe_resends(tools: Any, calls: list[Any], unsafe: int) -> None:
    """Only the lost attempt's own key or a reader's answer between makes a re-send safe; rewording does not."""
    assert unsafe_resends(history(*calls), tools, [SEND]) == unsafe


def test_key_at_a_tool_that_ignores_keys_protects_nothing(tools: Any) -> None:
    """A key declared but not honoured is no key (field case B29)."""
    slack = {"channel": "c", "message": "m"}
    calls = [("send_slack_alert", "unknown", slack, "k"), ("send_slack_alert", "ok", slack, "k")]
    assert unsafe_resends(history(*calls), tools, []) == 1


def test_second_of_two_wanted_sends_is_no_resend(tools: Any) -> None:
    """Where the task wants two, the second send is safe after a loss, the third is not."""
    two = RequiredEffect(
        id="two", tool="post_webhook_event", entity="webhooks/*", arguments={"target_url": "u"}, min=2, max=2
    )
    assert unsafe_resends(history(LOST, SENT), tools, [two]) == 0
    assert unsafe_resends(history(LOST, LOST, SENT), tools, [two]) == 1
