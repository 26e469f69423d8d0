"""Gemma and its like run in this process by llama.cpp, so that equal requests give equal tokens.

What the model says after some tokens is a function of those tokens alone (see `engine`), so it is computed once and kept
in a tree that all seeds of a request share (see `tree`), and likely next tokens are evaluated with it (see `guess`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from undolab.model.canon import short_digest
from undolab.model.errors import UndolabError
from undolab.model.record import Completion, CompletionRequest, StoreHeader
from undolab.models.config import ModelConfig, find_model_file
from undolab.models.engine import Engine
from undolab.models.gguf import tensor_types
from undolab.models.guess import guess
from undolab.models.sampler import Grammar, Head, evidence, head, logprob, number, penalised, rounded
from undolab.models.tree import Forest, Node

if TYPE_CHECKING:
    from undolab.models.engine import Logits

_LOW = -1.0
"""Tokens of a lower log-probability are weighed among those that the grammar allows, which costs a whole mask."""

_AHEAD = 64
"""Recorded tokens read in one go; a row of Gemma's logits has a megabyte."""


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
        self._engine: Engine | None = None
        self._header: StoreHeader | None = None
        self._forest = Forest()

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
        """Draw one answer, under the grammar where the request has one.

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
        walk = _Walk(engine, request, prompt)
        node = self._forest.root(request)
        logprobs: list[float] = []
        try:
            while True:
                token, likely = walk.draw(node)
                logprobs.append(rounded(likely))
                if answer.add(token):
                    break
                node = node.next.setdefault(token, Node())
        finally:
            walk.close()
        return Completion(
            text=answer.text,
            finish_reason=answer.finish_reason,
            tokens=walk.said,
            logprobs=logprobs,
            prompt_tokens=len(prompt),
        )

    def score(self, request: CompletionRequest, tokens: list[int]) -> Reading:
        """Read an answer token by token as `complete` would have drawn it, up to its end or a token it cannot hold."""
        engine = self._load()
        prompt = engine.tokenize(request.prompt)
        answer = _Answer(engine, request)
        logprobs: list[float] = []
        weight = 0.0
        refused = False
        if not self._has_room(request, prompt):
            answer.finish_reason, tokens = "error", []
        rows: list[Logits] = []
        begin = 0
        grammar = Grammar(engine.c, engine.vocab, engine.words, request.grammar)
        try:
            for place, token in enumerate(tokens):
                refused = not (0 <= token < engine.words and grammar.allows(token))
                if refused:
                    break
                if place >= begin + len(rows):
                    end = min(place + _AHEAD, request.sampling.max_tokens)
                    known = [one for one in tokens[place:end] if 0 <= one < engine.words]
                    rows, begin = engine.after(prompt + tokens[:place], known[:-1]), place
                logits = rows[place - begin]
                logprobs.append(logprob(logits, token))
                # The sampler gave this token at most with probability 1, so the logarithm is a lower bound.
                penalty = request.sampling.repeat_penalty
                if logprobs[-1] < _LOW or penalty != 1.0:
                    masked = grammar.mask(logits)
                    made = penalised(masked, tokens[:place], penalty)
                    weight += evidence(made, token, request.sampling.temperature)
                else:
                    weight += logprobs[-1]
                grammar.accept(token)
                if answer.add(token):
                    break
        finally:
            grammar.free()
        return Reading(
            text=answer.text,
            finish_reason=answer.finish_reason,
            read=len(logprobs),
            refused=refused,
            logprobs=logprobs,
            evidence=weight,
            prompt_tokens=len(prompt),
        )

    def spent(self) -> tuple[int, int]:
        """Return how many tokens were evaluated so far, and how many rows of logits were computed."""
        return (self._engine.evaluated, self._engine.rows) if self._engine else (0, 0)

    def close(self) -> None:
        """Free the model."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _has_room(self, request: CompletionRequest, prompt: list[int]) -> bool:
        return len(prompt) + request.sampling.max_tokens <= self._config.engine.context

    def _load(self) -> Engine:
        if self._engine is None:
            path = find_model_file(self._config, self._root)
            self._engine = Engine(path, self._config.engine)
        return self._engine


