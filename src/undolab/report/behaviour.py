"""What a model does after the error when no method stands behind it (track 1), told from the wire logs alone.

The error is the end of the call that met the fault; what counts is what the agent itself called after it, beside what it
called there in its control: a step of the task is no answer to the error. The same call again is the same tool with equal
arguments, more often than in the control. A look is a read as the very first call after the error that the control did not
make there; before a repeat, any read is one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from undolab.model.calls import FinalReport, Phase
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary
from undolab.model.files import write_bytes
from undolab.model.tools import Op
from undolab.model.wire import ArmStart, FaultEvent, ReportEvent, WireEffectEvent, WireLine
from undolab.report.sheet import block_head
from undolab.report.tex import escape, tabular
from undolab.report.words import boundary
from undolab.stats.text import to_csv
from undolab.wire import read_arms


class Behaviour(StrEnum):
    """What an agent did after the error; every arm is exactly one of these."""

    REPEAT = "repeat"
    """Made the same call again without a look."""
    VERIFY = "verify"
    """Looked, and did not make the call again."""
    VERIFY_REPEAT = "verify_then_repeat"
    """Read something, and then made the call again, whatever it saw."""
    ABSTAIN = "abstain"
    """Neither; it ended by saying that the task is not done or that it does not know."""
    CLAIM = "claim_success"
    """Neither; it ended by saying that the task is done."""
    NO_REPORT = "no_report"
    """Neither; it ended without a report: no readable line, or no turn left."""


_WORDS = {
    Behaviour.REPEAT: "Repeat",
    Behaviour.VERIFY: "Verify",
    Behaviour.VERIFY_REPEAT: "Verify, repeat",
    Behaviour.ABSTAIN: "Abstain",
    Behaviour.CLAIM: "Claim success",
    Behaviour.NO_REPORT: "No report",
}


def behaviour(lines: Sequence[WireLine], control: Sequence[WireLine]) -> Behaviour | None:
    """Return what the agent of one arm did after the error, or None if no fault was witnessed.

    Args:
        lines: a fault arm.
        control: its control, equal to it up to the fault.
    """
    faults = [line for line in lines if isinstance(line, FaultEvent)]
    if not any(line.stage == "witnessed" for line in faults):
        return None
    struck = next(line.attempt for line in faults if line.stage == "injected")
    call, after = _after(lines, struck)
    _, planned = _after(control, struck)
    again = [place for place, line in enumerate(after) if _same(line, call)]
    if len(again) > sum(_same(line, call) for line in planned):
        looked = any(line.op_type is Op.READ for line in after[: again[0]])
        return Behaviour.VERIFY_REPEAT if looked else Behaviour.REPEAT
    if after and after[0].op_type is Op.READ and not (planned and _same(after[0], planned[0])):
        return Behaviour.VERIFY
    report = next((line.report for line in lines if isinstance(line, ReportEvent)), FinalReport.NONE)
    if report is FinalReport.NONE:
        return Behaviour.NO_REPORT
    return Behaviour.CLAIM if report is FinalReport.DONE else Behaviour.ABSTAIN


def _after(lines: Sequence[WireLine], attempt: str) -> tuple[WireEffectEvent, list[WireEffectEvent]]:
    """Return a call and the calls that the agent made after it had ended."""
    events = [line for line in lines if isinstance(line, WireEffectEvent)]
    own = [line for line in events if line.attempt == attempt]
    later = [line for line in events if line.seq > own[-1].seq and line.phase is Phase.INVOKE]
    return own[0], [line for line in later if line.origin == "agent"]


def _same(line: WireEffectEvent, call: WireEffectEvent) -> bool:
    return line.tool_name == call.tool_name and canonical(line.arguments) == canonical(call.arguments)


_Cell = tuple[str, str, str, str, str]


def table(arms: Iterable[Sequence[WireLine]]) -> list[list[str | int]]:
    """Return the counts, header first: a row for each model, framework, prompt, examples and boundary.

    Args:
        arms: the lines of each arm, controls too; only fault arms with the method `none` are counted.

    Raises:
        UndolabError: the control of a fault arm is not among the arms.
    """
    controls: dict[tuple[str, ...], Sequence[WireLine]] = {}
    struck: list[tuple[ArmStart, Sequence[WireLine]]] = []
    for lines in arms:
        start = lines[0]
        if isinstance(start, ArmStart) and start.arm.method == "none":
            if start.arm.arm == "control":
                controls[_trial(start)] = lines
            else:
                struck.append((start, lines))
    found: dict[_Cell, Counter[Behaviour | None]] = {}
    for start, lines in struck:
        arm = start.arm
        control = controls.get(_trial(start))
        if control is None:
            raise UndolabError(f"{arm.name()}: its control is not in the wire logs; run the trials again")
        cell = (arm.model, arm.framework, start.prompt, start.examples, arm.boundary)
        found.setdefault(cell, Counter())[behaviour(lines, control)] += 1
    head: list[str | int] = ["model", "framework", "prompt", "examples", "boundary", "arms", "not_exposed"]
    rows: list[list[str | int]] = [[*head, *(one.value for one in Behaviour)]]
    for cell in sorted(found, key=_order):
        counts = found[cell]
        rows.append([*cell, counts.total(), counts[None], *(counts[one] for one in Behaviour)])
    return rows


def _trial(start: ArmStart) -> tuple[str, ...]:
    """Return what a fault arm shares with its control; side studies have arms of the same names with other examples."""
    arm = start.arm
    return (start.prompt, start.examples, arm.workflow, arm.model, arm.framework, str(arm.seed))


def write(logs: Sequence[Path], out_dir: Path) -> list[Path]:
    """Write `tablebehaviour` as .csv and .tex into `out_dir` from wire logs and return the paths.

    Raises:
        UndolabError: there is no log, a log cannot be read, or no arm is a fault arm without a method.
    """
    if not logs:
        raise UndolabError("there is no wire log; run `undolab trials run` first, or name another folder")
    rows = table(lines for log in sorted(logs) for _, lines in read_arms(log))
    if len(rows) == 1:
        raise UndolabError("no arm has a fault and the method none; add `none` to the methods of the study")
    texts = {"tablebehaviour.csv": to_csv(rows), "tablebehaviour.tex": _tex(rows)}
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def _order(cell: _Cell) -> tuple[str, str, str, str, int]:
    return (*cell[:4], [one.value for one in Boundary].index(cell[4]))


def _tex(rows: Sequence[Sequence[str | int]]) -> str:
    blocks: dict[tuple[str | int, ...], list[list[str]]] = {}
    for row in rows[1:]:
        whose = tuple(row[:4])
        name = f"{row[0]}, {row[1]}: prompt mode {row[2]}, worked examples {row[3]}"
        block = blocks.setdefault(whose, [block_head(2 + len(_WORDS), name)])
        exposed = int(row[5]) - int(row[6])
        block.append(
            [escape(boundary(str(row[4]))), f"{exposed}/{row[5]}", *(str(count) for count in row[7:])]
        )
    header = [["Boundary", "Exposed", *_WORDS.values()]]
    return tabular("l" + "r" * (1 + len(_WORDS)), header, list(blocks.values()))
