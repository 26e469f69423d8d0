"""What a source of completions is, and the key that names a request; agents know nothing more of models."""

from typing import Protocol

from undolab.model.canon import digest
from undolab.model.record import ChatAnswer, ChatRequest, Completion, CompletionRequest, StoreHeader


class Backend(Protocol):
    """A source of completions."""

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        """Answer the `ordinal`th (from 1) request of this key within one arm."""
        ...


class ChatBackend(Protocol):
    """A source of chat turns with native tools."""

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        """Answer the `ordinal`th (from 1) request of this key within one arm."""
        ...


class LiveBackend(Backend, Protocol):
    """A backend that runs the model, and can say which one, and how."""

    def header(self) -> StoreHeader:
        """Return the model's name, file, digest, tensor types, and the one engine in use."""
        ...

    def close(self) -> None:
        """Free the model."""
        ...


class Scored(Protocol):
    """What a scorer says of recorded tokens."""

    @property
    def text(self) -> str:
        """The tokens as text, with any stop string at the end still in it."""
        ...

    @property
    def ended(self) -> bool:
        """True if the last token ends generation by itself."""
        ...

    @property
    def logprobs(self) -> list[float]:
        """Natural log-probability of each token, given the prompt and the tokens before it."""
        ...

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens of the prompt."""
        ...


class Scorer(Protocol):
    """Something that can read tokens under the model instead of sampling them."""

    def score(self, prompt: str, tokens: list[int]) -> Scored:
        """Return the log-probabilities of `tokens` after `prompt`."""
        ...


def request_key(request: CompletionRequest | ChatRequest) -> str:
    """Return the digest that names a request: every field of it decides the answer, so every field counts."""
    return digest(request)