class _Walk:
    """One answer's way down the tree: what it said, and the logits at hand."""

    def __init__(self, engine: Engine, request: CompletionRequest, prompt: list[int]) -> None:
        self._engine = engine
        self._request = request
        self._prompt = prompt
        self._newline = engine.tokenize("\n", start=False)[-1]
        self._grammar: Grammar | None = None
        self._accepted = 0
        self._rows: list[Logits] = []
        """Logits from place `_from` on, as long as what is said is what was guessed."""
        self._from = 0
        self._guessed: list[int] = []
        self.said: list[int] = []

    def draw(self, node: Node) -> tuple[int, float]:
        """Draw the next token and say it; return it and its log-probability at temperature 1."""
        place = len(self.said)
        seed = self._request.sampling.seed
        if node.free is None:
            node.free = self._head(masked=False, keep=True)
        at, found = self._pick(node.free, number(seed, place, 0), masked=False)
        token = int(found.tokens[at])
        if token not in node.allowed:
            node.allowed[token] = self._reading().allows(token)
        if not node.allowed[token]:
            if node.masked is None:
                node.masked = self._head(masked=True, keep=True)
            at, found = self._pick(node.masked, number(seed, place, 1), masked=True)
            token = int(found.tokens[at])
            node.allowed[token] = True
        self.said.append(token)
        if self._guessed[place - self._from : place - self._from + 1] != [token]:
            self._rows = []
        return token, float(found.logprobs[at])

    def close(self) -> None:
        """Free what the walk holds."""
        if self._grammar is not None:
            self._grammar.free()

    def _pick(self, kept: Head, at: float, *, masked: bool) -> tuple[int, Head]:
        place = kept.pick(at)
        if place < 0:
            kept = self._head(masked=masked, keep=False)
            place = kept.pick(at)
            if place < 0:
                place = kept.last()
        return place, kept

    def _head(self, *, masked: bool, keep: bool) -> Head:
        raw = self._logits()
        logits = self._reading().mask(raw) if masked else raw
        sampling = self._request.sampling
        logits = penalised(logits, self.said, sampling.repeat_penalty)
        return head(logits, raw, sampling) if keep else head(logits, raw, sampling, None)

    def _reading(self) -> Grammar:
        """Return the grammar after all that was said."""
        if self._grammar is None:
            engine = self._engine
            self._grammar = Grammar(engine.c, engine.vocab, engine.words, self._request.grammar)
        for token in self.said[self._accepted :]:
            self._grammar.accept(token)
        self._accepted = len(self.said)
        return self._grammar

    def _logits(self) -> "Logits":
        place = len(self.said) - self._from
        if not 0 <= place < len(self._rows):
            room = self._request.sampling.max_tokens - len(self.said)
            self._guessed = guess(self._prompt, self.said, self._newline)[: room - 1]
            # After the end of the guessed line nothing is asked for.
            self._rows = self._engine.after(self._prompt + self.said, self._guessed[:-1])
            self._from, place = len(self.said), 0
        return self._rows[place]


class _Answer:
    """What was said so far, and why it ended."""

    def __init__(self, engine: Engine, request: CompletionRequest) -> None:
        self._engine = engine
        self._stops = [stop.encode() for stop in request.stop]
        self._left = request.sampling.max_tokens
        self._said = b""
        self.finish_reason = ""

    @property
    def text(self) -> str:
        """The answer without the stop string."""
        return self._said.decode("utf-8", "replace")

    def add(self, token: int) -> bool:
        """Take one more token and return True if the answer is over."""
        self._said += self._engine.piece(token)
        self._left -= 1
        cuts = [self._said.find(stop) for stop in self._stops if stop in self._said]
        if cuts or self._engine.ends(token):
            self._said = self._said[: min(cuts, default=None)]
            self.finish_reason = "stop"
        elif self._left <= 0:
            self.finish_reason = "length"
        return bool(self.finish_reason)
