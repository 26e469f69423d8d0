"""Holds the workflows to two promises: each is solvable from what the agent may see, and nothing of the study leaks to it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from undolab.model.check import Found, check_tools, check_workflow
from undolab.model.fault import Boundary
from undolab.model.schema import pointer
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow

MAX_OBJECTIVE_WORDS = 60
MAX_SAY_WORDS = 10
"""Budgets of a small model's context."""

_LEAKS = re.compile(
    r"""
    \b(?: retr(?:y|ies|ied|ying) | re-?(?:send|sent|try|run) | again | once\s+more | recover\w* | fail\w* | fault\w* | errors?
      | erroneous | duplicat\w* | twice | lost | losing | time-?outs? | timed\s+out | crash\w* | idempoten\w* | verif\w*
      | make\s+sure | confirm\w* | double-?check\w* | roll(?:ed|ing)?[\s-]?backs? | undo\w* | compensat\w* | unknown\s+outcome
      | disconnect\w* | connection | checkpoint\w* | acknowledg\w* | injec\w* | benchmark\w* )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORKFLOW_ID = re.compile(r"\bRB-[A-Z]+-\d+\b")


def lint(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[str]:
    """Return every problem of a workflow and of the tools it allows, each as `<workflow id> <JSON pointer>: <text>`."""
    allowed = {name: tools[name] for name in workflow.tools if name in tools}
    found = check_workflow(workflow, tools) + unreadable(workflow, allowed) + leaks(workflow, allowed)
    found += [(f"/tools{at}", text) for at, text in check_tools(tools) if at.split("/")[1] in allowed]
    return [f"{workflow.id} {at}: {text}" for at, text in found]


def unreadable(workflow: Workflow, allowed: Mapping[str, ToolSpec]) -> Found:
    """Return each argument value of the plan that neither the objective states nor an allowed reader shows.

    A value that holds a JSON object or array is looked up name by name and leaf by leaf.
    """
    tables = {tool.entity.partition("/")[0] for tool in allowed.values() if not tool.writes}
    shown = " ".join(
        [workflow.objective, *_texts({t: rows for t, rows in workflow.fixture.items() if t in tables})]
    )
    if "git_branches" in tables:
        shown = " ".join([shown, *_texts(workflow.fixture.get("git_commits", []))])
    found = []
    for index, step in enumerate(workflow.plan):
        for name, value in step.arguments.items():
            missing = [leaf for leaf in _leaves(value) if not _stands_in(leaf, shown)]
            if missing:
                at = pointer(f"/plan/{index}/arguments", name)
                found.append(
                    (at, f"{missing[0]!r} is neither in the objective nor shown by an allowed reader")
                )
    return found


def leaks(workflow: Workflow, allowed: Mapping[str, ToolSpec]) -> Found:
    """Return each text for the agent that is too long, or that names the task, a boundary or a matter of recovery."""
    found = []
    if len(workflow.objective.split()) > MAX_OBJECTIVE_WORDS:
        found.append(("/objective", f"has more than {MAX_OBJECTIVE_WORDS} words"))
    for index, step in enumerate(workflow.plan):
        if len(step.say.split()) > MAX_SAY_WORDS:
            found.append((f"/plan/{index}/say", f"has more than {MAX_SAY_WORDS} words"))
    for at, text in _agent_texts(workflow, allowed):
        word = _leak(text)
        if word:
            found.append((at, f"says {word!r} to the agent"))
    return found


def _agent_texts(workflow: Workflow, allowed: Mapping[str, ToolSpec]) -> Iterator[tuple[str, str]]:
    yield "/objective", workflow.objective
    for index, step in enumerate(workflow.plan):
        yield f"/plan/{index}/say", step.say
        for text in _texts(step.arguments):
            yield f"/plan/{index}/arguments", text
    for text in _texts(workflow.fixture):
        yield "/fixture", text
    for index, name in enumerate(workflow.tools):
        if name in allowed:
            yield f"/tools/{index}", name.replace("_", " ")
            yield f"/tools/{index}", allowed[name].description
            for text in _texts(allowed[name].parameters):
                yield f"/tools/{index}", text


def _leak(text: str) -> str:
    hit = _LEAKS.search(text) or _WORKFLOW_ID.search(text)
    if hit:
        return hit.group()
    return next((boundary for boundary in Boundary if boundary is not Boundary.NONE and boundary in text), "")


def _texts(value: Any) -> Iterator[str]:
    """Yield every leaf of a JSON value as text, and the names within."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield str(key)
            yield from _texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def _leaves(value: Any) -> list[str]:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return list(_texts(json.loads(value)))
        except ValueError:
            return [value]
    return list(_texts(value))


def _stands_in(leaf: str, shown: str) -> bool:
    """Return True if `leaf` stands in `shown` as whole words: 5 does not stand in 52."""
    return re.search(rf"(?<![\w-]){re.escape(leaf)}(?![\w-])", shown) is not None
