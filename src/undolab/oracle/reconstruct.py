"""Reconstruction: the verdict of an arm from its wire log and the fixture alone, and everything in the log that cannot be.

The committed calls are folded over the fixture's rows by a second implementation of every tool; each output, effect, digest,
flag and link is held against the fold. No stored verdict is read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from undolab.model.calls import LedgerRow
from undolab.model.canon import digest
from undolab.model.errors import UndolabError
from undolab.model.play import tools_in_play
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import WireLine, WorldEvent
from undolab.model.workflow import Workflow
from undolab.oracle.attempts import Replay
from undolab.oracle.exposure import DEATHS
from undolab.oracle.fold import Fold
from undolab.oracle.history import History, history
from undolab.oracle.judge import judge
from undolab.oracle.stages import stage_problems
from undolab.wire import chain_problems


class Reconstruction(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says, and what is wrong with it."""

    verdict: Verdict | None
    """From the fold's commits and state; None where the log is too broken to fold."""
    problems: list[str]
    """One sentence each, beginning with the arm and the sequence number; empty if the log holds together."""
    commits: list[LedgerRow] = []
    """What the fold committed: the ledger that the world must have written."""


def reconstruct(
    workflow: Workflow, tools: Mapping[str, ToolSpec], lines: Sequence[WireLine]
) -> Reconstruction:
    """Recompute the verdict of one arm.

    Args:
        workflow: The task as data.
        tools: The specs of all tools.
        lines: The arm's log.
    """
    try:
        log = history(lines)
    except UndolabError as error:
        return Reconstruction(verdict=None, problems=[str(error)])
    arm = log.start.arm.name()
    problems = [f"{arm}: {problem}" for problem in chain_problems(lines)]
    allowed = tools_in_play(workflow.tools, tools, log.start.arm.method)
    problems += [
        f"{arm}, seq {log.start.seq}: {problem}" for problem in _start_problems(log, workflow, allowed)
    ]
    replay = Replay(allowed, Fold(workflow.fixture, allowed, log.start.world_seed), log.refused())
    for event in log.happenings():
        found = replay.happen(event) if isinstance(event, WorldEvent) else replay.check(event)
        problems += [f"{arm}, seq {event.seq}: {problem}" for problem in found]
    problems += [f"{arm}, seq {seq}: {problem}" for seq, problem in replay.unfinished()]
    committed = Counter(row.attempt for row in replay.commits)
    problems += [f"{arm}, seq {seq}: {problem}" for seq, problem in stage_problems(log, committed)]
    problems += [f"{arm}, seq {seq}: {problem}" for seq, problem in _turn_problems(log)]
    state = replay.state()
    if digest(state) != log.report.final_state:
        problems.append(
            f"{arm}, seq {log.report.seq}: the final state is not the one that the log's calls lead to"
        )
    return Reconstruction(
        verdict=judge(workflow, allowed, lines, replay.commits, state),
        problems=problems,
        commits=replay.commits,
    )


def _start_problems(log: History, workflow: Workflow, allowed: Mapping[str, ToolSpec]) -> list[str]:
    start = log.start
    problems = []
    if start.arm.workflow != workflow.id:
        problems.append(f"the log is of workflow {start.arm.workflow}, not {workflow.id}")
    if start.workflow_digest != digest(workflow):
        problems.append("the workflow's digest is not that of the workflow given")
    if start.tools_digest != digest(list(allowed.values())):
        problems.append("the tools' digest is not that of the tools given")
    return problems


def _turn_problems(log: History) -> list[tuple[int, str]]:
    problems = []
    number = resume = 0
    for turn in log.turns:
        told = turn.resume == resume or turn.turn == number + 1
        number += told
        if turn.turn != number:
            problems.append((turn.seq, f"turn {turn.turn} stands where turn {number} belongs"))
        if turn.resume not in (resume, resume + 1):
            problems.append((turn.seq, f"resume {turn.resume} comes after resume {resume}"))
        resume = turn.resume
    deaths = sum(plan.boundary in DEATHS for plan in log.start.faults)
    if resume > deaths:
        problems.append(
            (log.report.seq, f"the agent resumed {resume} times, its schedule has {deaths} deaths")
        )
    if log.report.turns != len(log.turns):
        problems.append(
            (log.report.seq, f"the report counts {log.report.turns} turns, the log {len(log.turns)}")
        )
    return problems
