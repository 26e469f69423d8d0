"""What a re-sealed log says of itself must be what it does."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from undolab.agents.base import Agent, Turn
from undolab.agents.chat import ChatAgent
from undolab.agents.direct import DirectAgent
from undolab.agents.line import DONE, TASK_LABEL, start
from undolab.agents.prompt import RULE
from undolab.agents.protocol import read_answer
from undolab.model.calls import FinalReport
from undolab.model.canon import canonical
from undolab.model.record import ChatAnswer, ChatCall, Completion, Sampling
from undolab.model.wire import ArmId, ArmStart, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.models.config import ApiConfig
from undolab.trials.arm import prepare, run_arm
from undolab.trials.labels import label_problems
from undolab.trials.schedule import schedule

FAULT = "RB-PAY-004/scripted:verify-first/script/POST_MUTATION_PRE_ACK/B2/1/fault"
CONTROL = "RB-PAY-004/scripted:verify-first/script/NONE/none/1/control"


def edit(
    lines: list[WireLine], kind: type[Any], change: Callable[[Any], Any], **where: Any
) -> list[WireLine]:
    """Return the lines with the first line of a kind changed."""
    place = next(
        i
        for i, line in enumerate(lines)
        if isinstance(line, kind) and all(getattr(line, name) == value for name, value in where.items())
    )
    return [*lines[:place], change(lines[place]), *lines[place + 1 :]]


def rename(**fields: Any) -> Callable[[ArmStart], ArmStart]:
    """Return a change of the arm's name."""
    return lambda start: msgspec.structs.replace(start, arm=msgspec.structs.replace(start.arm, **fields))


@pytest.mark.parametrize("arm", [CONTROL, FAULT])
def test_a_true_log_has_no_problem(corpus: Any, workflows: Any, tools: Any, arm: str) -> None:
    """What the harness writes does what it says."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")

    assert label_problems(workflow, tools, corpus[arm][0].log.lines) == []


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        (ArmStart, rename(seed=2), "the world's seed"),
        (ArmStart, rename(boundary="PRE_MUTATION"), "the faults are not those"),
        (ArmStart, rename(method="B0"), "a key that the arm's method does not send"),
        (ArmStart, rename(arm="control", boundary="NONE", method="none"), "a control has a fault"),
        (ArmStart, lambda start: msgspec.structs.replace(start, faults=[]), "the faults are not those"),
        (ReportEvent, lambda end: msgspec.structs.replace(end, report="unknown"), "the agent's last words"),
        (
            TurnEvent,
            lambda turn: msgspec.structs.replace(turn, said="{}"),
            "not the one that the agent's words",
        ),
        (
            WireEffectEvent,
            lambda event: msgspec.structs.replace(event, arguments={"sub_id": "other"}),
            "not the one that the agent's words",
        ),
        (WireEffectEvent, lambda event: msgspec.structs.replace(event, origin="method"), "a call of its own"),
    ],
)
def test_a_label_that_does_not_fit_is_found(
    corpus: Any, workflows: Any, tools: Any, kind: type[Any], change: Callable[[Any], Any], sentence: str
) -> None:
    """Another seed, boundary, method, schedule, report or call than the log's own is a problem."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")
    lines = edit(list(corpus[FAULT][0].log.lines), kind, change)

    assert any(sentence in problem for _, problem in label_problems(workflow, tools, lines))


