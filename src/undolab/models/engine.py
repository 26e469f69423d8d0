"""llama.cpp below the samplers: tokens in, a row of logits for any of them out.

With the plain kernels (no llamafile, no tiles, no repacked weights) each row has the same bits whatever else is in its
batch. So the logits after some tokens are a function of those tokens alone: an evaluated prefix may be kept at any
length, and guessed tokens may be evaluated together. A model that does not behave so on this machine is not used.
"""

import ctypes
import functools
import importlib.metadata
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.models.config import EngineConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

_MISSING = (
    "llama-cpp-python is not installed here; `make live` installs it (replaying records does not need it)."
)
_PLAIN = {"GGML_CPU_TILED_MM": "0"}
"""llama.cpp reads these once, when it first multiplies."""
_PROBE = 23
"""Tokens of the check at the start: evaluated at once, and one by one."""


class Engine:
    """The model, one context, and the tokens that its cache holds. Not safe for threads."""

    def __init__(self, path: Path, config: EngineConfig) -> None:
        os.environ.update(_PLAIN)
        try:
            import llama_cpp
        except ImportError as error:
            raise UndolabError(_MISSING) from error
        self.c: Any = llama_cpp.llama_cpp
        self._config = config
        _silence(self.c)
        self.c.llama_backend_init()
        settings = self.c.llama_model_default_params()
        settings.n_gpu_layers = 0
        settings.use_extra_bufts = False
        self._model = self.c.llama_model_load_from_file(str(path).encode(), settings)
        if not self._model:
            raise UndolabError(f"{path}: llama.cpp cannot load it; delete the file and run `make live`.")
        self._context = self.c.llama_init_from_model(self._model, self._context_settings())
        if not self._context:
            raise UndolabError(
                f"llama.cpp cannot make a context of {config.context} tokens; make it smaller."
            )
        self.vocab = self.c.llama_model_get_vocab(self._model)
        self.words: int = self.c.llama_vocab_n_tokens(self.vocab)
        self._memory = self.c.llama_get_memory(self._context)
        self._batch = self.c.llama_batch_init(config.batch, 0, 1)
        self._pieces: dict[int, bytes] = {}
        self._kept: list[int] = []
        self.evaluated = 0
        """Tokens evaluated so far."""
        self.rows = 0
        """Rows of logits computed so far."""
        self._check()

    def settings(self) -> dict[str, Any]:
        """Return all that can change a completion beside the request."""
        return {
            "library": "llama-cpp-python " + importlib.metadata.version("llama-cpp-python"),
            "system": self.c.llama_print_system_info().decode().strip(),
            **msgspec.to_builtins(self._config),
            "kernels": "plain",
            "flash_attention": False,
            "cache": "f16",
            "draw": "inverse of the distribution, in falling order",
        }

    def tokenize(self, text: str, *, start: bool = True) -> list[int]:
        """Return the token ids, the start token first; text that looks like a special token stays text."""
        data = text.encode()
        room = len(data) + 8
        ids = (ctypes.c_int32 * room)()
        count = self.c.llama_tokenize(self.vocab, data, len(data), ids, room, start, False)
        return list(ids[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes of one token; special tokens have none."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(256)
            count = self.c.llama_token_to_piece(self.vocab, token, buffer, 256, 0, False)
            self._pieces[token] = buffer.raw[: max(count, 0)]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        """Return True for a token that ends generation."""
        return bool(self.c.llama_vocab_is_eog(self.vocab, token))

    def after(self, tokens: list[int], guess: list[int]) -> list["Logits"]:
        """Return the logits after `tokens`, and after each token of `guess` that is appended to them.

        Args:
            tokens: At least one; the prefix that the cache holds already is not evaluated again.
            guess: Tokens that may come next; they are evaluated in the same go.
        """
        whole = tokens + guess
        first = len(tokens) - 1
        same = 0
        for old, new in zip(self._kept, whole[:first], strict=False):
            if old != new:
                break
            same += 1
        self.c.llama_memory_seq_rm(self._memory, 0, same, -1)
        self._kept = whole[:same]
        logits: list[Logits] = []
        for begin in range(same, len(whole), self._config.batch):
            end = min(begin + self._config.batch, len(whole))
            logits += self._decode(whole[begin:end], begin, max(first - begin, 0))
        return logits

    def close(self) -> None:
        """Free context and model."""
        self.c.llama_batch_free(self._batch)
        self.c.llama_free(self._context)
        self.c.llama_model_free(self._model)

    def _context_settings(self) -> Any:
        settings = self.c.llama_context_default_params()
        settings.n_ctx = self._config.context
        settings.n_batch = settings.n_ubatch = self._config.batch
        settings.n_threads = settings.n_threads_batch = self._config.threads
        settings.n_seq_max = 1
        settings.flash_attn_type = self.c.LLAMA_FLASH_ATTN_TYPE_DISABLED
        # Without the full cache, Gemma's sliding window forgets what a reused prefix needs.
        settings.swa_full = True
        settings.no_perf = True
        return settings

    def _decode(self, tokens: list[int], at: int, first: int) -> list["Logits"]:
        """Evaluate one batch that begins at position `at`; return the logits of its rows from `first` on."""
        import numpy as np

        batch = self._batch
        batch.n_tokens = len(tokens)
        for row, token in enumerate(tokens):
            batch.token[row] = token
            batch.pos[row] = at + row
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = 0
            batch.logits[row] = row >= first
        code = self.c.llama_decode(self._context, batch)
        if code:
            self._kept = []
            raise UndolabError(
                f"llama.cpp failed with code {code} while it evaluated {len(tokens)} tokens; run again."
            )
        self._kept += tokens
        self.evaluated += len(tokens)
        wanted = range(first, len(tokens))
        self.rows += len(wanted)
        rows = (self.c.llama_get_logits_ith(self._context, row) for row in wanted)
        return [np.ctypeslib.as_array(row, (self.words,)).copy() for row in rows]

    def _check(self) -> None:
        import numpy as np

        probe = [(7 * n * n + 11) % min(self.words, 5000) for n in range(1, _PROBE + 1)]
        together = self.after(probe[:1], probe[1:])
        self._kept = []
        one_by_one = [self.after(probe[:end], [])[0] for end in range(1, _PROBE + 1)]
        self._kept = []
        if not all(np.array_equal(a, b) for a, b in zip(together, one_by_one, strict=True)):
            self.close()
            raise UndolabError(
                "this build of llama.cpp gives a token other logits in a batch than alone; build it with `make live`."
            )


@functools.cache
def _silence(c: Any) -> Any:
    """Drop llama.cpp's log; the callback must outlive every engine, so the cache holds it."""
    callback = c.llama_log_callback(_quiet)
    c.llama_log_set(callback, None)
    return callback


def _quiet(level: int, text: bytes, data: int) -> None:
    """Drop llama.cpp's log."""
