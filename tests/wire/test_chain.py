import msgspec

from undolab.model.calls import FinalReport
from undolab.model.wire import ArmId, ArmStart, ReportEvent, TurnEvent
from undolab.wire import GENESIS, LogWriter, chain_problems

ARM = ArmId(
    workflow="RB-X-001", model="m", framework="F1", boundary="NONE", method="none", seed=1, arm="control"
)


def small_log() -> LogWriter:
    log = LogWriter()
    log.add(
        ArmStart,
        arm=ARM,
        workflow_digest="w",
        tools_digest="t",
        world_seed=1,
        prompt="script",
        examples="script",
    )
    log.add(TurnEvent, turn=1, seen="s", said="finish: done")
    log.add(ReportEvent, report=FinalReport.DONE, reason="finished", turns=1, final_state="d")
    return log


def test_a_written_log_is_a_whole_chain() -> None:
    """What the writer appends is numbered from 1 and linked line to line."""
    log = small_log()

    assert chain_problems(log.lines) == []
    assert [line.seq for line in log.lines] == [1, 2, 3]
    assert log.lines[0].prev == GENESIS


def test_a_cut_tail_is_named() -> None:
    """A log without its report line is cut."""
    assert chain_problems(small_log().lines[:-1]) == ["the log is cut: it does not end with a report line"]


def test_a_line_taken_out_breaks_the_chain_there() -> None:
    """Removing a line shows in number and link of the next one."""
    lines = small_log().lines

    assert chain_problems([lines[0], lines[2]]) == [
        "line 2 has sequence number 3",
        "line 2 does not follow from the line before it",
    ]


def test_a_changed_line_breaks_the_link_after_it() -> None:
    """A line changed in place no longer has the digest that the next line names."""
    lines = small_log().lines
    lines[1] = msgspec.structs.replace(lines[1], said="finish: not_done")

    assert chain_problems(lines) == ["line 3 does not follow from the line before it"]


def test_an_empty_log_is_no_log() -> None:
    """Nothing is neither begun nor ended."""
    assert chain_problems([]) == [
        "the log does not begin with a start line",
        "the log is cut: it does not end with a report line",
    ]
