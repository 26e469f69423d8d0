"""The chat agent: calls only from whole answers with whole arguments, ids of its own, and an end in words."""

import json
from typing import Any

import pytest

from undolab.agents.base import Exchange, PublicTool, TaskView, ToolCall, Turn
from undolab.agents.chat import ChatAgent
from undolab.model.calls import LOST, FinalReport, Phase, Reply
from undolab.model.record import ChatAnswer, ChatCall, ChatRequest
from undolab.model.workflow import Step
from undolab.models.config import ApiConfig

CONFIG = ApiConfig(name="toy", url="http://127.0.0.1:1/v1", model="m")
VIEW = TaskView(
    objective="Water  the bed.",
    steps=[Step(say="Water it", tool="water", arguments={"bed": "A1"})],
    tools=[
        PublicTool(
            name="water",
            description="Water a bed.",
            parameters={"type": "object", "properties": {}},
            reads=False,
        )
    ],
    max_turns=5,
)


class Fake:
    def __init__(self, *calls: tuple[str, str], text: str = "", finish: str = "tool_calls") -> None:
        self.answer = ChatAnswer(
            text=text,
            calls=[ChatCall(name=name, arguments=arguments) for name, arguments in calls],
            finish_reason=finish,
            prompt_tokens=1,
            completion_tokens=1,
        )
        self.asked: list[tuple[ChatRequest, int]] = []

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        self.asked.append((request, ordinal))
        return self.answer


def act(*calls: tuple[str, str], **changes: Any) -> Turn:
    return ChatAgent(Fake(*calls, **changes), CONFIG, 2001).act(VIEW, [])


def test_parallel_calls_keep_their_order() -> None:
    """Several calls of one answer are several calls of one turn, in order, whatever ids they had."""
    turn = act(("water", '{"bed": "A1"}'), ("water", '{"bed": "A2"}'), ("nothing", "{}"))
    assert [(call.tool, call.arguments) for call in turn.calls] == [
        ("water", {"bed": "A1"}),
        ("water", {"bed": "A2"}),
        ("nothing", {}),
    ]
    assert turn.record.endswith("#1")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        '{"a":1',
        '{"a":1}}',
        '{"a":1} {"a":2}',
        "null",
        "[1]",
        '"text"',
        '{"a":1,"a":2}',
        '{"a":NaN}',
        '{"a":1e999}',
        '{"a":9007199254740993}',
        '{"a":"\\ud800"}',
        "{'a':1}",
        '{"a":' * 50_000,
        '{"a":' + "9" * 5000 + "}",
    ],
)
def test_broken_arguments_are_no_call(arguments: str) -> None:
    """Arguments that are not one whole JSON object make no call, nor do the whole ones beside them: the agent's failure."""
    turn = act(("water", '{"bed": "A1"}'), ("water", arguments))
    assert (turn.calls, turn.error, turn.report) == ([], "bad arguments in call 2", None)


@pytest.mark.parametrize(
    ("finish", "why"),
    [
        ("length", "the answer was truncated"),
        ("overflow", "the prompt does not fit"),
        ("content_filter", "the answer ended with 'content_filter'"),
    ],
)
def test_an_answer_that_was_cut_is_no_call(finish: str, why: str) -> None:
    """Where the model did not end its answer, no call comes of it, also if its arguments happen to be whole."""
    turn = act(("water", "{}"), finish=finish)
    assert (turn.calls, turn.error) == ([], why)


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("finish: done", FinalReport.DONE),
        ("I did it.\n`finish: not done`\n", FinalReport.NOT_DONE),
        ("Finish: Unknown.", FinalReport.UNKNOWN),
        ("finish: maybe", FinalReport.NONE),
        ("finish: done\nor so", FinalReport.NONE),
        ("done", FinalReport.NONE),
    ],
)
def test_the_last_line_is_the_report(text: str, report: FinalReport) -> None:
    """An answer without calls ends the task, with what its last line says or without a word."""
    assert act(text=text, finish="stop").report is report


def test_messages_carry_ids_of_our_own() -> None:
    """Each call and its reply are joined by turn and position, and what the service called them plays no part."""
    turn = act(("water", '{"bed":"A1"}'), ("water", '{"bed":"A2"}'), text="Now.")
    replies = [Reply(phase=Phase.OK, output={"bed": "A1"}), Reply(phase=Phase.UNKNOWN, output=LOST)]
    fake = Fake(text="finish: done", finish="stop")
    agent = ChatAgent(fake, CONFIG, 2001)
    history = [Exchange(turn=turn, replies=replies)]
    agent.act(VIEW, history)
    system, user, said, *tools = fake.asked[0][0].messages
    assert (system["role"], user["content"]) == (
        "system",
        'Water the bed.\n\nRunbook:\n1. Water it: water({"bed":"A1"})',
    )
    assert (said["content"], [call["id"] for call in said["tool_calls"]]) == (
        "Now.",
        ["call_1_1", "call_1_2"],
    )
    assert [(tool["tool_call_id"], json.loads(tool["content"])) for tool in tools] == [
        ("call_1_1", {"bed": "A1"}),
        ("call_1_2", {"error": LOST}),
    ]


def test_an_interrupted_turn_shows_only_the_calls_that_were_made() -> None:
    """After a death the history may hold fewer calls than the answer: each shown call has its reply."""
    turn = Turn(said='{"text":""}', calls=[ToolCall(tool="water", arguments={})])
    fake = Fake(text="finish: done", finish="stop")
    ChatAgent(fake, CONFIG, 1).act(
        VIEW, [Exchange(turn=turn, replies=[Reply(phase=Phase.UNKNOWN, output=LOST)])]
    )
    said, tool = fake.asked[0][0].messages[2:]
    assert len(said["tool_calls"]) == 1
    assert said["tool_calls"][0]["id"] == tool["tool_call_id"]


def test_a_resumed_agent_draws_anew_but_sees_the_same() -> None:
    """The resume count enters the seed, never the messages; equal requests count up."""
    fake = Fake(text="finish: done", finish="stop")
    first, second = ChatAgent(fake, CONFIG, 2001), ChatAgent(fake, CONFIG, 2001, resume=1)
    first.act(VIEW, [])
    first.act(VIEW, [])
    second.act(VIEW, [])
    (one, a), (two, b), (three, c) = fake.asked
    assert (one, a, b, c) == (two, 1, 2, 1)
    assert one.sampling.seed != three.sampling.seed
    assert first.seen(VIEW, []) == second.seen(VIEW, [])