class Wordy:
    """A model that follows the runbook, each life in words of its own.

    `kind`: `chat` makes one call a turn, `parallel` its first two in one turn, `transcript` writes lines, `own` is an agent of
    one's own, and `talking` one that says something of its own.
    """

    def __init__(self, plan: Any, kind: str, life: int) -> None:
        self.plan, self.kind, self.life = plan, kind, life

    def chat(self, request: Any, ordinal: int) -> ChatAnswer:
        done = sum(message["role"] == "tool" for message in request.messages)
        steps = (
            self.plan[done : done + 2] if self.kind == "parallel" and not done else self.plan[done : done + 1]
        )
        return ChatAnswer(
            text="" if steps else "All is well.\nfinish: done",
            # Blanks in the arguments are no difference in the call, but each life has its own words.
            calls=[
                ChatCall(name=s.tool, arguments=f"{self.life * ' '} {canonical(s.arguments).decode()}")
                for s in steps
            ],
            finish_reason="tool_calls" if steps else "stop",
            prompt_tokens=0,
            completion_tokens=1,
        )

    def complete(self, request: Any, ordinal: int) -> Completion:
        done = request.prompt.rpartition(RULE)[2].count("\n-> ")
        text = start(TASK_LABEL, done) + DONE
        if done < len(self.plan):
            step = self.plan[done]
            inner = ", ".join(f"{name}={canonical(value).decode()}" for name, value in step.arguments.items())
            text = f"{start(TASK_LABEL, done)}{step.tool}({inner})"
        return Completion(text=text, finish_reason="stop", tokens=[], logprobs=[], prompt_tokens=0)

    def act(self, view: Any, history: Any) -> Turn:
        done = sum(len(exchange.replies) for exchange in history)
        said = "I go on." if self.kind == "talking" else ""
        if done == len(self.plan):
            return read_answer(canonical({"report": "done", "said": said}))
        step = self.plan[done]
        return read_answer(
            canonical({"calls": [{"tool": step.tool, "arguments": step.arguments}], "said": said})
        )

    def seen(self, view: Any, history: Any) -> str:
        return str(len(history))


KINDS = {"chat": "F1", "parallel": "F1", "transcript": "F1", "own": "own", "talking": "own"}


def log_of(workflow: Any, tools: Any, kind: str, boundary: str = "NONE") -> list[WireLine]:
    """Return the log of an arm of such a model."""
    task = prepare(workflow, tools, prompt="runbook", examples="plain")
    config = ApiConfig(name="toy", url="http://127.0.0.1:9/v1", model="m", sampling=Sampling())

    def make(resume: int) -> Agent:
        wordy = Wordy(workflow.plan, kind, resume)
        if KINDS[kind] == "own":
            return wordy
        return (DirectAgent if kind == "transcript" else ChatAgent)(wordy, config, 1, resume)

    arm = ArmId(
        workflow=workflow.id,
        model="toy",
        framework=KINDS[kind],
        boundary=boundary,
        method="none",
        seed=1,
        arm="control" if boundary == "NONE" else "fault",
    )
    faults = schedule(workflow, tools, boundary, "none")
    return list(run_arm(task, arm, make(0), faults or (), revive=make).log.lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("boundary", ["NONE", "POST_ACK_PRE_CHECKPOINT", "POST_MUTATION_PRE_ACK"])
def test_every_kind_of_agent_leaves_a_true_log(workflows: Any, tools: Any, kind: str, boundary: str) -> None:
    """Chats with several calls a turn, transcripts, and agents of one's own are read as they speak, also after a death."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")
    lines = log_of(workflow, tools, kind, boundary)
    assert sum(isinstance(line, WireEffectEvent) for line in lines) > len(workflow.plan)
    assert next(line for line in lines if isinstance(line, ReportEvent)).report is FinalReport.DONE
    assert label_problems(workflow, tools, lines) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "talking"])
def test_words_that_ask_for_another_call_or_report_are_found(workflows: Any, tools: Any, kind: str) -> None:
    """A call or a report that the words do not ask for is a problem, whatever kind of agent speaks."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")
    lines = log_of(workflow, tools, kind)
    call = edit(lines, WireEffectEvent, lambda event: msgspec.structs.replace(event, arguments={"a": 1}))
    end = edit(lines, ReportEvent, lambda event: msgspec.structs.replace(event, report=FinalReport.UNKNOWN))
    mute = edit(lines, TurnEvent, lambda turn: msgspec.structs.replace(turn, said='{"calls":[]}'))
    for changed, words in (
        (call, "the call is not"),
        (end, "the agent's last words"),
        (mute, "the call is not"),
    ):
        if kind != "own" or changed is not mute:
            assert any(words in problem for _, problem in label_problems(workflow, tools, changed))
