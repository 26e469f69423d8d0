"""The transcript prompt: what is in it, and what must not be."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from undolab.agents.base import TaskView, ToolCall
from undolab.agents.examples import PLAIN, VARIANTS
from undolab.agents.line import DONE, TASK_LABEL, read_line, start, write_call, write_reply
from undolab.agents.messages import write_messages
from undolab.agents.prompt import Layout, write_prompt
from undolab.model.calls import LOST, Phase, Reply
from undolab.model.errors import UndolabError

ROOT = Path(__file__).parents[2]


def test_the_runbook_shows_the_call_as_the_log_would(view: TaskView) -> None:
    """The runbook writes each line as the model should, arguments in the schema's order, the finish counted too."""
    prompt = write_prompt(view, [], "plain", 400)
    assert prompt.endswith(
        "\n\nTools: get_box, set_level\nTask: Set the level of box b1.\nRunbook:\n"
        'task step one: set_level(box="b1", level=4)\ntask step two: finish: done\n---\n'
    )


def test_objective_mode_shows_no_runbook(view: TaskView) -> None:
    """Without steps neither task nor examples show a runbook; the tools are shown with their arguments instead."""
    prompt = write_prompt(msgspec.structs.replace(view, steps=[]), [], "plain", 400)
    assert "Runbook" not in prompt
    assert prompt.endswith(
        "Tools: get_box(box), set_level(box, level)\nTask: Set the level of box b1.\n---\n"
    )
    assert prompt.count("finish: done") == len(PLAIN)


@pytest.mark.parametrize("layout", [write_prompt, write_messages])
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_each_label_starts_lines_of_one_task_alone(view: TaskView, layout: Layout, variant: str) -> None:
    """Each example counts by a label of its own, and its log and runbook say the same lines, an answer lost or not."""
    prompt = layout(view, [], variant, 400)
    labels = [example.label for example in VARIANTS[variant]]
    assert len({*labels, TASK_LABEL}) == len(labels) + 1
    for example in VARIANTS[variant]:
        lines = re.findall(rf"^{example.label} step .*$", prompt, re.MULTILINE)
        runbook, log = lines[: len(example.steps) + 1], lines[len(example.steps) + 1 :]
        read = [line for place, line in enumerate(log) if line not in log[:place]]
        assert set(runbook) <= set(log)
        assert read[-1] == runbook[-1] == start(example.label, len(example.steps)) + DONE
    assert len(re.findall(rf"^{TASK_LABEL} step ", prompt, re.MULTILINE)) == len(view.steps) + 1


def test_a_runbook_longer_than_the_numbers_is_refused(view: TaskView) -> None:
    """Twelve steps and the finish have a number each; one step more is refused in one sentence."""
    longest = msgspec.structs.replace(view, steps=view.steps * 12)
    assert "task step thirteen: finish: done\n" in write_prompt(longest, [], "plain", 400)
    with pytest.raises(UndolabError, match="13 or more steps"):
        write_prompt(msgspec.structs.replace(view, steps=view.steps * 13), [], "plain", 400)


@pytest.mark.parametrize("layout", [write_prompt, write_messages])
def test_the_variants_differ_after_the_lost_answer_alone(view: TaskView, layout: Layout) -> None:
    """Examples with a lost answer are the plain ones but for what follows the loss: the same call, or a read first."""
    shown = {variant: layout(view, [], variant, 400).splitlines() for variant in VARIANTS}
    for variant in ("retry", "check"):
        lines = shown[variant]
        replies = ("-> ", "ok ")
        assert [line for line in shown["plain"] if line not in lines and not line.startswith(replies)] == []
        lost = [place for place, line in enumerate(lines) if "error connection_lost" in line]
        calls = {line for line in lines if re.match(r"[a-z]+ step ", line)}
        assert len(lost) == 2
        for place in lost:
            before = next(line for line in reversed(lines[:place]) if line in calls)
            after = next(line for line in lines[place:] if line in calls)
            if variant == "retry":
                assert after == before
            else:
                assert re.search(r": get_", after)
                assert after.split(": ")[0] == before.split(": ")[0]
                # The lamp was set, the book was not lent: only that call is made again.
                assert (before in lines[place:]) == before.startswith("book")


@pytest.mark.parametrize("runbook", [True, False])
def test_plain_examples_hold_no_failure(view: TaskView, runbook: bool) -> None:
    """The plain examples show neither an error nor a word of failing or trying again."""
    shown = view if runbook else msgspec.structs.replace(view, steps=[])
    prompt = write_prompt(shown, [], "plain", 400).lower()
    for word in ("error", "fail", "lost", "retry", "again", "timeout", "unknown", "not done", "duplicate"):
        assert word not in prompt
    for example in VARIANTS["plain"]:
        assert len(example.steps) == len(example.outputs)


def test_examples_use_no_tool_of_the_benchmark() -> None:
    """No tool of a worked example is a tool of the benchmark."""
    real = set()
    for path in (ROOT / "data" / "tools").glob("*.yaml"):
        real |= set(yaml.safe_load(path.read_text(encoding="utf-8")))
    shown = {tool.name for examples in VARIANTS.values() for example in examples for tool in example.tools}
    assert real
    assert not real & shown


def test_errors_are_shown_alike(view: TaskView, exchange: Any) -> None:
    """A lost answer and a refusal are shown by code and message, on one line."""
    lost = exchange("task step one: a()", Reply(phase=Phase.UNKNOWN, output=LOST))
    refused = exchange(
        "task step one: a()", Reply(phase=Phase.FAIL, output={"code": "c", "message": "two\nlines"})
    )
    prompt = write_prompt(view, [lost, refused], "plain", 400)
    assert prompt.endswith(
        "task step one: a()\n-> error connection_lost: connection lost before a response was received\n"
        "task step one: a()\n-> error c: two lines\n"
    )


def test_a_long_reply_is_cut_at_the_same_place() -> None:
    """A reply longer than the limit is cut at the limit and says so; one at the limit is whole."""
    reply = Reply(phase=Phase.OK, output={"text": "x" * 50})
    whole = '-> ok {"text":"' + "x" * 50 + '"}'
    assert write_reply(reply, 61) == whole
    assert write_reply(reply, 60) == whole[:-1] + "… (cut)"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values, values)
def test_a_written_call_reads_back(box: Any, level: Any) -> None:
    """Whatever the arguments hold, a call is written on one line and read back equal."""
    from tests.agents.conftest import VIEW

    tool = VIEW.tools[1]
    line = start(TASK_LABEL, 1) + write_call(tool, {"level": level, "box": box})
    assert "\n" not in line
    assert read_line(line, {tool.name}) == ToolCall(tool=tool.name, arguments={"box": box, "level": level})


@given(st.data())
def test_replies_are_one_line(data: st.DataObject) -> None:
    """No output of a tool can write a line of its own into the log."""
    output = data.draw(st.dictionaries(st.text(max_size=5), values, max_size=3))
    try:
        text = write_reply(Reply(phase=Phase.OK, output=output), 400)
    except (UnicodeEncodeError, ValueError):
        return
    assert len(re.findall(r"[\n\r]", text)) == 0
    message = data.draw(st.text())
    assert "\n" not in write_reply(Reply(phase=Phase.FAIL, output={"code": "c", "message": message}), 400)
