"""Gemma and its like run in this process by llama.cpp, so that equal requests give equal tokens.

The prompt is always evaluated in batches that start at multiples of the batch size. An evaluated prefix is reused only
in whole batches, so the cache holds the same bits as after a fresh evaluation, and so do the logits that follow.
"""

import contextlib
import ctypes
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from undolab.model.canon import short_digest
from undolab.model.errors import UndolabError
from undolab.model.record import Completion, CompletionRequest, Sampling, StoreHeader
from undolab.models.config import EngineConfig, ModelConfig, find_model_file
from undolab.models.gguf import tensor_types

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

_MISSING = (
    "llama-cpp-python is not installed here; `make live` installs it (replaying records does not need it)."
)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens read under the model."""

    text: str
    ended: bool
    logprobs: list[float]
    prompt_tokens: int


class LlamaBackend:
    """One model in this process; it is loaded on the first use. Not safe for threads."""

    def __init__(self, config: ModelConfig, root: Path) -> None:
        self._config = config
        self._root = root
        self._engine: _Engine | None = None
        self._header: StoreHeader | None = None

    def header(self) -> StoreHeader:
        """Return what stands at the head of a store that this backend records into.

        Raises:
            UndolabError: llama.cpp or the model file is missing.
        """
        if self._header is None:
            settings = self._load().settings()
            self._header = StoreHeader(
                model_name=self._config.name,
                model_file=Path(self._config.file).name,
                model_digest=self._config.digest,
                tensor_types=tensor_types(self._root / self._config.file),
                engines={short_digest(settings): settings},
            )
        return self._header

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:  # noqa: ARG002 - the seed decides
        """Sample one answer, under the grammar where the request has one.

        Raises:
            UndolabError: the request is for another model, or llama.cpp refuses the grammar.
        """
        if request.model != self._config.digest:
            raise UndolabError(
                f"the request is for model {request.model[:12]}, but {self._config.name} is loaded; name one of them."
            )
        engine = self._load()
        prompt = engine.tokenize(request.prompt)
        if len(prompt) + request.sampling.max_tokens > self._config.engine.context:
            return Completion(
                text="", finish_reason="error", tokens=[], logprobs=[], prompt_tokens=len(prompt)
            )
        tokens: list[int] = []
        logprobs: list[float] = []
        said = b""
        reason = "length"
        stops = [stop.encode() for stop in request.stop]
        with engine.sampler(request.sampling, request.grammar) as sampler:
            logits = engine.evaluate(prompt)
            for _ in range(request.sampling.max_tokens):
                token = sampler.pick(logits)
                tokens.append(token)
                logprobs.append(_logprob(logits, token))
                said += engine.piece(token)
                cuts = [said.find(stop) for stop in stops if stop in said]
                if cuts or engine.ends(token):
                    said = said[: min(cuts, default=None)]
                    reason = "stop"
                    break
                if len(tokens) < request.sampling.max_tokens:
                    logits = engine.step(token)
        return Completion(
            text=said.decode("utf-8", "replace"),
            finish_reason=reason,
            tokens=tokens,
            logprobs=logprobs,
            prompt_tokens=len(prompt),
        )

    def score(self, prompt: str, tokens: list[int]) -> Reading:
        """Read tokens after a prompt and return how likely the model found each."""
        engine = self._load()
        ids = engine.tokenize(prompt)
        logprobs = []
        logits = engine.evaluate(ids)
        for place, token in enumerate(tokens, 1):
            if not 0 <= token < engine.words:
                raise UndolabError(
                    f"token {token} is not a word of {self._config.name}; the record was changed."
                )
            logprobs.append(_logprob(logits, token))
            if place < len(tokens):
                logits = engine.step(token)
        return Reading(
            text=b"".join(engine.piece(token) for token in tokens).decode("utf-8", "replace"),
            ended=engine.ends(tokens[-1]),
            logprobs=logprobs,
            prompt_tokens=len(ids),
        )

    def close(self) -> None:
        """Free the model."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _load(self) -> "_Engine":
        if self._engine is None:
            path = find_model_file(self._config, self._root)
            self._engine = _Engine(path, self._config.engine)
        return self._engine


