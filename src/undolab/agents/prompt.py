"""The transcript prompt: worked examples, the task, and the log so far, which the model continues by one line."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from undolab.agents.base import Exchange, PublicTool, TaskView
from undolab.agents.examples import VARIANTS, Example
from undolab.agents.line import DONE, TASK_LABEL, argument_names, start, write_call, write_reply
from undolab.model.calls import Reply
from undolab.model.workflow import Step

STOP = "\n"
"""What ends the model's line."""

RULE = "---\n"
"""Stands between runbook and log: a word there is taken for a step."""

Layout: TypeAlias = Callable[[TaskView, Sequence[Exchange], str, int], str]
"""Writes the prompt of the next turn from the task, the history, the variant of examples and the length of a reply."""


def write_prompt(view: TaskView, history: Sequence[Exchange], examples: str, output_chars: int) -> str:
    """Return the whole prompt, up to where the model's next line begins.

    Args:
        view: The task; with steps the examples show theirs too, without they show none.
        history: What was said and answered so far.
        examples: Name of the variant of worked examples.
        output_chars: Length at which a reply is cut.
    """
    runbook = bool(view.steps)
    parts = [_write_example(example, runbook, output_chars) for example in VARIANTS[examples]]
    parts.append(write_task(view.objective, view.tools, view.steps, TASK_LABEL) + RULE)
    for exchange in history:
        parts.append(exchange.turn.said + "\n")
        parts.extend(write_reply(reply, output_chars) + "\n" for reply in exchange.replies)
    return "".join(parts)


def write_task(objective: str, tools: Sequence[PublicTool], steps: Sequence[Step], label: str) -> str:
    """Return the tools, the objective and the runbook, a line each; `label` is what the calls are counted with.

    Beside a runbook the tools' names are enough: with arguments a small model copies them instead of the steps.
    """
    names = [tool.name if steps else _signature(tool) for tool in tools]
    text = f"Tools: {', '.join(names)}\nTask: {' '.join(objective.split())}\n"
    if steps:
        text += "Runbook:\n" + "".join(line + "\n" for line in write_steps(tools, steps, label))
    return text


def write_steps(tools: Sequence[PublicTool], steps: Sequence[Step], label: str) -> list[str]:
    """Return each step as the line that the model would write, and the line that ends it: a length is hard to count."""
    by_name = {tool.name: tool for tool in tools}
    calls = [write_call(by_name[step.tool], step.arguments) for step in steps]
    return [start(label, place) + what for place, what in enumerate([*calls, DONE])]


def write_log(example: Example) -> Iterator[tuple[str, Reply]]:
    """Yield each call of an example as the line that the model would write, and its reply."""
    by_name = {tool.name: tool for tool in example.tools}
    for place, step, reply in example.log():
        yield start(example.label, place) + write_call(by_name[step.tool], step.arguments), reply


def _write_example(example: Example, runbook: bool, output_chars: int) -> str:
    steps = example.steps if runbook else []
    text = write_task(example.objective, example.tools, steps, example.label) + RULE
    for line, reply in write_log(example):
        text += f"{line}\n{write_reply(reply, output_chars)}\n"
    return f"{text}{start(example.label, len(example.steps))}{DONE}\n\n"


def _signature(tool: PublicTool) -> str:
    required, optional = argument_names(tool.parameters)
    return f"{tool.name}({', '.join([*required, *(name + '?' for name in optional)])})"
