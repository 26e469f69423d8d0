"""What an agent does after the error, told from its wire log alone."""

import csv
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.calls import FinalReport, Phase
from undolab.model.errors import UndolabError
from undolab.model.tools import Op
from undolab.model.wire import ArmId, ArmStart, FaultEvent, ReportEvent, WireEffectEvent, WireLine
from undolab.report.behaviour import Behaviour, behaviour, table, write
from undolab.wire import LogWriter, read_arms

ROOT = Path(__file__).parents[2]
WRITE = ("pay", Op.UPDATE, {"to": "a", "sum": 5})
OTHER = ("pay", Op.UPDATE, {"to": "a", "sum": 6})
READ = ("get", Op.READ, {"of": "a"})


def arm(
    *after: Any, report: FinalReport = FinalReport.DONE, exposed: bool = True, **name: Any
) -> list[WireLine]:
    """Return the log of an arm whose `pay` met the fault, and which then made these calls."""
    log = LogWriter()
    whose = {"workflow": "W", "model": "m", "framework": "F1", "boundary": "PRE_MUTATION", "method": "none"}
    log.add(
        ArmStart,
        arm=ArmId(**{**whose, "seed": 1, "arm": "fault", **name}),
        workflow_digest="",
        tools_digest="",
        world_seed=1,
        prompt="runbook",
        examples="plain",
    )
    for number, (tool, op, arguments) in enumerate((READ, WRITE, *after), start=1):
        attempt = f"{number}.1.1"
        fields = {"attempt": attempt, "call_index": 1, "tool_name": tool, "op_type": op, "at_ms": 0}
        struck = exposed and number == 2
        log.add(WireEffectEvent, phase=Phase.INVOKE, arguments=arguments, **fields)
        for stage in ("armed", "injected") if struck else ():
            log.add(FaultEvent, fault=0, stage=stage, attempt=attempt)
        phase = Phase.UNKNOWN if struck else Phase.OK
        log.add(WireEffectEvent, phase=phase, arguments=arguments, **fields)
        if struck:
            log.add(FaultEvent, fault=0, stage="witnessed", attempt=attempt)
    log.add(ReportEvent, report=report, reason="", turns=1, final_state="")
    return log.lines


def control(*after: Any) -> list[WireLine]:
    return arm(*after, exposed=False, arm="control", boundary="NONE")


@pytest.mark.parametrize(
    ("after", "report", "found"),
    [
        ([WRITE], FinalReport.DONE, Behaviour.REPEAT),
        ([OTHER, WRITE, READ], FinalReport.DONE, Behaviour.REPEAT),
        ([READ], FinalReport.DONE, Behaviour.VERIFY),
        ([READ, OTHER], FinalReport.UNKNOWN, Behaviour.VERIFY),
        ([READ, WRITE], FinalReport.DONE, Behaviour.VERIFY_REPEAT),
        ([READ, OTHER, WRITE], FinalReport.DONE, Behaviour.VERIFY_REPEAT),
        ([], FinalReport.DONE, Behaviour.CLAIM),
        ([OTHER, READ], FinalReport.DONE, Behaviour.CLAIM),
        ([], FinalReport.UNKNOWN, Behaviour.ABSTAIN),
        ([], FinalReport.NOT_DONE, Behaviour.ABSTAIN),
        ([OTHER], FinalReport.NONE, Behaviour.NO_REPORT),
    ],
)
def test_each_way_to_go_on_has_its_name(after: Any, report: FinalReport, found: Behaviour) -> None:
    """Same call again, a look as the first thing, both, or neither and then the report: one name each."""
    assert behaviour(arm(*after, report=report), control(OTHER)) is found


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ([READ], Behaviour.CLAIM),
        ([READ, WRITE], Behaviour.CLAIM),
        ([READ, WRITE, WRITE], Behaviour.VERIFY_REPEAT),
        ([WRITE, WRITE], Behaviour.REPEAT),
    ],
)
def test_a_step_of_the_task_is_no_answer_to_the_error(after: Any, found: Behaviour) -> None:
    """A read, or the same call again, that the control makes at that place too says nothing of the error."""
    assert behaviour(arm(*after), control(READ, WRITE)) is found


def test_a_fault_that_never_struck_has_no_behaviour() -> None:
    """An arm without a witness is counted as not exposed, under no name."""
    assert behaviour(arm(WRITE, exposed=False), control()) is None


def test_only_fault_arms_without_a_method_count() -> None:
    """Controls and arms with a method are left out; every row adds up to its arms."""
    arms = [arm(WRITE), arm(READ), arm(exposed=False), arm(WRITE, method="B0")]
    head, row = table([*arms, control()])
    counts = dict(zip(head, row, strict=True))
    assert (counts["arms"], counts["not_exposed"], counts["repeat"], counts["verify"]) == (3, 1, 1, 1)


def test_a_variant_of_the_examples_has_its_own_controls() -> None:
    """Arms of one name under two variants of the worked examples are told apart, and each meets its own control."""
    other = [
        msgspec.structs.replace(line, examples="check") if isinstance(line, ArmStart) else line
        for line in arm(READ)
    ]
    looks = [
        msgspec.structs.replace(line, examples="check") if isinstance(line, ArmStart) else line
        for line in control(READ)
    ]
    head, *rows = table([arm(READ), control(), other, looks])
    found = {row[3]: dict(zip(head, row, strict=True)) for row in rows}
    assert (found["plain"]["verify"], found["check"]["verify"]) == (1, 0)


def test_the_released_logs_give_a_table_that_adds_up(tmp_path: Path) -> None:
    """Over the released shards each row's counts sum to its arms, as many as there are fault arms without a method."""
    logs = sorted((ROOT / "results/wire").glob("*.jsonl.zst"))
    csv_path, tex_path = write(logs, tmp_path)
    rows = list(csv.DictReader(io.StringIO(csv_path.read_text())))
    names = [name for log in logs for name, _ in read_arms(log)]
    assert sum(int(row["arms"]) for row in rows) == sum(
        n.split("/")[4] == "none" and n.endswith("/fault") for n in names
    )
    for row in rows:
        parts = [row["not_exposed"], *(row[one.value] for one in Behaviour)]
        assert sum(map(int, parts)) == int(row["arms"])
    heads = {tuple(row[name] for name in ("model", "framework", "prompt", "examples")) for row in rows}
    assert tex_path.read_text().count("\\\\\n") == len(rows) + 1 + len(heads)


def test_nothing_to_tell_is_said(tmp_path: Path) -> None:
    """Without a log, or without a control, there is no table of zeros but a sentence."""
    with pytest.raises(UndolabError, match="its control is not in the wire logs"):
        table([arm(WRITE)])
    with pytest.raises(UndolabError, match="no wire log"):
        write([], tmp_path)
