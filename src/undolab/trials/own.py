"""Trials of an agent of one's own: how it is named, how it is started, and what the results say of it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from undolab.agents.base import Agent
from undolab.agents.own import Line, Memory, OwnAgent
from undolab.agents.process import ProcessLine
from undolab.agents.protocol import AgentFailureError
from undolab.agents.web import HttpLine
from undolab.model.canon import bytes_digest
from undolab.model.errors import UndolabError
from undolab.model.wire import ArmId
from undolab.model.workflow import Split, Workflow
from undolab.trials.arm import MakeAgent, Task

FRAMEWORK = "own"
"""Framework of every agent of one's own."""
SECONDS = 60.0
"""Time for an answer where nothing else is said."""
_FORM = "a Python function as FILE.py:FUNCTION, or an HTTP agent as http://HOST:PORT/"


class OwnRun(msgspec.Struct, frozen=True, kw_only=True):
    """`agent.json` beside the results: who ran on what."""

    model: str
    """Name of the agent in every verdict and log; it ends in `+test` where the run was allowed on TEST."""
    kind: Literal["python", "http"]
    digest: str
    """SHA-256 of the agent's file; empty for an HTTP agent."""
    seconds: float
    """Time for an answer."""
    workflows: list[str]
    test: bool
    """True if `--test` was given: the agent has seen the held-out split."""


def describe(agent: str, workflows: Sequence[Workflow], *, test: bool, seconds: float) -> OwnRun:
    """Return what the results of a run will say, after checking that it may run.

    Args:
        agent: `FILE.py:FUNCTION` or an HTTP address.
        workflows: what it is to run on.
        test: whether TEST is allowed.
        seconds: time for an answer.

    Raises:
        UndolabError: the agent is neither, cannot be loaded, or would run on TEST unasked.
    """
    held_out = [workflow.id for workflow in workflows if workflow.split is Split.TEST]
    if held_out and not test:
        raise UndolabError(
            f"{held_out[0]} is of the held-out TEST split; use --split dev, or add --test, which the results will say"
        )
    if seconds <= 0:
        raise UndolabError(f"--timeout {seconds:g} leaves no time for an answer; give seconds above 0")
    name, digest = "http", ""
    if not _is_address(agent):
        file, function = _place(agent)
        name, digest = re.sub(r"[^A-Za-z0-9_.-]", "-", file.stem), bytes_digest(file.read_bytes())
        line = ProcessLine(file, function, seconds, Path())
        try:
            line.start()
        except AgentFailureError as failure:
            raise UndolabError(f"{agent}: {failure}; mend the file") from failure
        finally:
            line.close()
    else:
        HttpLine(agent, seconds)
    return OwnRun(
        model=f"own:{name}{'+test' if test else ''}",
        kind="python" if digest else "http",
        digest=digest,
        seconds=seconds,
        workflows=[workflow.id for workflow in workflows],
        test=test,
    )


def make_own(agent: str, seconds: float) -> MakeAgent:
    """Return a maker of agents that ask this one; the arms of one trial share its answers to equal requests."""
    memories: dict[tuple[str, int], Memory] = {}

    def make(task: Task, arm: ArmId, resume: int = 0) -> Agent:
        trial = (task.workflow.id, arm.seed)
        if trial not in memories:
            memories.clear()
        return OwnAgent(_line(agent, seconds), arm.seed, resume, memories.setdefault(trial, {}))

    return make


def _line(agent: str, seconds: float) -> Line:
    if _is_address(agent):
        return HttpLine(agent, seconds)
    file, function = _place(agent)
    return ProcessLine(file, function, seconds, Path())


def _is_address(agent: str) -> bool:
    return agent.startswith(("http:", "https:"))


def _place(agent: str) -> tuple[Path, str]:
    name, _, function = agent.rpartition(":")
    file = Path(name)
    if not name.endswith(".py") or not function.isidentifier():
        raise UndolabError(f"no agent {agent!r}; give scripted[:POLICY], {_FORM}")
    if not file.is_file():
        raise UndolabError(f"{file} is not here; give the agent as {_FORM}")
    return file, function
