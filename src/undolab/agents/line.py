"""One line of the transcript: how a call and a reply are written, and how the model's line is read back."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from undolab.agents.base import PublicTool, ToolCall
from undolab.model.calls import FinalReport, Phase, Reply
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError

REPORTS = {"done": FinalReport.DONE, "not done": FinalReport.NOT_DONE, "unknown": FinalReport.UNKNOWN}
"""What may follow `finish: `."""

NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen".split()
"""How lines are counted: `task step two: `. A small model copies a line the better the rarer its start is, so each worked
example has a label of its own, only the task's runbook starts as its log does, and the end is counted too."""
TASK_LABEL = "task"

_START = re.compile(rf"{TASK_LABEL} step (?:{'|'.join(NUMBERS)}): ")
_CALL = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)\(")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=")
_FINISH = "finish: "
DONE = _FINISH + "done"
"""How an answered task ends."""


class BadLineError(ValueError):
    """The line is no call and no finish; the text says why."""


def start(label: str, place: int) -> str:
    """Return what the line at `place` (from 0) of a runbook or log begins with.

    Raises:
        UndolabError: there is no number so high; the grammar has none either.
    """
    if place >= len(NUMBERS):
        raise UndolabError(
            f"a runbook of {len(NUMBERS)} or more steps has no number for its last line; shorten it, or use objective mode."
        )
    return f"{label} step {NUMBERS[place]}: "


def argument_names(parameters: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the required and the optional arguments, each in the order of the schema: the order of every call."""
    wanted = set(parameters.get("required", []))
    names = list(parameters.get("properties", {}))
    return [name for name in names if name in wanted], [name for name in names if name not in wanted]


def write_call(tool: PublicTool, arguments: Mapping[str, Any]) -> str:
    """Return `tool(name=value, …)`, the values as JSON."""
    required, optional = argument_names(tool.parameters)
    known = [name for name in (*required, *optional) if name in arguments]
    rest = sorted(arguments.keys() - set(known))
    inner = ", ".join(f"{name}={canonical(arguments[name]).decode()}" for name in (*known, *rest))
    return f"{tool.name}({inner})"


def write_reply(reply: Reply, limit: int) -> str:
    """Return `-> ok {…}` or `-> error code: message`; what is longer than `limit` characters is cut."""
    if reply.phase is Phase.OK:
        head, text = "-> ok ", canonical(reply.output).decode()
    else:
        head = "-> error "
        text = " ".join(f"{reply.output.get('code', 'error')}: {reply.output.get('message', '')}".split())
    return head + (text if len(text) <= limit else f"{text[:limit]}… (cut)")


def read_line(text: str, tools: Collection[str]) -> ToolCall | FinalReport:
    """Return the call or the final report that a line of the model stands for.

    Raises:
        BadLineError: it is neither.
    """
    head = _START.match(text)
    if head is None:
        raise BadLineError("an empty line" if not text.strip() else "not a call and not a finish")
    if text.startswith(_FINISH, head.end()):
        report = REPORTS.get(text[head.end() + len(_FINISH) :])
        if report is None:
            raise BadLineError("a finish that is not done, not done or unknown")
        return report
    head = _CALL.match(text, head.end())
    if head is None:
        raise BadLineError("not a call and not a finish")
    tool = head[1]
    if tool not in tools:
        raise BadLineError(f"an unknown tool, {tool}")
    return ToolCall(tool=tool, arguments=_read_arguments(text, head.end()))


def _read_arguments(text: str, at: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    try:
        while not text.startswith(")", at) or arguments:
            name = _NAME.match(text, at)
            if name is None or name[1] in arguments:
                raise BadLineError("bad arguments")
            arguments[name[1]], at = decoder.raw_decode(text, name.end())
            if not text.startswith(", ", at):
                break
            at += 2
        # What has no canonical form (a lone surrogate, an integer beyond 2**53) can be neither logged nor compared.
        canonical(arguments)
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadLineError("bad arguments") from error
    if text[at:] != ")":
        raise BadLineError("bad arguments")
    return arguments


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made


def _no_constant(_: str) -> Any:
    raise ValueError
