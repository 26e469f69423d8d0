"""The direct loop: from a line to a turn, and what stands in a request."""

from typing import Any

import pytest

from undolab.agents.direct import DirectAgent
from undolab.model.calls import LOST, FinalReport, Phase, Reply
from undolab.model.canon import bytes_digest, call_seed
from undolab.models.backend import request_key

LINE = 'task step one: set_level(box="b1", level=4)'


def test_a_call_becomes_a_turn(fake: Any, model: Any, view: Any) -> None:
    """A line with a call becomes one call, with the raw text and the record's name."""
    backend = fake(LINE)
    turn = DirectAgent(backend, model, 2001).act(view, [])
    (call,) = turn.calls
    assert (call.tool, call.arguments) == ("set_level", {"box": "b1", "level": 4})
    assert (turn.said, turn.error, turn.report) == (LINE, "", None)
    assert turn.record == f"{request_key(backend.asked[0][0])}#1"


@pytest.mark.parametrize(
    ("line", "report"),
    [
        ("task step two: finish: done", FinalReport.DONE),
        ("task step two: finish: not done", FinalReport.NOT_DONE),
        ("task step two: finish: unknown", FinalReport.UNKNOWN),
    ],
)
def test_a_finish_becomes_a_report(fake: Any, model: Any, view: Any, line: str, report: FinalReport) -> None:
    """A finish ends the agent with its report and without a call."""
    turn = DirectAgent(fake(line), model, 1).act(view, [])
    assert (turn.report, turn.calls, turn.error) == (report, [], "")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("task step two: finish: maybe", "finish"),
        ("task step two: finish: ", "finish"),
        ("task step two: finish: done ", "finish"),
        ("task step two: ", "not a call"),
        ("finish: done", "not a call"),
        ("lamp step two: finish: done", "not a call"),
        ("task step fourteen: finish: done", "not a call"),
        ("task step  two: finish: done", "not a call"),
        ("I will set the level.", "not a call"),
        ('set_level(box="b1", level=4)', "not a call"),
        ('task step one: drop_box(box="b1")', "unknown tool, drop_box"),
        ('task step one: set_level(box="b1"', "bad arguments"),
        ('task step one: set_level(box="b1, level=4)', "bad arguments"),
        ('task step one: set_level(box="b1", level=4) then', "bad arguments"),
        ('task step one: set_level(box="b1", box="b2")', "bad arguments"),
        ('task step one: set_level(box="b1", )', "bad arguments"),
        ("task step one: set_level(box='b1')", "bad arguments"),
        ("task step one: set_level(level=NaN)", "bad arguments"),
        ("task step one: set_level(level=1e999)", "bad arguments"),
        ("task step one: set_level(level=99999999999999999999)", "bad arguments"),
        ('task step one: set_level(box="\\ud800")', "bad arguments"),
        ('task step one: set_level(box={"a":1,"a":2})', "bad arguments"),
        ("task step one: set_level(box=" + "[" * 9000 + ")", "bad arguments"),
    ],
)
def test_a_bad_line_is_the_agents_failure(fake: Any, model: Any, view: Any, line: str, error: str) -> None:
    """A line that is neither call nor finish gives an error and no call, and never an exception."""
    turn = DirectAgent(fake(line), model, 1).act(view, [])
    assert error in turn.error
    assert (turn.said, turn.calls, turn.report) == (line, [], None)
    assert turn.record


@pytest.mark.parametrize("reason", ["length", "error"])
def test_a_truncated_answer_is_no_call(fake: Any, model: Any, view: Any, reason: str) -> None:
    """A truncated answer is an error even where its text would read as a call."""
    turn = DirectAgent(fake(LINE, reason=reason), model, 1).act(view, [])
    assert turn.error
    assert turn.calls == []


def test_equal_requests_of_one_arm_are_counted(fake: Any, model: Any, view: Any) -> None:
    """The nth equal request of an arm has ordinal n; another agent object begins anew."""
    backend = fake(LINE)
    agent = DirectAgent(backend, model, 1)
    records = [agent.act(view, []).record[-2:] for _ in range(3)]
    records.append(DirectAgent(backend, model, 1).act(view, []).record[-2:])
    assert records == ["#1", "#2", "#3", "#1"]
    assert [ordinal for _, ordinal in backend.asked] == [1, 2, 3, 1]


def test_the_request_holds_the_models_settings_and_the_calls_seed(
    fake: Any, model: Any, view: Any, exchange: Any
) -> None:
    """Each turn is asked with the model's digest and sampling, and a seed made of trial seed and turn."""
    backend = fake(LINE, "task step two: finish: done")
    agent = DirectAgent(backend, model, 2003)
    agent.act(view, [])
    agent.act(view, [exchange(LINE, Reply(phase=Phase.OK, output={"level": 4}))])
    first, second = (request for request, _ in backend.asked)
    assert (first.sampling.seed, second.sampling.seed) == (call_seed(2003, 1), call_seed(2003, 2))
    assert (first.model, first.stop, first.sampling.temperature) == (model.digest, ["\n"], 0.2)
    assert second.prompt == first.prompt + LINE + '\n-> ok {"level":4}\n'
    assert second.grammar == first.grammar


def test_seen_is_the_digest_of_the_prompt(fake: Any, model: Any, view: Any, exchange: Any) -> None:
    """`seen` names the very bytes that the next request's prompt has, and asks nothing."""
    backend = fake(LINE)
    agent = DirectAgent(backend, model, 1)
    history = [exchange(LINE, Reply(phase=Phase.UNKNOWN, output=LOST))]
    seen = agent.seen(view, history)
    assert backend.asked == []
    agent.act(view, history)
    assert seen == bytes_digest(backend.asked[0][0].prompt.encode())
    assert seen != agent.seen(view, [])
