"""Model calls as data: the canonical request, the raw answer, and the record of both."""

from typing import Any

import msgspec


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
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
    """`stop`, `length` (truncated) or `error`."""
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
