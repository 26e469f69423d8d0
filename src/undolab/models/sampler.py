"""How the next token is drawn, and how likely the draw was.

A draw is a number in [0, 1) put through the inverse of the distribution, whose tokens stand in falling order. The number
is a hash of seed and place, so a draw depends on nothing else, and seeds can share the distributions they meet.
"""

import ctypes
import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.record import Sampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

_COLDEST = 0.05
"""Temperature at which an answer drawn greedily is weighed."""
_HEAD = 64
"""So many of the likeliest tokens are kept of a distribution; a draw beyond them needs the logits again."""
_MEMORY = 64
"""Tokens back to which a repeat is penalised, as in llama.cpp."""


class Head(msgspec.Struct, frozen=True):
    """The likeliest tokens of a distribution, in falling order, equal ones by id."""

    tokens: "NDArray[np.int64]"
    mass: "NDArray[np.float64]"
    """Running sum of their weights."""
    total: float
    """Weight of all tokens."""
    logprobs: "NDArray[np.float64]"
    """Of each, under the raw distribution at temperature 1."""

    def pick(self, number: float) -> int:
        """Return the place of the token that a number in [0, 1) stands for, or -1: it lies beyond the head."""
        import numpy as np

        place = int(np.searchsorted(self.mass, number * self.total, side="right"))
        return place if place < len(self.tokens) else -1

    def last(self) -> int:
        """Return the place of the least likely token that has a weight: a whole head's, where rounding goes past it."""
        import numpy as np

        return int(np.searchsorted(self.mass, self.mass[-1], side="left"))


def number(seed: int, place: int, again: int) -> float:
    """Return the number in [0, 1) for the token at `place` (from 0); `again` is 1 where the grammar refused the first draw."""
    data = hashlib.sha256(f"{seed}:{place}:{again}".encode()).digest()
    return (int.from_bytes(data[:8], "big") >> 11) / (1 << 53)


def head(logits: "Logits", raw: "Logits", sampling: Sampling, keep: int | None = _HEAD) -> Head:
    """Return the likeliest `keep` tokens (None: all) of the distribution that is drawn from.

    Args:
        logits: What is drawn from, after grammar and penalties; refused tokens are -inf.
        raw: What the model said; the log-probabilities are of these.
        keep: How many.
        sampling: Temperature and cuts, applied in llama.cpp's order: top-k, top-p, min-p, temperature.
    """
    import numpy as np

    cut = sampling.top_k > 0 or sampling.top_p < 1.0 or sampling.min_p > 0.0
    wide = logits.astype(np.float64)
    if keep is None or keep >= len(wide) or cut:
        order = np.argsort(-wide, kind="stable")
    else:
        some = np.argpartition(-wide, keep)[:keep]
        # All that tie with the last one kept must be in, or equal tokens would not stand by id.
        some = np.flatnonzero(wide >= wide[some].min())
        order = some[np.argsort(-wide[some], kind="stable")][:keep]
    if cut:
        order = order[: _cut(wide[order], sampling)]
    top = float(wide[order[0]])
    if sampling.temperature <= 0.0:
        weights = np.ones(1)
        total = 1.0
        order = order[:1]
    else:
        weights = np.exp((wide[order] - top) / sampling.temperature)
        rest = weights if cut else np.exp((wide - top) / sampling.temperature)
        total = float(rest.sum())
    if keep is not None:
        order, weights = order[:keep], weights[:keep]
    return Head(order, np.cumsum(weights), total, _logprobs(raw)[order])


def penalised(logits: "Logits", said: list[int], penalty: float) -> "Logits":
    """Return logits in which each token of the last ones said is made less likely, as llama.cpp does it."""
    if penalty == 1.0 or not said:
        return logits
    import numpy as np

    made = logits.copy()
    recent = np.unique(np.array(said[-_MEMORY:], dtype=np.int64))
    made[recent] = np.where(made[recent] <= 0, made[recent] * penalty, made[recent] / penalty)
    return made


def evidence(masked: "Logits", token: int, temperature: float) -> float:
    """Return the logarithm of how many times sooner temperature 1 gives the token than the request's.

    Both probabilities are among the tokens that the grammar allows. At temperature 1 and above it is 0.
    """
    import numpy as np

    if temperature >= 1.0:
        return 0.0
    wide = masked.astype(np.float64)
    wide -= wide.max()
    cold = wide / max(temperature, _COLDEST)
    return float(wide[token] - np.log(np.exp(wide).sum()) - cold[token] + np.log(np.exp(cold).sum()))


def logprob(raw: "Logits", token: int) -> float:
    """Return the natural log-probability of a token at temperature 1, rounded to 5 decimals."""
    return rounded(float(_logprobs(raw)[token]))


def rounded(value: float) -> float:
    """Return a log-probability as records hold it: 5 decimals, no negative zero."""
    return round(value, 5) + 0.0


class Grammar:
    """llama.cpp's reading of a grammar, along one answer; without a grammar everything is allowed."""

    def __init__(self, c: Any, vocab: Any, words: int, grammar: str) -> None:
        import numpy as np

        self._c = c
        self._sampler = None
        if grammar:
            self._sampler = c.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
            if not self._sampler:
                raise UndolabError(
                    "llama.cpp refuses the grammar made from the tools; simplify their schemas."
                )
        self._kind = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        self._words = words

    def allows(self, token: int) -> bool:
        """Return True if this token may come next."""
        import numpy as np

        row = np.array([(token, 1.0, 0.0)], dtype=self._kind)
        self._apply(row)
        return bool(np.isfinite(row["logit"][0]))

    def mask(self, logits: "Logits") -> "Logits":
        """Return the logits, -inf for each token that may not come next."""
        import numpy as np

        rows = np.zeros(self._words, dtype=self._kind)
        rows["id"] = np.arange(self._words, dtype=np.int32)
        rows["logit"] = logits
        self._apply(rows)
        made: Logits = rows["logit"].copy()
        return made

    def accept(self, token: int) -> None:
        """Go on after this token, which must be allowed."""
        if self._sampler:
            self._c.llama_sampler_accept(self._sampler, token)

    def free(self) -> None:
        """Free the reading."""
        if self._sampler:
            self._c.llama_sampler_free(self._sampler)

    def _apply(self, rows: Any) -> None:
        if not self._sampler:
            return
        data = rows.ctypes.data_as(self._c.llama_token_data_p)
        array = self._c.llama_token_data_array(data=data, size=len(rows), selected=-1, sorted=False)
        self._c.llama_sampler_apply(self._sampler, ctypes.byref(array))


def _cut(falling: "NDArray[np.float64]", sampling: Sampling) -> int:
    import numpy as np

    count = min(len(falling), sampling.top_k) if sampling.top_k > 0 else len(falling)
    weights = np.exp(falling[:count] - falling[0])
    if sampling.top_p < 1.0:
        shares = np.cumsum(weights / weights.sum())
        count = min(count, int(np.searchsorted(shares, sampling.top_p, side="left")) + 1)
    if sampling.min_p > 0.0:
        count = int((weights[:count] >= sampling.min_p).sum())
    return max(count, 1)


def _logprobs(raw: "Logits") -> "NDArray[np.float64]":
    import numpy as np

    wide = raw.astype(np.float64)
    wide -= wide.max()
    made: NDArray[np.float64] = wide - np.log(np.exp(wide).sum())
    return made
