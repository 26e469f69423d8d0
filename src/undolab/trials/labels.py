"""Does an arm do what its label says? A chain binds lines to each other; this binds them to the arm's name."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from undolab.agents.base import ToolCall
from undolab.agents.line import BadLineError, read_line
from undolab.model.calls import FinalReport, Phase
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.wire import ArmStart, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Workflow
from undolab.recovery import declared
from undolab.trials.schedule import schedule


def label_problems(
    workflow: Workflow, tools: Mapping[str, ToolSpec], lines: Sequence[WireLine]
) -> list[tuple[int, str]]:
    """Return each problem with its sequence number.

    Args:
        workflow: the task that the arm names.
        tools: the catalogue.
        lines: the arm's log.
    """
    start = lines[0]
    if not isinstance(start, ArmStart):
        return []
    problems = [(start.seq, problem) for problem in _start(start, workflow, tools)]
    adds = declared(start.arm.method)
    turns: dict[int, TurnEvent] = {}
    said = ""
    for line in lines:
        if isinstance(line, TurnEvent):
            # An agent that resumes may come to a turn again, and say something else.
            problems += [(line.seq, problem) for problem in _resumed(line, turns, start.arm.framework)]
            turns[line.turn] = line
            said = line.said
        elif isinstance(line, WireEffectEvent) and line.phase is Phase.INVOKE:
            problems += [(line.seq, problem) for problem in _call(line, adds, turns, start.arm.framework)]
        elif isinstance(line, ReportEvent) and line.reason == "finished" and _report(said) != line.report:
            problems.append(
                (line.seq, f"the report is {line.report}, but the agent's last words are {said!r}")
            )
    return problems


def _report(said: str) -> str:
    return said.removeprefix("finish: ").replace(" ", "_")


def _start(start: ArmStart, workflow: Workflow, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    arm = start.arm
    if start.world_seed != arm.seed:
        yield f"the world's seed is {start.world_seed}, the arm's name says {arm.seed}"
    if arm.arm == "fault":
        if start.faults != schedule(workflow, tools, arm.boundary, arm.method):
            yield f"the faults are not those that {arm.boundary} schedules for method {arm.method}"
    elif start.faults or arm.boundary != Boundary.NONE:
        yield "a control has a fault or a boundary"
    if arm.arm == "control" and arm.method != "none":
        yield f"a control has method {arm.method}"


def _resumed(line: TurnEvent, turns: Mapping[int, TurnEvent], framework: str) -> Iterator[str]:
    """F1 asks its model again after a death, with the count of its deaths in the seed, so in the key of the record.

    F2 does not: its checkpoint holds the answer.
    """
    before = turns.get(line.turn)
    if framework == "F1" and before is not None and line.record and line.record == before.record:
        yield "the agent has resumed, but its answer is the record of its earlier life"


def _call(
    line: WireEffectEvent, adds: frozenset[str], turns: Mapping[int, TurnEvent], framework: str
) -> Iterator[str]:
    if line.key is not None and "key" not in adds:
        yield "the call has a key that the arm's method does not send"
    if line.origin != "agent":
        if "probes" not in adds:
            yield "the method made a call of its own, which it does not do"
        return
    turn = turns.get(int(line.attempt.partition(".")[0]))
    wanted = None if turn is None else _said(turn.said, framework, line.tool_name)
    if wanted != ToolCall(tool=line.tool_name, arguments=line.arguments):
        yield "the call is not the one that the agent's words ask for"


def _said(said: str, framework: str, tool: str) -> ToolCall | FinalReport | None:
    try:
        if framework == "script":
            return msgspec.json.decode(said, type=ToolCall)
        return read_line(said, {tool})
    except (msgspec.DecodeError, BadLineError):
        return None
