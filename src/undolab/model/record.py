"""Model calls as data: the canonical request, the raw answer, and the record of both."""

import base64
from enum import StrEnum
from typing import Any, Literal

import msgspec


class Sampling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every sampling field; all of them are part of the request's key."""

    temperature: float = 0.2
    top_p: float = 1.0
    top_k: int = 0
    """0: off."""
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    max_tokens: int = 512
    seed: int = 0


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One plain completion: everything that decides the answer, nothing that does not (no URL, port, header)."""

    model: str
    """SHA-256 of the model file."""
    prompt: str
    grammar: str
    """GBNF, or empty."""
    stop: list[str]
    sampling: Sampling


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """One raw answer."""

    text: str
    finish_reason: str
    """`stop`, `length` (truncated) or `error` (the prompt does not fit); of a service also its own other words."""
    tokens: list[int]
    logprobs: list[float]
    """Natural log-probability of each token under the unmasked model distribution at temperature 1, rounded to 5 decimals."""
    prompt_tokens: int


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A request, the nth equal one within its arm, and the raw answer."""

    key: str
    """SHA-256 of the canonical request."""
    ordinal: int
    """From 1: the nth equal request within one arm."""
    request: CompletionRequest
    completion: Completion
    engine: str
    """Id of the engine settings in the store's header."""


class StoreHeader(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a record store: where its records came from."""

    model_name: str
    model_file: str
    model_digest: str
    tensor_types: dict[str, int]
    """ggml type to number of tensors."""
    engines: dict[str, dict[str, Any]]
    """Engine id to settings: library versions, threads, batch, context, CPU flags in use."""


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One chat turn with native tools: everything that decides the answer, nothing that does not."""

    model: str
    """What names the model: SHA-256 of its file, or `api:` and its name at the service."""
    messages: list[dict[str, Any]]
    """In the form of the chat completions protocol."""
    tools: list[dict[str, Any]]
    sampling: Sampling


class ChatCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as the service sent it. Its id is left out: nothing of ours rests on it."""

    name: str
    arguments: str
    """The text, unread: JSON if the model wrote JSON."""


class ChatAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one chat turn came to; always read anew from the raw bytes."""

    text: str
    calls: list[ChatCall]
    finish_reason: str
    """As the service said it (`stop`, `tool_calls`, `length`, `content_filter`), or `overflow`: the prompt does not fit."""
    prompt_tokens: int
    completion_tokens: int


class Ending(StrEnum):
    """How one HTTP attempt ended, below the meaning of its bytes."""

    WHOLE = "whole"
    """Status, headers and the whole body came."""
    CUT = "cut"
    """The connection ended within the answer."""
    TIMEOUT = "timeout"
    NO_ANSWER = "no_answer"
    """No connection, or not one byte of an answer."""
    STOPPED = "stopped"
    """This process was stopped while it waited."""


class Outcome(StrEnum):
    """What an HTTP attempt meant. It follows from the other fields, and a reader checks that it does."""

    ANSWERED = "answered"
    """The model's answer, be it good or bad, or the service's word that the prompt does not fit."""
    FAILED = "failed"
    """INFRA_ERROR: a rate limit, an error of the service, a cut or unreadable answer. Asked again, never scored."""
    REFUSED = "refused"
    """The service does not take such a request: a person must mend key, name or settings."""


class HttpAttempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One HTTP request to a model's service and the raw answer, whatever it was. No key and no address is in it."""

    key: str
    """SHA-256 of the canonical request."""
    ordinal: int
    """From 1: the nth equal request within one arm."""
    attempt: int
    """From 1: the nth HTTP request for this answer; each but the last came to nothing."""
    completion: CompletionRequest | None = None
    """The request, where it was for a plain completion."""
    chat: ChatRequest | None = None
    """The request, where it was for a chat turn."""
    sent: str
    """The JSON body that was sent."""
    ending: Ending
    status: int
    """0: none came."""
    headers: dict[str, str]
    """Those that say how to read the body, or when to come back."""
    body: str
    """As much as came; in base64 where `encoding` says so."""
    encoding: Literal["utf-8", "base64"]
    outcome: Outcome
    millis: int
    """How long it took."""
    engine: str
    """Id of the client's settings in the store's header."""

    def __post_init__(self) -> None:
        if (self.completion is None) == (self.chat is None):
            raise ValueError("an attempt has one request, plain or chat")

    @property
    def request(self) -> CompletionRequest | ChatRequest:
        """What was asked."""
        asked = self.chat if self.completion is None else self.completion
        assert asked is not None  # noqa: S101 - held by __post_init__
        return asked

    def raw(self) -> bytes:
        """Return the body as it came."""
        return self.body.encode() if self.encoding == "utf-8" else base64.b64decode(self.body, validate=True)
