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
    """What a scorer says of recorded tokens, read one by one up to the end of the answer."""

    @property
    def text(self) -> str:
        """The tokens read as text, without the stop string."""
        ...

    @property
    def finish_reason(self) -> str:
        """`stop`, `length`, `error` (the prompt leaves no room), or empty: the tokens do not end the answer."""
        ...

    @property
    def read(self) -> int:
        """How many tokens were read: fewer than recorded where the answer ends sooner or a token is refused."""
        ...

    @property
    def refused(self) -> bool:
        """True if the token after those read is one that the request's grammar does not allow."""
        ...

    @property
    def logprobs(self) -> list[float]:
        """Natural log-probability of each token read, given the prompt and the tokens before it."""
        ...

    @property
    def evidence(self) -> float:
        """At most the logarithm of how many times sooner temperature 1 gives these tokens than the request's."""
        ...

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens of the prompt."""
        ...


class Scorer(Protocol):
    """Something that can read tokens under the model instead of sampling them."""

    def score(self, request: CompletionRequest, tokens: list[int]) -> Scored:
        """Read `tokens` as the answer to `request`."""
        ...


def request_key(request: CompletionRequest | ChatRequest) -> str:
    """Return the digest that names a request: every field of it decides the answer, so every field counts."""
    return digest(request)