class _Engine:
    """The model, one context and what its cache holds."""

    def __init__(self, path: Path, config: EngineConfig) -> None:
        try:
            import llama_cpp
        except ImportError as error:
            raise UndolabError(_MISSING) from error
        self._c: Any = llama_cpp.llama_cpp
        self._config = config
        self._log = self._c.llama_log_callback(_quiet)
        self._c.llama_log_set(self._log, None)
        self._c.llama_backend_init()
        settings = self._c.llama_model_default_params()
        settings.n_gpu_layers = 0
        self._model = self._c.llama_model_load_from_file(str(path).encode(), settings)
        if not self._model:
            raise UndolabError(f"{path}: llama.cpp cannot load it; delete the file and run `make live`.")
        self._context = self._c.llama_init_from_model(self._model, self._context_settings())
        if not self._context:
            raise UndolabError(
                f"llama.cpp cannot make a context of {config.context} tokens; make it smaller."
            )
        self._vocab = self._c.llama_model_get_vocab(self._model)
        self._memory = self._c.llama_get_memory(self._context)
        self._pieces: dict[int, bytes] = {}
        self._kept: list[int] = []
        self._at = 0
        self.words: int = self._c.llama_vocab_n_tokens(self._vocab)

    def settings(self) -> dict[str, Any]:
        """Return all that can change a completion beside the request."""
        return {
            "library": "llama-cpp-python " + importlib.metadata.version("llama-cpp-python"),
            "system": self._c.llama_print_system_info().decode().strip(),
            **msgspec.to_builtins(self._config),
            "prefix_reuse": "whole batches",
            "flash_attention": False,
            "cache": "f16",
        }

    def tokenize(self, text: str) -> list[int]:
        """Return the token ids, the start token first; text that looks like a special token stays text."""
        data = text.encode()
        room = len(data) + 8
        ids = (ctypes.c_int32 * room)()
        count = self._c.llama_tokenize(self._vocab, data, len(data), ids, room, True, False)
        return list(ids[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes of one token; special tokens have none."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(256)
            count = self._c.llama_token_to_piece(self._vocab, token, buffer, 256, 0, False)
            self._pieces[token] = buffer.raw[: max(count, 0)]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        """Return True for a token that ends generation."""
        return bool(self._c.llama_vocab_is_eog(self._vocab, token))

    def evaluate(self, prompt: list[int]) -> "Logits":
        """Evaluate a whole prompt and return the logits after it."""
        size = self._config.batch
        same = 0
        for old, new in zip(self._kept, prompt[:-1], strict=False):
            if old != new:
                break
            same += 1
        same -= same % size
        self._c.llama_memory_seq_rm(self._memory, 0, same, -1)
        self._kept = prompt[:same]
        for start in range(same, len(prompt), size):
            self._decode(prompt[start : start + size])
        self._kept = prompt[: len(prompt) - len(prompt) % size]
        self._at = len(prompt)
        return self._logits()

    def step(self, token: int) -> "Logits":
        """Evaluate one more token and return the logits after it."""
        self._decode([token])
        return self._logits()

    @contextlib.contextmanager
    def sampler(self, sampling: Sampling, grammar: str) -> Iterator["_Sampler"]:
        """Yield a sampler for one answer."""
        made = _Sampler(self._c, self._vocab, self.words, sampling, grammar)
        try:
            yield made
        finally:
            made.free()

    def close(self) -> None:
        """Free context and model."""
        self._c.llama_free(self._context)
        self._c.llama_model_free(self._model)

    def _context_settings(self) -> Any:
        settings = self._c.llama_context_default_params()
        settings.n_ctx = self._config.context
        settings.n_batch = settings.n_ubatch = self._config.batch
        settings.n_threads = settings.n_threads_batch = self._config.threads
        settings.n_seq_max = 1
        settings.flash_attn_type = self._c.LLAMA_FLASH_ATTN_TYPE_DISABLED
        # Without the full cache, Gemma's sliding window forgets what a reused prefix needs.
        settings.swa_full = True
        settings.no_perf = True
        return settings

    def _decode(self, tokens: list[int]) -> None:
        ids = (ctypes.c_int32 * len(tokens))(*tokens)
        code = self._c.llama_decode(self._context, self._c.llama_batch_get_one(ids, len(tokens)))
        if code:
            self._kept = []
            raise UndolabError(
                f"llama.cpp failed with code {code} while it evaluated {len(tokens)} tokens; run again."
            )

    def _logits(self) -> "Logits":
        import numpy as np

        pointer = self._c.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, (self.words,))


class _Sampler:
    """llama.cpp's own chain.

    A token is drawn first and the grammar asked about that one alone; only where it says no is the whole vocabulary
    masked and drawn from again. Both ways give the same distribution, this one sooner.
    """

    def __init__(self, c: Any, vocab: Any, words: int, sampling: Sampling, grammar: str) -> None:
        import numpy as np

        self._c = c
        self._accepts = sampling.repeat_penalty != 1.0
        self._grammar = None
        if grammar:
            self._grammar = c.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
            if not self._grammar:
                raise UndolabError(
                    "llama.cpp refuses the grammar made from the tools; simplify their schemas."
                )
        self._chain = c.llama_sampler_chain_init(c.llama_sampler_chain_default_params())
        for link in self._links(sampling):
            c.llama_sampler_chain_add(self._chain, link)
        kind = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        self._rows = np.zeros(words, dtype=kind)
        self._ids = np.arange(words, dtype=np.int32)

    def pick(self, logits: "Logits") -> int:
        """Draw the next token."""
        token = self._draw(logits, masked=False)
        if self._grammar and not self._allows(token):
            token = self._draw(logits, masked=True)
        if self._grammar:
            self._c.llama_sampler_accept(self._grammar, token)
        if self._accepts:
            self._c.llama_sampler_accept(self._chain, token)
        return token

    def free(self) -> None:
        """Free the chain and the grammar."""
        self._c.llama_sampler_free(self._chain)
        if self._grammar:
            self._c.llama_sampler_free(self._grammar)

    def _links(self, sampling: Sampling) -> Iterator[Any]:
        c = self._c
        if self._accepts:
            yield c.llama_sampler_init_penalties(64, sampling.repeat_penalty, 0.0, 0.0)
        if sampling.top_k > 0:
            yield c.llama_sampler_init_top_k(sampling.top_k)
        if sampling.top_p < 1.0:
            yield c.llama_sampler_init_top_p(sampling.top_p, 1)
        if sampling.min_p > 0.0:
            yield c.llama_sampler_init_min_p(sampling.min_p, 1)
        if sampling.temperature <= 0.0:
            yield c.llama_sampler_init_greedy()
        else:
            yield c.llama_sampler_init_temp(sampling.temperature)
            yield c.llama_sampler_init_dist(sampling.seed)

    def _draw(self, logits: "Logits", *, masked: bool) -> int:
        rows = self._rows
        rows["id"] = self._ids
        rows["logit"] = logits
        rows["p"] = 0.0
        array = self._array(rows)
        if masked:
            self._c.llama_sampler_apply(self._grammar, ctypes.byref(array))
        self._c.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _allows(self, token: int) -> bool:
        import numpy as np

        row = np.zeros(1, dtype=self._rows.dtype)
        row["id"] = token
        row["logit"] = 1.0
        self._c.llama_sampler_apply(self._grammar, ctypes.byref(self._array(row)))
        return bool(np.isfinite(row["logit"][0]))

    def _array(self, rows: Any) -> Any:
        data = rows.ctypes.data_as(self._c.llama_token_data_p)
        return self._c.llama_token_data_array(data=data, size=len(rows), selected=-1, sorted=False)


def _quiet(level: int, text: bytes, data: int) -> None:
    """Drop llama.cpp's log."""


def _logprob(logits: "Logits", token: int) -> float:
    import numpy as np

    wide = logits.astype(np.float64)
    top = float(wide.max())
    total = float(np.log(np.exp(wide - top).sum()))
    return round(float(wide[token]) - top - total, 5) + 0.0
