"""F2's prompt layout: the conversation as messages under the names of who speaks, where F1 writes one log.

Examples and task say the same as in F1; only the layout is another, so that the frameworks can be compared.
"""

from collections.abc import Sequence

from undolab.agents.base import Exchange, TaskView
from undolab.agents.examples import VARIANTS
from undolab.agents.line import DONE, TASK_LABEL, start, write_reply
from undolab.agents.prompt import write_log, write_task
from undolab.model.calls import Reply

_HUMAN = "[human]\n"
_AI = "[ai]\n"
_TOOL = "[tool]\n"


def write_messages(view: TaskView, history: Sequence[Exchange], examples: str, output_chars: int) -> str:
    """Return the whole prompt, up to where the model's next message begins.

    Args:
        view: the task; with steps the examples show theirs too, without they show none.
        history: what was said and answered so far.
        examples: name of the variant of worked examples.
        output_chars: length at which a reply is cut.
    """
    parts: list[str] = []
    for one in VARIANTS[examples]:
        steps = one.steps if view.steps else []
        parts.append(_HUMAN + write_task(one.objective, one.tools, steps, one.label))
        for line, reply in write_log(one):
            parts.append(f"{_AI}{line}\n{_write_tool(reply, output_chars)}")
        parts.append(f"{_AI}{start(one.label, len(one.steps))}{DONE}\n\n")
    parts.append(_HUMAN + write_task(view.objective, view.tools, view.steps, TASK_LABEL))
    for exchange in history:
        parts.append(f"{_AI}{exchange.turn.said}\n")
        parts.extend(_write_tool(reply, output_chars) for reply in exchange.replies)
    return "".join(parts) + _AI


def _write_tool(reply: Reply, output_chars: int) -> str:
    return f"{_TOOL}{write_reply(reply, output_chars).removeprefix('-> ')}\n"
