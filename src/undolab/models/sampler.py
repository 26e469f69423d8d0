"""How the next token is drawn, and how likely the draw was: llama.cpp's samplers under the request's grammar."""

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from undolab.model.errors import UndolabError
from undolab.model.record import Sampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

_COLDEST = 0.05
"""Temperature at which an answer drawn greedily is weighed."""


class Sampler:
    """llama.cpp's own chain.

    A token is drawn first and the grammar asked about that one alone; only where it says no is the whole vocabulary
    masked and drawn from again. Both ways give the same distribution, this one sooner.
    """

    def __init__(self, c: Any, vocab: Any, words: int, sampling: Sampling, grammar: str) -> None:
        import numpy as np

        self._c = c
        self._temperature = max(sampling.temperature, _COLDEST)
        self._penalties = None
        if sampling.repeat_penalty != 1.0:
            self._penalties = c.llama_sampler_init_penalties(64, sampling.repeat_penalty, 0.0, 0.0)
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
        if not self.allows(token):
            token = self._draw(logits, masked=True)
        self.accept(token)
        return token

    def allows(self, token: int) -> bool:
        """Return True if the grammar, where there is one, lets this token come next."""
        import numpy as np

        if not self._grammar:
            return True
        row = np.zeros(1, dtype=self._rows.dtype)
        row["id"] = token
        row["logit"] = 1.0
        self._c.llama_sampler_apply(self._grammar, ctypes.byref(self._array(row)))
        return bool(np.isfinite(row["logit"][0]))

    def accept(self, token: int) -> None:
        """Go on after this token, which must be allowed."""
        if self._grammar:
            self._c.llama_sampler_accept(self._grammar, token)
        if self._penalties:
            self._c.llama_sampler_accept(self._penalties, token)

    def evidence(self, logits: "Logits", token: int) -> float:
        """Return the logarithm of how many times sooner temperature 1 gives the token than the request's.

        Both probabilities are among the tokens that the grammar allows. At temperature 1 and above it is 0.
        """
        import numpy as np

        if self._temperature >= 1.0:
            return 0.0
        self._fill(logits, masked=True)
        wide = self._rows["logit"].astype(np.float64)
        wide -= wide.max()
        cold = wide / self._temperature
        return float(wide[token] - np.log(np.exp(wide).sum()) - cold[token] + np.log(np.exp(cold).sum()))

    def free(self) -> None:
        """Free the chain, the penalties and the grammar."""
        for part in (self._chain, self._penalties, self._grammar):
            if part:
                self._c.llama_sampler_free(part)

    def _links(self, sampling: Sampling) -> Iterator[Any]:
        c = self._c
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
        array = self._fill(logits, masked=masked)
        self._c.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _fill(self, logits: "Logits", *, masked: bool) -> Any:
        rows = self._rows
        rows["id"] = self._ids
        rows["logit"] = logits
        rows["p"] = 0.0
        array = self._array(rows)
        if masked and self._grammar:
            self._c.llama_sampler_apply(self._grammar, ctypes.byref(array))
        if self._penalties:
            self._c.llama_sampler_apply(self._penalties, ctypes.byref(array))
        return array

    def _array(self, rows: Any) -> Any:
        data = rows.ctypes.data_as(self._c.llama_token_data_p)
        return self._c.llama_token_data_array(data=data, size=len(rows), selected=-1, sorted=False)
