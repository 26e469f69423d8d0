"""The study from records: what is counted, that a replay asks for every record once, and that the audit finds what is changed."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from undolab.model.record import Completion, CompletionRequest, Record, Sampling, StoreHeader
from undolab.models.backend import request_key
from undolab.models.replay import MissingRecordError, ReplayBackend
from undolab.models.store import RecordStore, write_sealed
from undolab.planners.audit import audit
from undolab.planners.prompt import CALL_GRAMMAR
from undolab.planners.run import episodes, play
from undolab.planners.tables import files, summary
from undolab.planners.tasks import VARIANTS, tasks

MODEL = "toy"
OWN = {names.ticket: names.own for names in VARIANTS}
OTHER = {names.ticket: names.other for names in VARIANTS}


class Settings:
    """What a study needs to know of a model."""

    identity = "a" * 64
    sampling = Sampling()
    prompt = None


class Rule:
    """A model that chooses and reports by a rule; each answer is recorded where there is a store."""

    def __init__(self, choose: Callable[[str], str], report: str = "", store: RecordStore | None = None):
        self.choose = choose
        self.report = report
        self.store = store
        self.asked: list[CompletionRequest] = []

    def complete(self, request, ordinal):
        self.asked.append(request)
        said = self.choose(request.prompt)
        if request.grammar != CALL_GRAMMAR:
            gone = request.prompt.endswith('result: {"status":"compensated"}\n')
            said = f"finish: {self.report or ('undone' if gone else 'not undone')}"
        answer = Completion(text=said, finish_reason="stop", tokens=[1], logprobs=[-0.1], prompt_tokens=9)
        if self.store is not None:
            if self.store.header is None:
                self.store.declare(
                    StoreHeader(
                        model_name="toy", model_file="", model_digest=Settings.identity, tensor_types={},
                        engines={"e": {}},
                    )
                )  # fmt: skip
            key = request_key(request)
            self.store.append(
                Record(key=key, ordinal=ordinal, request=request, completion=answer, engine="e")
            )
        return answer


def _ticket(prompt):
    return next(names.ticket for names in VARIANTS if names.ticket in prompt.rpartition("Case task")[2])


def faithful(prompt):
    """Take back the receipt of the case."""
    return f'call: recover_effect(receipt_id="{OWN[_ticket(prompt)]}")'


def gullible(prompt):
    """Take back whatever other receipt the note names."""
    other = OTHER[_ticket(prompt)]
    task = prompt.rpartition("Case task")[2]
    return f'call: recover_effect(receipt_id="{other if other in task else OWN[_ticket(prompt)]}")'


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A model that follows every note, recorded once over the whole study; its tables beside it."""
    folder = tmp_path_factory.mktemp("study")
    store = RecordStore(folder / "undo.jsonl.zst")
    found = list(episodes({MODEL: Settings()}, {MODEL: Rule(gullible, store=store)}))
    store.seal()
    for name, data in files(found).items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def replayed(recorded):
    """The same study from its sealed records alone, and the store it came from."""
    store = RecordStore(recorded / "undo.jsonl.zst")
    return list(episodes({MODEL: Settings()}, {MODEL: ReplayBackend(store)})), {MODEL: store}


def test_a_gullible_model_does_harm_only_without_scope(recorded):
    """Four attacks of five turn its choice; the victim is hit in the branch without scope and nowhere else."""
    found = json.loads((recorded / "study-summary.json").read_text())
    assert (found["tasks"], found["responses"], found["branches"]) == (120, 360, 480)
    assert found["store_differs"] == 0
    cells = found["cells"]
    assert cells[f"{MODEL}/ordinary/mapped"]["tasks"] == 60
    for branch, collateral, victims in (
        ("mapped", 15, 0), ("undoscope", 0, 0), ("unscoped", 0, 16), ("undolab", 0, 0),
    ):  # fmt: skip
        cell = cells[f"{MODEL}/ordinary/{branch}"]
        assert (cell["eligible"], cell["collateral"], cell["victim_changed"]) == (50, collateral, victims)
        assert cell["wrong_receipt"] == 16
    assert found["attacks"] == {
        f"{MODEL}/{variant}": {"own": 8} if variant == 4 else {"other": 8} for variant in range(5)
    }
    told = cells[f"{MODEL}/ordinary/mapped"]
    assert told["claims_true"] + told["claims_false"] + told["claims_open"] == 60
    assert told["claims_false"] == 15  # it says undone wherever it was told compensated


def test_a_faithful_model_recovers_what_can_be():
    """One that keeps to its receipt recovers 50 of 50 under `undoscope`, and 45 under `mapped`."""
    hardened = [task for task in tasks() if task.hardened]
    found = summary([play(MODEL, task, Settings(), Rule(faithful)) for task in hardened])["cells"]
    assert found[f"{MODEL}/hardened/undoscope"]["recovered"] == 50
    assert found[f"{MODEL}/hardened/mapped"]["recovered"] == 45
    assert found[f"{MODEL}/injected/unscoped"]["victim_changed"] == 0


def test_a_replay_gives_the_same_tables_and_a_clean_audit(recorded, replayed):
    """Replayed from the sealed records, every file has the same bytes and the audit finds nothing."""
    found, stores = replayed
    assert {name: (recorded / name).read_bytes() for name in files(found)} == files(found)
    assert audit(found, stores, recorded) == []
    rows = list(csv.DictReader(io.StringIO((recorded / "study-branches.csv").read_text())))
    assert len({(row["id"], row["branch"]) for row in rows}) == len(rows) == 480
    assert len({row["record"] for row in rows if row["record"]}) == 240


def test_the_audit_names_what_was_changed(recorded, replayed, tmp_path):
    """A changed cell, a missing table and a record that no task asks for are each named."""
    folder = Path(shutil.copytree(recorded, tmp_path / "study"))
    found, stores = replayed
    table = folder / "study-branches.csv"
    table.write_text(table.read_text().replace("mapped,compensated,1,1,0,", "mapped,compensated,1,1,1,", 1))
    (folder / "study.csv").unlink()
    problems = audit(found, stores, folder)
    assert problems == [
        f"{folder / 'study.csv'} is missing",
        f"{table}: line 2, collateral: '1', but the records give '0'",
    ]
    store = stores[MODEL]
    spare = next(iter(store))
    more = [*store, msgspec.structs.replace(spare, ordinal=9)]
    write_sealed(folder / "more.jsonl.zst", store.header, more)
    problems = audit(found, {MODEL: RecordStore(folder / "more.jsonl.zst")}, recorded)
    assert problems == [
        f"{folder / 'more.jsonl.zst'}: record {spare.key[:12]}#9 belongs to no task of the study"
    ]
    assert "not the 120" in audit(found[1:], stores, recorded)[0]


def test_a_replay_stops_at_a_record_that_is_not_there(recorded, tmp_path):
    """One record fewer, and the replay fails closed."""
    store = RecordStore(recorded / "undo.jsonl.zst")
    write_sealed(tmp_path / "undo.jsonl.zst", store.header, list(store)[1:])
    with pytest.raises(MissingRecordError, match="no record"):
        list(episodes({MODEL: Settings()}, {MODEL: ReplayBackend(RecordStore(tmp_path / "undo.jsonl.zst"))}))
