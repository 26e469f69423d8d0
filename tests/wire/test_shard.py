from pathlib import Path

import msgspec
import pytest

from undolab.model.calls import FinalReport
from undolab.model.errors import UndolabError
from undolab.model.files import decompress
from undolab.model.wire import ArmId, ArmStart, ReportEvent
from undolab.wire import LogWriter, heads, read_arms, shard_bytes, write_heads, write_shard

ARM = ArmId(
    workflow="RB-X-001", model="m", framework="F1", boundary="NONE", method="none", seed=1, arm="control"
)


def log_of(seed: int) -> tuple[str, LogWriter]:
    arm = msgspec.structs.replace(ARM, seed=seed)
    log = LogWriter()
    log.add(
        ArmStart,
        arm=arm,
        workflow_digest="w",
        tools_digest="t",
        world_seed=seed,
        prompt="script",
        examples="script",
    )
    log.add(ReportEvent, report=FinalReport.DONE, reason="finished", turns=0, final_state="d")
    return arm.name(), log


def test_a_shard_gives_back_its_arms_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Writing sorts by name; reading gives the same lines."""
    (second, b), (first, a) = log_of(2), log_of(1)
    write_shard(tmp_path / "x.jsonl.zst", {second: b.data(), first: a.data()})

    assert list(read_arms(tmp_path / "x.jsonl.zst")) == [(first, a.lines), (second, b.lines)]


def test_the_order_of_writing_does_not_change_the_bytes() -> None:
    """One shard is one sequence of bytes, whatever the order in which its arms came."""
    (second, b), (first, a) = log_of(2), log_of(1)

    assert shard_bytes({second: b.data(), first: a.data()}) == shard_bytes(
        {first: a.data(), second: b.data()}
    )


def test_heads_name_each_arm_with_its_last_digest(tmp_path: Path) -> None:
    """The index has one sorted line an arm: name, lines, head of the chain."""
    (second, b), (first, a) = log_of(2), log_of(1)
    write_heads(tmp_path / "heads.tsv", heads([(second, b.lines), (first, a.lines)]))

    assert (tmp_path / "heads.tsv").read_text() == f"{first}\t2\t{a.head}\n{second}\t2\t{b.head}\n"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"kind":"start"', "the log is cut in the middle of its last line"),
        (b'{"kind":"other"}\n', "line 1: not a line of a wire log"),
        (b"\xff\n", "line 1: not a line of a wire log"),
        (
            b'{"kind":"turn","prev":"p","said":"s","seen":"d","seq":1,"turn":1}\n',
            "does not begin with a start line",
        ),
        (b'{"seq":1,"kind":"turn","prev":"p","said":"s","seen":"d","turn":1}\n', "not canonical JSON"),
    ],
)
def test_a_damaged_plain_log_is_refused_by_name(tmp_path: Path, data: bytes, sentence: str) -> None:
    """Each kind of damage gives one sentence that names the file."""
    log = tmp_path / "x.jsonl"
    log.write_bytes(data)

    with pytest.raises(UndolabError, match=sentence) as caught:
        list(read_arms(log))

    assert str(log) in str(caught.value)


def test_a_cut_compressed_log_is_refused(tmp_path: Path) -> None:
    """A shard cut in the middle cannot be decompressed, and says so."""
    name, log = log_of(1)
    whole = shard_bytes({name: log.data()})
    (tmp_path / "x.jsonl.zst").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(UndolabError, match="cut or damaged"):
        list(read_arms(tmp_path / "x.jsonl.zst"))


def test_one_flipped_byte_in_a_compressed_log_is_seen(tmp_path: Path) -> None:
    """The frame's checksum covers every byte of the content."""
    name, log = log_of(1)
    whole = bytearray(shard_bytes({name: log.data()}))
    whole[-6] ^= 1
    (tmp_path / "x.jsonl.zst").write_bytes(bytes(whole))

    with pytest.raises(UndolabError, match="cut or damaged"):
        list(read_arms(tmp_path / "x.jsonl.zst"))


def test_compression_is_deterministic() -> None:
    """Equal logs give equal frames, and the frame holds just the log."""
    name, log = log_of(1)

    assert shard_bytes({name: log.data()}) == shard_bytes({name: log.data()})
    assert decompress(shard_bytes({name: log.data()})) == log.data()


def test_an_arm_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """A second copy of an arm, forged or not, never takes the place of the first."""
    _, log = log_of(1)
    (tmp_path / "x.jsonl").write_bytes(log.data() + log.data())

    with pytest.raises(UndolabError, match="there twice or out of order"):
        list(read_arms(tmp_path / "x.jsonl"))


def test_what_follows_a_compressed_log_is_seen(tmp_path: Path) -> None:
    """Bytes after the frame are not overlooked."""
    name, log = log_of(1)
    (tmp_path / "x.jsonl.zst").write_bytes(shard_bytes({name: log.data()}) + b"x")

    with pytest.raises(UndolabError, match="something follows the frame"):
        list(read_arms(tmp_path / "x.jsonl.zst"))
