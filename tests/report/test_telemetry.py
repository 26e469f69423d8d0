"""Calls, tokens, times and INFRA_ERROR, over arms and records written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import FinalReport, Phase
from undolab.model.errors import UndolabError
from undolab.model.tools import Op
from undolab.model.wire import ArmId, ArmStart, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.report.sheet import Sheet
from undolab.report.telemetry import Call, read_latencies, sheets
from undolab.wire import LogWriter


def call(prompt: int = 100, completion: int = 10, millis: int | None = None, **more: Any) -> Call:
    return Call(prompt, completion, millis, **{"attempts": 0, "failed": 0, "answered": True, **more})


def arm(*records: str, **name: Any) -> list[WireLine]:
    """Return an arm with a turn a record, each with a call by the agent and one by its method."""
    log = LogWriter()
    whose = {
        "workflow": "W",
        "model": "m",
        "framework": "F1",
        "boundary": "NONE",
        "method": "none",
        "seed": 1,
    }
    log.add(
        ArmStart, arm=ArmId(**{**whose, "arm": "control", **name}), workflow_digest="", tools_digest="", world_seed=1,
        prompt="runbook", examples="plain",
    )  # fmt: skip
    for turn, record in enumerate(records, start=1):
        log.add(TurnEvent, turn=turn, seen="", said="", record=record)
        for origin in ("agent", "method"):
            for phase in (Phase.INVOKE, Phase.OK):
                log.add(
                    WireEffectEvent, phase=phase, attempt=f"{turn}.1.1", call_index=1, tool_name="get", op_type=Op.READ,
                    arguments={}, at_ms=0, origin=origin,
                )  # fmt: skip
    log.add(ReportEvent, report=FinalReport.DONE, reason="finished", turns=len(records), final_state="")
    return log.lines


def rows(sheet: Sheet) -> list[dict[str, Any]]:
    head, *body = sheet.rows
    return [dict(zip(head, row, strict=True)) for row in body]


def test_a_call_that_two_arms_share_is_computed_once() -> None:
    """Turns count every use, computed counts distinct calls, and reuse is their ratio; tokens follow both."""
    arms = [arm("a#1", "b#1"), arm("a#1", "b#1", "c#1", arm="fault", boundary="PRE_MUTATION")]
    calls = {"m": {"a#1": call(), "b#1": call(200, 20), "c#1": call(300, 30), "unused#1": call()}}

    (found,) = rows(sheets(arms, calls, {})[0])

    assert (found["controls"], found["faults"], found["turns"], found["computed"]) == (1, 1, 5, 3)
    assert found["reuse"] == pytest.approx(5 / 3)
    assert (found["prompt_tokens_used"], found["prompt_tokens_computed"]) == (900, 600)
    assert (found["completion_tokens_used"], found["completion_tokens_computed"]) == (90, 60)
    assert (found["attempts"], found["attempts_of_methods"]) == (10, 5)
    assert (found["mean_ms"], found["times_from"]) == (None, "not measured")
    assert (found["prompt"], found["examples"]) == ("runbook", "plain")


def test_two_frameworks_have_a_sum_of_their_own() -> None:
    """A call that both use is computed once in their sum; one framework alone has no sum."""
    calls = {"m": {"a#1": call(), "b#1": call()}, "n": {"a#1": call()}}
    arms = [arm("a#1"), arm("a#1", "b#1", framework="F2"), arm("a#1", model="n")]

    found = {(row["model"], row["framework"]): row["computed"] for row in rows(sheets(arms, calls, {})[0])}

    assert found == {("m", "F1"): 1, ("m", "F2"): 2, ("m", "together"): 2, ("n", "F1"): 1}


def test_times_come_from_records_or_from_a_measurement() -> None:
    """A service's records bring their own times; a model in this process has those measured of it."""
    calls = {
        "m": {f"{name}#1": call(millis=millis) for name, millis in zip("abc", (10, 20, 60), strict=True)},
        "n": {"a#1": call()},
    }
    measured = {"n": {"mean_ms": 7.5, "p50_ms": 7, "p95_ms": 9}}

    first, second = rows(sheets([arm("a#1", "b#1", "c#1"), arm("a#1", model="n")], calls, measured)[0])

    assert (first["mean_ms"], first["p50_ms"], first["p95_ms"], first["times_from"]) == (
        30,
        20,
        56,
        "records",
    )
    assert (second["mean_ms"], second["times_from"]) == (7.5, "measurement")


def test_failed_attempts_are_counted_apart_from_calls_that_stayed_without_an_answer() -> None:
    """Retried: some attempts failed and the last was answered. Final: no attempt was answered, and no arm used it."""
    calls = {
        "m": {
            "a#1": call(attempts=1),
            "b#1": call(attempts=3, failed=2),
            "c#1": call(attempts=4, failed=4, answered=False),
        }
    }

    (found,) = rows(sheets([arm("a#1", "b#1")], calls, {})[1])

    assert (found["calls"], found["http_attempts"], found["failed"]) == (3, 8, 6)
    assert (found["retried"], found["final"], found["kind"]) == (1, 1, "service")


def test_a_turn_without_its_record_is_named() -> None:
    """A store that lacks a call that an arm used stops the table, with the arm."""
    with pytest.raises(UndolabError, match=r"W/m/F1/NONE/none/1/control: record gone#1"):
        sheets([arm("gone#1")], {"m": {}}, {})
    with pytest.raises(UndolabError, match="no arm of a recorded model"):
        sheets([arm("a#1", model="scripted:gold")], {"m": {}}, {})


def test_measured_times_are_read_without_their_machine(tmp_path: Path) -> None:
    """The file may be missing; what is no JSON object is refused."""
    path = tmp_path / "latency.json"
    assert read_latencies(path) == {}
    path.write_text(json.dumps({"machine": {"cores": 2}, "m": {"mean_ms": 1.0}}))
    assert read_latencies(path) == {"m": {"mean_ms": 1.0}}
    path.write_text("[1]")
    with pytest.raises(UndolabError, match="is no JSON object"):
        read_latencies(path)
