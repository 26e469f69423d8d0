"""`undolab records audit` and `undolab live` with a model that is not there: what is drawn, said and returned."""

from pathlib import Path
from typing import Any

import pytest

from undolab.cli import main
from undolab.model.record import Completion, CompletionRequest, Record, Sampling, StoreHeader
from undolab.models.backend import request_key
from undolab.models.llama import Reading
from undolab.models.store import write_sealed

ROOT = Path(__file__).parents[2]
HEADER = StoreHeader(
    model_name="toy", model_file="toy.gguf", model_digest="a" * 64, tensor_types={}, engines={"e1": {}}
)


class Fake:
    """Reads every answer as recorded; makes the first `same` requests again alike."""

    same = 10
    forged = ""

    def __init__(self, *_: Any) -> None:
        pass

    def score(self, request: CompletionRequest, tokens: list[int]) -> Reading:
        return Reading(
            text="yes",
            finish_reason="stop",
            read=1,
            refused=False,
            logprobs=[-0.5],
            evidence=50.0 if request.prompt == self.forged else -0.5,
            prompt_tokens=1,
        )

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        return answer("yes" if int(request.prompt) < self.same else "no")


def answer(text: str) -> Completion:
    return Completion(text=text, finish_reason="stop", tokens=[1], logprobs=[-0.5], prompt_tokens=1)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a store of ten records, and put the fake in the model's place."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("undolab.cli.records.LlamaBackend", Fake)
    records = []
    for number in range(10):
        request = CompletionRequest(
            model="a" * 64, prompt=str(number), grammar="", stop=["\n"], sampling=Sampling()
        )
        records.append(
            Record(
                key=request_key(request), ordinal=1, request=request, completion=answer("yes"), engine="e1"
            )
        )
    path = tmp_path / "toy.jsonl.zst"
    write_sealed(path, HEADER, records)
    return str(path)


def test_the_audit_says_how_many_of_how_many(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A part of the records is called a part; all of them leave nothing unsaid."""
    assert main(["records", "audit", "--store", store, "--records", "4", "--seed", "7"]) == 0
    said = capsys.readouterr().out
    assert "4 of 10 records re-scored (seed 7)" in said
    assert "6 records were not looked at" in said
    assert main(["records", "audit", "--store", store, "--records", "all"]) == 0
    said = capsys.readouterr().out
    assert "10 of 10 records" in said
    assert "not looked at" not in said


def test_another_seed_finds_what_one_seed_never_draws(
    store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One forged record among ten is found by some seeds, and always by `all`."""
    monkeypatch.setattr(Fake, "forged", "3")
    codes = {
        main(["records", "audit", "--store", store, "--records", "2", "--seed", str(seed)])
        for seed in range(30)
    }
    assert codes == {0, 1}
    assert main(["records", "audit", "--store", store, "--records", "all"]) == 1
    assert "sooner than the request's" in capsys.readouterr().out


@pytest.mark.parametrize(("same", "code"), [(10, 0), (5, 0), (4, 1), (0, 1)])
def test_live_fails_below_half(
    store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, same: int, code: int
) -> None:
    """Fewer than half equal is exit code 1; the rate is printed in any case."""
    monkeypatch.setattr(Fake, "same", same)
    assert main(["live", "--store", store]) == code
    assert f"{same} of 10 completions" in (said := capsys.readouterr().out)
    assert f"({same * 10}%;" in said


@pytest.mark.parametrize("count", ["0", "-1", "some"])
def test_a_count_that_is_none_is_refused(store: str, count: str) -> None:
    """`--records` takes a number from 1, or `all`."""
    with pytest.raises(SystemExit) as stop:
        main(["records", "audit", "--store", store, "--records", count])
    assert stop.value.code == 2
