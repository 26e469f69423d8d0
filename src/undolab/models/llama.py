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
from undolab.models.sampler import Sampler

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

_MISSING = (
    "llama-cpp-python is not installed here; `make live` installs it (replaying records does not need it)."
)
_LOW = -1.0
"""Tokens of a lower log-probability are weighed among those that the grammar allows, which costs a whole mask."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded tokens read under the model. See `undolab.models.backend.Scored`."""

    text: str
    finish_reason: str
    read: int
    refused: bool
    logprobs: list[float]
    evidence: float
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
        if not self._has_room(request, prompt):
            return Completion(
                text="", finish_reason="error", tokens=[], logprobs=[], prompt_tokens=len(prompt)
            )
        answer = _Answer(engine, request)
        tokens: list[int] = []
        logprobs: list[float] = []
        with engine.sampler(request.sampling, request.grammar) as sampler:
            logits = engine.evaluate(prompt)
            while True:
                token = sampler.pick(logits)
                tokens.append(token)
                logprobs.append(_logprob(logits, token))
                if answer.add(token):
                    break
                logits = engine.step(token)
        return Completion(
            text=answer.text,
            finish_reason=answer.finish_reason,
            tokens=tokens,
            logprobs=logprobs,
            prompt_tokens=len(prompt),
        )

    def score(self, request: CompletionRequest, tokens: list[int]) -> Reading:
        """Read an answer token by token as `complete` would have drawn it, up to its end or a token it cannot hold."""
        engine = self._load()
        prompt = engine.tokenize(request.prompt)
        answer = _Answer(engine, request)
        logprobs: list[float] = []
        evidence = 0.0
        refused = False
        if not self._has_room(request, prompt):
            answer.finish_reason, tokens = "error", []
        with engine.sampler(request.sampling, request.grammar) as sampler:
            logits = engine.evaluate(prompt) if tokens else None
            for token in tokens:
                if logits is None:
                    logits = engine.step(answer.last)
                refused = not (0 <= token < engine.words and sampler.allows(token))
                if refused:
                    break
                logprobs.append(_logprob(logits, token))
                # The sampler gave this token at most with probability 1, so the logarithm is a lower bound.
                weigh = logprobs[-1] < _LOW or request.sampling.repeat_penalty != 1.0
                evidence += sampler.evidence(logits, token) if weigh else logprobs[-1]
                sampler.accept(token)
                logits = None
                if answer.add(token):
                    break
        return Reading(
            text=answer.text,
            finish_reason=answer.finish_reason,
            read=len(logprobs),
            refused=refused,
            logprobs=logprobs,
            evidence=evidence,
            prompt_tokens=len(prompt),
        )

    def close(self) -> None:
        """Free the model."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _has_room(self, request: CompletionRequest, prompt: list[int]) -> bool:
        return len(prompt) + request.sampling.max_tokens <= self._config.engine.context

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
    def sampler(self, sampling: Sampling, grammar: str) -> Iterator[Sampler]:
        """Yield a sampler for one answer."""
        made = Sampler(self._c, self._vocab, self.words, sampling, grammar)
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


class _Answer:
    """What was said so far, and why it ended."""

    def __init__(self, engine: _Engine, request: CompletionRequest) -> None:
        self._engine = engine
        self._stops = [stop.encode() for stop in request.stop]
        self._left = request.sampling.max_tokens
        self._said = b""
        self.last = -1
        self.finish_reason = ""

    @property
    def text(self) -> str:
        """The answer without the stop string."""
        return self._said.decode("utf-8", "replace")

    def add(self, token: int) -> bool:
        """Take one more token and return True if the answer is over."""
        self.last = token
        self._said += self._engine.piece(token)
        self._left -= 1
        cuts = [self._said.find(stop) for stop in self._stops if stop in self._said]
        if cuts or self._engine.ends(token):
            self._said = self._said[: min(cuts, default=None)]
            self.finish_reason = "stop"
        elif self._left <= 0:
            self.finish_reason = "length"
        return bool(self.finish_reason)


def _quiet(level: int, text: bytes, data: int) -> None:
    """Drop llama.cpp's log."""


def _logprob(logits: "Logits", token: int) -> float:
    import numpy as np

    wide = logits.astype(np.float64)
    top = float(wide.max())
    total = float(np.log(np.exp(wide - top).sum()))
    return round(float(wide[token]) - top - total, 5) + 0.0
