"""The cache of the engine over a llama.cpp of a few lines, and the refusal of one whose rows depend on their batch."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.model.errors import UndolabError
from undolab.models.config import EngineConfig
from undolab.models.engine import Engine

WORDS = 50
CONFIG = EngineConfig(context=64, batch=5, threads=1)


class FakeLlama:
    """One model and one context. A row is a function of the tokens before it; `leaky`, also of how long its batch is."""

    LLAMA_FLASH_ATTN_TYPE_DISABLED = 0

    def __init__(self) -> None:
        self.leaky = False
        self.fails = 0
        self.cache: list[int] = []
        self.batches: list[int] = []
        self.freed: list[str] = []
        self.settings: list[Any] = []
        self._rows: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("llama_") and name.endswith(("_free", "log_set", "init", "callback")):
            return lambda *_: self.freed.append(name) if name.endswith("_free") else None
        raise AttributeError(name)

    def _settings(self) -> Any:
        self.settings.append(SimpleNamespace())
        return self.settings[-1]

    llama_model_default_params = llama_context_default_params = _settings

    def llama_model_load_from_file(self, path: bytes, settings: Any) -> str:
        return "model"

    def llama_init_from_model(self, model: str, settings: Any) -> str:
        return "context"

    def llama_model_get_vocab(self, model: str) -> str:
        return "vocab"

    def llama_vocab_n_tokens(self, vocab: str) -> int:
        return WORDS

    def llama_get_memory(self, context: str) -> str:
        return "memory"

    def llama_batch_init(self, size: int, embedding: int, sequences: int) -> Any:
        columns = {name: [0] * size for name in ("token", "pos", "n_seq_id", "logits")}
        return SimpleNamespace(n_tokens=0, seq_id=[[0] for _ in range(size)], **columns)

    def llama_memory_seq_rm(self, memory: str, sequence: int, begin: int, end: int) -> bool:
        assert end == -1
        assert begin <= len(self.cache)
        del self.cache[begin:]
        return True

    def llama_decode(self, context: str, batch: Any) -> int:
        if self.fails:
            self.fails -= 1
            # What of the batch is in the cache then is not known.
            self.cache += batch.token[:1]
            return 1
        self.batches.append(batch.n_tokens)
        self._rows = {}
        for row in range(batch.n_tokens):
            assert (batch.pos[row], batch.n_seq_id[row], batch.seq_id[row]) == (len(self.cache), 1, [0])
            self.cache.append(batch.token[row])
            if batch.logits[row]:
                self._rows[row] = (ctypes.c_float * WORDS)(*truth(self.cache))
                self._rows[row][3] += 1e-6 * batch.n_tokens if self.leaky else 0.0
        return 0

    def llama_get_logits_ith(self, context: str, row: int) -> Any:
        return ctypes.cast(self._rows[row], ctypes.POINTER(ctypes.c_float))


def truth(tokens: list[int]) -> Any:
    """Return the row after some tokens."""
    return np.random.default_rng([len(tokens), *tokens]).normal(0, 1, WORDS).astype(np.float32)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeLlama:
    made = FakeLlama()
    module: Any = ModuleType("llama_cpp")
    module.llama_cpp = made
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.setenv("GGML_CPU_TILED_MM", "1")
    return made


@pytest.fixture
def load(fake: FakeLlama) -> Callable[[], Engine]:
    return lambda: Engine(Path("toy.gguf"), CONFIG)


def test_plain_kernels_are_asked_for(fake: FakeLlama, load: Callable[[], Engine]) -> None:
    """No tiles, no repacked weights, no flash attention, the whole cache of a sliding window, one sequence."""
    load()
    model, context = fake.settings
    assert os.environ["GGML_CPU_TILED_MM"] == "0"
    assert (model.use_extra_bufts, model.n_gpu_layers) == (False, 0)
    assert (context.swa_full, context.flash_attn_type, context.n_seq_max) == (True, 0, 1)
    assert (context.n_batch, context.n_ubatch, context.n_ctx) == (5, 5, 64)


def test_a_build_whose_rows_depend_on_their_batch_is_refused(
    fake: FakeLlama, load: Callable[[], Engine]
) -> None:
    """One part in a million is enough; what was loaded is freed."""
    fake.leaky = True
    with pytest.raises(UndolabError, match="other logits in a batch than alone"):
        load()
    assert sorted(fake.freed) == ["llama_batch_free", "llama_free", "llama_model_free"]


few = st.lists(st.integers(0, 2), min_size=1, max_size=14)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(st.tuples(few, st.lists(st.integers(0, 2), max_size=8)), max_size=6))
def test_each_row_is_that_of_its_tokens_whatever_is_kept(
    load: Callable[[], Engine], asked: list[tuple[list[int], list[int]]]
) -> None:
    """Whatever was evaluated before, a row follows the tokens alone, and only what is not kept is evaluated."""
    engine = load()
    kept: list[int] = []
    for tokens, guess in asked:
        whole = tokens + guess
        same = 0
        while same < min(len(kept), len(tokens) - 1) and kept[same] == whole[same]:
            same += 1
        evaluated, rows = engine.evaluated, engine.rows
        found = engine.after(tokens, guess)
        assert len(found) == len(guess) + 1 == engine.rows - rows
        for more, row in enumerate(found):
            assert np.array_equal(row, truth(tokens + guess[:more]))
        assert engine.evaluated - evaluated == len(whole) - same
        kept = whole


def test_a_long_prompt_is_evaluated_in_batches_and_only_wanted_rows_are_computed(
    fake: FakeLlama, load: Callable[[], Engine]
) -> None:
    """Batches hold at most `batch` tokens; the guess's rows are computed with the last token's, the prompt's are not."""
    engine = load()
    fake.batches, before = [], engine.rows
    engine.after(list(range(12)), [1, 2])
    assert fake.batches == [5, 5, 4]
    assert engine.rows - before == 3


def test_after_a_failure_nothing_is_kept(fake: FakeLlama, load: Callable[[], Engine]) -> None:
    """llama.cpp's failure is told in one sentence, and the next call evaluates everything anew."""
    engine = load()
    engine.after([1, 2, 3], [])
    fake.fails = 1
    with pytest.raises(UndolabError, match="code 1"):
        engine.after([1, 2, 3, 4], [])
    before = engine.evaluated
    (row,) = engine.after([1, 2, 3, 4], [])
    assert np.array_equal(row, truth([1, 2, 3, 4]))
    assert engine.evaluated - before == 4


def test_rows_are_copies(load: Callable[[], Engine]) -> None:
    """A row stays what it was when the next tokens are evaluated: llama.cpp's own memory is used again."""
    engine = load()
    (row,) = engine.after([1, 2], [])
    engine.after([1, 2, 3], [4, 0])
    assert np.array_equal(row, truth([1, 2]))
    assert row.flags.owndata
