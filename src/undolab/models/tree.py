"""What is known of a request's answers: a tree of tokens, shared by all seeds, which meet the same distributions.

Each node is what the model says after some tokens. It is computed once; a seed that comes by later only draws.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from undolab.model.record import CompletionRequest

if TYPE_CHECKING:
    from undolab.models.sampler import Head

_TREES = 4000
"""Requests remembered, the last used ones; a tree holds some thirty nodes of 2 kB."""


class Node:
    """What may come after some tokens."""

    __slots__ = ("allowed", "free", "masked", "next")

    def __init__(self) -> None:
        self.free: Head | None = None
        """What the model says; None until it was asked."""
        self.masked: Head | None = None
        """The same among the tokens that the grammar allows; None until a draw needed it."""
        self.allowed: dict[int, bool] = {}
        """Tokens of which the grammar was asked."""
        self.next: dict[int, Node] = {}


class Forest:
    """The trees of the requests met last; requests that differ in seed, limit or stop strings alone share one."""

    def __init__(self) -> None:
        self._trees: OrderedDict[tuple[object, ...], Node] = OrderedDict()

    def root(self, request: CompletionRequest) -> Node:
        """Return the node before the first token of an answer."""
        sampling = msgspec.structs.replace(request.sampling, seed=0, max_tokens=0)
        key = (request.prompt, request.grammar, sampling)
        node = self._trees.pop(key, None) or Node()
        if len(self._trees) >= _TREES:
            self._trees.popitem(last=False)
        self._trees[key] = node
        return node
