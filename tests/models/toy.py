"""A model of 128 letters in the place of llama.cpp, for tests of what stands above it: what it says is a hash of what it read."""

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]

WORDS = 128
START, END, NEWLINE = 2, 0, ord("\n")


def logits_after(tokens: list[int]) -> Logits:
    """Return what the model says after some tokens; it likes to say again what came after the last token before."""
    seed = int.from_bytes(hashlib.sha256(repr(tokens).encode()).digest()[:8], "big")
    made: Logits = np.random.default_rng(seed).normal(0, 1.5, WORDS).astype(np.float32)
    for before, after in pairwise(tokens):
        if before == tokens[-1]:
            made[after] += 2.0
    made[NEWLINE] += 1.0
    made[END] -= 2.0
    return made


def allowed_after(said: list[int], grammar: str) -> NDArray[np.bool_]:
    """Return which tokens may come next: about half of them, and always the newline; all without a grammar."""
    if not grammar:
        return np.ones(WORDS, dtype=bool)
    seed = int.from_bytes(hashlib.sha256(repr((grammar, said)).encode()).digest()[:8], "big")
    made: NDArray[np.bool_] = np.random.default_rng(seed).random(WORDS) < 0.5
    made[NEWLINE] = True
    made[END] = False
    return made


class ToyGrammar:
    """The reading of a grammar; refuses to go on after a token that it does not allow, where llama.cpp would end the process."""

    open = 0

    def __init__(self, c: Any, vocab: Any, words: int, grammar: str) -> None:
        self._grammar = grammar
        self._said: list[int] = []
        ToyGrammar.open += 1

    def allows(self, token: int) -> bool:
        return bool(allowed_after(self._said, self._grammar)[token])

    def mask(self, logits: Logits) -> Logits:
        made: Logits = np.where(allowed_after(self._said, self._grammar), logits, -np.inf).astype(np.float32)
        return made

    def accept(self, token: int) -> None:
        assert self.allows(token)
        self._said.append(token)

    def free(self) -> None:
        ToyGrammar.open -= 1


class ToyEngine:
    """The engine; keeps nothing, and counts."""

    c = vocab = None
    words = WORDS

    def __init__(self) -> None:
        self.calls = self.evaluated = self.rows = 0

    def tokenize(self, text: str, *, start: bool = True) -> list[int]:
        return [START] * start + list(text.encode())

    def piece(self, token: int) -> bytes:
        return b"" if token in {START, END} else bytes([token])

    def ends(self, token: int) -> bool:
        return token == END

    def after(self, tokens: list[int], guess: list[int]) -> list[Logits]:
        self.calls += 1
        self.rows += 1 + len(guess)
        return [logits_after(tokens + guess[:more]) for more in range(len(guess) + 1)]

    def close(self) -> None:
        pass
