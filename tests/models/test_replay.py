"""Replay fails closed, and recording asks the model once."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.model.record import Sampling
from undolab.models.replay import MissingRecordError, RecordingBackend, ReplayBackend
from undolab.models.store import RecordStore, write_sealed


def replay(path: Path, make: Any, *records: Any) -> ReplayBackend:
    write_sealed(path, make.header, records)
    return ReplayBackend(RecordStore(path))


def test_replay_answers_from_the_record(path: Path, make: Any) -> None:
    """A recorded request gets the recorded answer."""
    record = make.record("p", text="hello")
    assert replay(path, make, record).complete(record.request, 1) == record.completion


def test_one_changed_character_names_prompt_and_place(path: Path, make: Any) -> None:
    """One changed character in a tool's result stops the replay at /prompt, with the place in the nearest record."""
    near, far = make.record("one\n-> ok {1}\n"), make.record("nothing like it")
    with pytest.raises(MissingRecordError, match=f"/prompt differs at character 12 .* {near.key[:12]}"):
        replay(path, make, near, far).complete(make.request("one\n-> ok {2}\n"), 1)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"sampling": Sampling(seed=7, temperature=0.3)}, "/sampling/temperature"),
        ({"sampling": Sampling(seed=7, top_k=5)}, "/sampling/top_k"),
        ({"sampling": Sampling(seed=8)}, "/sampling/seed"),
        ({"grammar": ""}, "/grammar"),
        ({"stop": []}, "/stop"),
        ({"model": "b" * 64}, "/model"),
    ],
)
def test_every_field_of_the_request_counts(
    path: Path, make: Any, changes: dict[str, Any], pointer: str
) -> None:
    """A request that differs in any one field is a miss that names the field."""
    with pytest.raises(MissingRecordError, match=f"{pointer} differs"):
        replay(path, make, make.record("p")).complete(make.request("p", **changes), 1)


def test_five_equal_requests_have_five_answers(path: Path, make: Any) -> None:
    """The ordinal tells equal requests apart; the sixth of five stops the replay."""
    records = [make.record("p", ordinal=n, text=f"answer {n}") for n in range(1, 6)]
    backend = replay(path, make, *records)
    answers = [backend.complete(make.request("p"), n).text for n in range(1, 6)]
    assert answers == [f"answer {n}" for n in range(1, 6)]
    with pytest.raises(MissingRecordError, match="/ordinal differs, the store holds 5"):
        backend.complete(make.request("p"), 6)


def test_an_empty_store_says_so(path: Path, make: Any) -> None:
    """A replay without any record says that the store is empty."""
    with pytest.raises(UndolabError, match="the store is empty"):
        ReplayBackend(RecordStore(path)).complete(make.request("p"), 1)


def test_recording_asks_the_model_once(path: Path, make: Any, live: Any) -> None:
    """A miss asks the model and stores the answer at once; the next run needs no model."""
    store = RecordStore(path)
    backend = RecordingBackend(store, live)
    first = backend.complete(make.request("p"), 1)
    assert backend.complete(make.request("p"), 1) == first
    assert backend.complete(make.request("p"), 2) != first
    assert (live.asked, backend.fresh) == (2, 2)
    store.close()
    assert ReplayBackend(RecordStore(path)).complete(make.request("p"), 1) == first


def test_replay_loads_no_model_and_opens_no_socket(path: Path, make: Any) -> None:
    """A replay in a process where llama.cpp, numpy and sockets are forbidden still answers (field case B14)."""
    write_sealed(path, make.header, [make.record("p")])
    program = (
        "import sys, socket\n"
        "sys.modules.update(dict.fromkeys(['llama_cpp', 'numpy']))\n"
        "def no(*a, **k): raise SystemExit('a socket was opened')\n"
        "socket.socket = socket.create_connection = no\n"
        "from pathlib import Path\n"
        "from undolab.models.replay import ReplayBackend\n"
        "from undolab.models.store import RecordStore\n"
        f"store = RecordStore(Path({str(path)!r}))\n"
        "record = next(iter(store))\n"
        "print(ReplayBackend(store).complete(record.request, 1).text)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "yes\n", "")
