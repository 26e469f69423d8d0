"""Does an arm do what its label says? A chain binds lines to each other; this binds them to the arm's name."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from undolab.agents.base import ToolCall
from undolab.agents.chat import read_words
from undolab.agents.line import read_line
from undolab.model.calls import FinalReport, Phase
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.wire import ArmStart, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Workflow
from undolab.recovery import declared
from undolab.trials.schedule import schedule


class _Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an agent of one's own ends, where it says nothing else."""

    report: FinalReport


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
        elif isinstance(line, ReportEvent) and line.reason == "finished":
            words = _asked(said, start.arm.framework, "")
            if words is not None and words != line.report:
                problems.append(
                    (line.seq, f"the report is {line.report}, but the agent's last words are {said!r}")
                )
    return problems


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
    number, position, _ = line.attempt.split(".")
    turn = turns.get(int(number))
    words = [] if turn is None else _asked(turn.said, framework, line.tool_name)
    if words is None:
        return
    made = ToolCall(tool=line.tool_name, arguments=line.arguments)
    if not isinstance(words, list) or words[int(position) - 1 : int(position)] != [made]:
        yield "the call is not the one that the agent's words ask for"


def _asked(said: str, framework: str, tool: str) -> list[ToolCall] | FinalReport | None:
    """Return the calls or the report that an agent's words stand for; no call where they cannot be read.

    None where words are free: an agent of one's own may say what it likes beside its calls.
    """
    try:
        if framework == "own":
            return _read_own(said)
        if framework == "script":
            return _read_script(said)
        if said.startswith("{"):
            turn = read_words(said)
            return turn.calls if turn.report is None else turn.report
        line = read_line(said, {tool})
    except (msgspec.DecodeError, ValueError):
        return []
    return line if isinstance(line, FinalReport) else [line]


def _read_script(said: str) -> list[ToolCall] | FinalReport:
    if said.startswith("finish: "):
        return FinalReport(said.removeprefix("finish: "))
    return [msgspec.json.decode(said, type=ToolCall)]


def _read_own(said: str) -> list[ToolCall] | FinalReport | None:
    try:
        words = msgspec.json.decode(said, type=list[ToolCall] | _Report)
    except msgspec.DecodeError:
        return None
    return words.report if isinstance(words, _Report) else words
