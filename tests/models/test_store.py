"""The record store: journal, seal, and what it refuses."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress
from undolab.models.backend import request_key
from undolab.models.store import RecordStore, write_sealed


def filled(path: Path, make: Any, prompts: str = "abc") -> RecordStore:
    store = RecordStore(path)
    store.declare(make.header)
    for prompt in prompts:
        store.append(make.record(prompt))
    return store


def journal_lines(store: RecordStore) -> list[bytes]:
    return store.journal.read_bytes().splitlines(keepends=True)


def test_appended_records_are_there_after_reopening(path: Path, make: Any) -> None:
    """A record that was appended is found by a new process, without sealing."""
    filled(path, make).close()
    again = RecordStore(path)
    record = make.record("b")
    assert again.get(record.key, 1) == record
    assert (len(again), again.header, again.notices) == (3, make.header, [])


def test_seal_sorts_and_removes_the_journal(path: Path, make: Any) -> None:
    """A sealed file has the header first, then the records by key and ordinal, each in canonical bytes."""
    store = filled(path, make)
    store.seal()
    lines = decompress(path.read_bytes()).splitlines()
    assert lines == [canonical(make.header), *(canonical(record) for record in store)]
    assert not store.journal.exists()
    assert len(RecordStore(path)) == 3


def test_records_after_a_seal_join_the_sealed_ones(path: Path, make: Any) -> None:
    """After a seal the store takes new records, and the next seal holds old and new."""
    filled(path, make).seal()
    store = RecordStore(path)
    store.declare(make.header)
    store.append(make.record("d"))
    store.seal()
    assert len(RecordStore(path)) == 4


def test_the_order_of_arrival_does_not_show(tmp_path: Path, make: Any) -> None:
    """Equal records give equal sealed bytes, in whatever order they came."""
    records = [make.record(prompt) for prompt in "abcdef"]
    write_sealed(tmp_path / "a", make.header, records)
    random.Random(1).shuffle(records)
    write_sealed(tmp_path / "b", make.header, records)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_torn_last_line_is_dropped_with_a_notice(path: Path, make: Any) -> None:
    """A last line that a kill cut is left out, said so, and overwritten by the next record."""
    store = filled(path, make)
    store.close()
    store.journal.write_bytes(store.journal.read_bytes()[:-10])
    again = RecordStore(path)
    assert len(again) == 2
    assert len(again.notices) == 1
    again.declare(make.header)
    again.append(make.record("c"))
    again.close()
    assert len(RecordStore(path)) == 3


def test_a_broken_middle_line_names_file_and_line(path: Path, make: Any) -> None:
    """A broken line before the last is an error that names the journal and the line (field case B15)."""
    store = filled(path, make)
    store.close()
    lines = journal_lines(store)
    lines[2] = lines[2][:50] + b"\n"
    store.journal.write_bytes(b"".join(lines))
    with pytest.raises(UndolabError, match=r"journal\.jsonl: line 3 is no record"):
        RecordStore(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"prompt":"b"', b'"prompt":"c"'),
        (b'"temperature":0.2', b'"temperature":0.3'),
        (b'"engine":"e1"', b'"engine":"e2"'),
        (b"[121,101,115,10]", b"[121,101,115]"),
        (b'"ordinal":1', b'"ordinal":0'),
        (b'"ordinal":1', b'"ordinal": 1'),
        (b'"ordinal":1', b'"extra":1,"ordinal":1'),
    ],
)
def test_a_changed_record_is_refused(path: Path, make: Any, old: bytes, new: bytes) -> None:
    """A sealed record whose request, engine, tokens or form was changed is refused by file and line."""
    filled(path, make, "b").seal()
    data = decompress(path.read_bytes())
    assert old in data
    path.write_bytes(compress(data.replace(old, new)))
    with pytest.raises(UndolabError, match=r"test\.jsonl\.zst: line 2"):
        RecordStore(path)


@pytest.mark.parametrize("place", [20, 60])
def test_a_damaged_sealed_file_is_named(path: Path, make: Any, place: int) -> None:
    """A sealed file with a flipped byte, or cut, is refused by name."""
    filled(path, make).seal()
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(UndolabError, match=r"test\.jsonl\.zst"):
        RecordStore(path)
    path.write_bytes(bytes(data[:place]))
    with pytest.raises(UndolabError, match=r"test\.jsonl\.zst"):
        RecordStore(path)


def test_a_recording_is_never_overwritten(path: Path, make: Any) -> None:
    """A second record for the same key and ordinal is refused, another ordinal is not (field case B13)."""
    store = filled(path, make, "a")
    with pytest.raises(UndolabError, match="there twice"):
        store.append(make.record("a", text="no"))
    store.append(make.record("a", ordinal=2, text="no"))
    store.close()
    assert [record.completion.text for record in RecordStore(path)] == ["yes", "no"]


def test_a_record_of_another_model_is_refused(path: Path, make: Any, replace: Any) -> None:
    """One store holds one model."""
    store = filled(path, make)
    with pytest.raises(UndolabError, match="another model"):
        store.declare(replace(make.header, model_digest="b" * 64))
    request = make.request(model="b" * 64)
    with pytest.raises(UndolabError, match="another model"):
        store.append(make.record(request=request, key=request_key(request)))
    store.close()


def test_a_second_engine_joins_the_header(path: Path, make: Any, replace: Any) -> None:
    """A later session with other engine settings adds its engine and keeps the first."""
    filled(path, make).close()
    store = RecordStore(path)
    store.declare(replace(make.header, engines={"e2": {"threads": 2}}))
    store.append(make.record("z", engine="e2"))
    store.seal()
    header = RecordStore(path).header
    assert header is not None
    assert sorted(header.engines) == ["e1", "e2"]


def test_two_processes_cannot_share_a_journal(path: Path, make: Any) -> None:
    """While one recorder holds the journal, a second is refused; one of another worker is not."""
    first = filled(path, make)
    second = RecordStore(path)
    with pytest.raises(UndolabError, match="another process"):
        second.append(make.record("y"))
    other = RecordStore(path, worker="2of2")
    other.append(make.record("z"))
    first.close()
    other.close()
    assert len(RecordStore(path)) == 4


def test_nothing_recorded_nothing_sealed(path: Path) -> None:
    """Sealing an empty store is an error, and writes no file."""
    with pytest.raises(UndolabError, match="nothing to seal"):
        RecordStore(path).seal()
    assert not path.exists()


@given(
    st.lists(
        st.floats(min_value=-99, max_value=0, allow_subnormal=False).map(lambda value: round(value, 5) + 0.0),
        min_size=4,
        max_size=4,
    ),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
def test_any_record_survives_sealing(tmp_path_factory: Any, logprobs: list[float], prompt: str) -> None:
    """Whatever a prompt holds and whatever the log-probabilities are, the record comes back equal."""
    from tests.models.conftest import Maker

    path = tmp_path_factory.mktemp("store") / "s.jsonl.zst"
    record = Maker.record(prompt, completion=Maker.completion(logprobs=logprobs))
    write_sealed(path, Maker.header, [record])
    assert list(RecordStore(path)) == [record]


@pytest.mark.parametrize("worker", ["", "w1"])
def test_a_seal_takes_no_journal_from_a_process_that_records(path: Path, make: Any, worker: str) -> None:
    """While another process records, sealing says so and removes nothing; afterwards every record is there."""
    busy = RecordStore(path, worker)
    busy.declare(make.header)
    busy.append(make.record("a"))
    other = RecordStore(path)
    with pytest.raises(UndolabError, match="another process is recording"):
        other.seal()
    busy.append(make.record("b"))
    busy.close()
    other.close()
    assert len(RecordStore(path)) == 2


@pytest.mark.parametrize("worker", ["", "w1"])
def test_records_that_came_after_the_reading_are_not_lost(path: Path, make: Any, worker: str) -> None:
    """A journal that has grown since it was read is neither sealed away nor cut."""
    early = RecordStore(path, worker)
    sealer = RecordStore(path)
    filled_by_other = RecordStore(path, worker)
    filled_by_other.declare(make.header)
    filled_by_other.append(make.record("a"))
    filled_by_other.close()
    with pytest.raises(UndolabError, match="recorded into it meanwhile"):
        early.declare(make.header)
    with pytest.raises(UndolabError, match="nothing to seal"):
        sealer.seal()
    late = RecordStore(path)
    filled_by_other.append(make.record("b"))
    filled_by_other.close()
    with pytest.raises(UndolabError, match="recorded into it meanwhile"):
        late.seal()
    late.close()
    assert len(RecordStore(path)) == 2


@pytest.mark.parametrize("name", ["run[1].jsonl.zst", "a*.jsonl.zst", "a.b.jsonl.zst"])
def test_a_journal_is_found_whatever_its_store_is_called(tmp_path: Path, make: Any, name: str) -> None:
    """Letters that mean something in a pattern of names mean nothing here, so a killed recording goes on."""
    filled(tmp_path / name, make).close()
    assert len(RecordStore(tmp_path / name)) == 3


def test_a_journal_of_a_longer_name_is_not_ours(tmp_path: Path, make: Any) -> None:
    """The journal of `a.v2` is no worker's of `a`: it is neither read nor removed with it."""
    other = filled(tmp_path / "a.v2.jsonl.zst", make)
    other.close()
    filled(tmp_path / "a.jsonl.zst", make, "d").seal()
    assert (len(RecordStore(tmp_path / "a.jsonl.zst")), other.journal.exists()) == (1, True)
