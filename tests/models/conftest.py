"""Small requests, records and a fake model for the tests of the record rooms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.record import Completion, CompletionRequest, Record, Sampling, StoreHeader
from undolab.models.backend import request_key

MODEL = "a" * 64
HEADER = StoreHeader(
    model_name="toy",
    model_file="toy.gguf",
    model_digest=MODEL,
    tensor_types={"Q8_0": 3},
    engines={"e1": {"threads": 1}},
)


class Maker:
    """Makes requests and records; every test states what it changes."""

    header = HEADER

    @staticmethod
    def request(prompt: str = "Log:\n", seed: int = 7, **changes: Any) -> CompletionRequest:
        fields: dict[str, Any] = {
            "model": MODEL,
            "prompt": prompt,
            "grammar": 'root ::= "x"',
            "stop": ["\n"],
            "sampling": Sampling(seed=seed),
        }
        return CompletionRequest(**{**fields, **changes})

    @staticmethod
    def completion(text: str = "yes", **changes: Any) -> Completion:
        tokens = [ord(letter) for letter in text + "\n"]
        fields: dict[str, Any] = {
            "text": text,
            "finish_reason": "stop",
            "tokens": tokens,
            "logprobs": [-0.25] * len(tokens),
            "prompt_tokens": 5,
        }
        return Completion(**{**fields, **changes})

    @classmethod
    def record(cls, prompt: str = "Log:\n", ordinal: int = 1, text: str = "yes", **changes: Any) -> Record:
        request = cls.request(prompt)
        fields: dict[str, Any] = {
            "key": request_key(request),
            "ordinal": ordinal,
            "request": request,
            "completion": cls.completion(text),
            "engine": "e1",
        }
        return Record(**{**fields, **changes})


class FakeLive:
    """A live model that says `answer n`, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def header(self) -> StoreHeader:
        return HEADER

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.asked += 1
        return Maker.completion(f"answer {self.asked}")


@pytest.fixture
def make() -> type[Maker]:
    return Maker


@pytest.fixture
def live() -> FakeLive:
    return FakeLive()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records" / "test.jsonl.zst"


@pytest.fixture
def replace() -> Callable[..., Any]:
    return msgspec.structs.replace
