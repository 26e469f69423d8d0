"""A model behind an OpenAI-compatible service, asked through the `openai` package; each HTTP attempt is a record.

The package's own retries are off, so that every attempt is counted, and its reading of the answers is not used: an answer
is what its recorded bytes say, today and on replay.
"""

import base64
import importlib.metadata
import os
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from undolab.model.canon import canonical, short_digest
from undolab.model.errors import UndolabError
from undolab.model.record import (
    ChatAnswer,
    ChatRequest,
    Completion,
    CompletionRequest,
    HttpAttempt,
    Outcome,
    StoreHeader,
)
from undolab.models.answer import OVERFLOW, Trouble, read_answer, read_attempt, unpack
from undolab.models.backend import request_key
from undolab.models.budget import Budget
from undolab.models.config import ApiConfig
from undolab.models.store import HttpStore

if TYPE_CHECKING:
    from undolab.models.http_tap import Seen

_MISSING = (
    "the openai package is not installed here; install undolab[study] (replaying records does not need it)"
)
_LONGEST_WAIT = 60.0
_VISIBLE_ASCII = range(33, 127)
_SHORTEST_KEY = 8
"""A shorter one may be a word of an answer, and could not be taken out of it without harm."""


class InfraError(UndolabError):
    """INFRA_ERROR: the service gave no answer. The trial is run again, never scored; its attempts are in the store."""


class OpenAIBackend:
    """Answers from a store, and for what it lacks from the service, storing each attempt before it is used.

    Args:
        config: the model's entry in `config/models.yaml`.
        store: where attempts are recorded.
        budget: what may be spent.
        environment: where the API key is looked up.
        notice: gets one line for each attempt that came to nothing.
        sleep: waits so many seconds between attempts.
    """

    def __init__(
        self,
        config: ApiConfig,
        store: HttpStore,
        *,
        budget: Budget | None = None,
        environment: Mapping[str, str] = os.environ,
        notice: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config = config
        self._store = store
        self._budget = budget or Budget(config.price)
        self._notice = notice
        self._sleep = sleep
        self._key = _read_key(config, environment)
        self._hide = _hider(self._key)
        self._client: Any = None
        self._tap: Any = None
        self._engine = ""
        self.fresh = 0
        """Answers that the service gave."""

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        """Return the answer to a plain completion.

        Raises:
            InfraError: every attempt failed.
            UndolabError: the service refuses the request, or the budget is spent.
        """
        return as_completion(self.answer(request, ordinal))

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        """Return the answer to a chat turn; raises what `complete` raises."""
        return self.answer(request, ordinal)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, request: CompletionRequest | ChatRequest, ordinal: int) -> ChatAnswer:
        """Return the answer to either kind of request; raises what `complete` raises."""
        if request.model != self._config.identity:
            raise UndolabError(
                f"the request is for model {request.model[:20]}, but {self._config.name} is asked; name one of them."
            )
        key = request_key(request)
        tried = self._store.attempts(key, ordinal)
        for attempt in tried:
            found = read_attempt(attempt)
            if isinstance(found, ChatAnswer):
                return found
        self._open()
        for number in range(1, self._config.attempts + 1):
            attempt = self._try(request, key, ordinal, len(tried) + number)
            found = read_attempt(attempt)
            if isinstance(found, ChatAnswer):
                self.fresh += 1
                return found
            if found.outcome is Outcome.REFUSED:
                raise UndolabError(
                    f"{self._config.name}: the service refuses the request ({found.why}); mend key, name or settings "
                    f"in config/models.yaml, then run `undolab models check {self._config.name}`."
                )
            wait = _wait(number, attempt.headers) if number < self._config.attempts else 0.0
            self._notice(
                f"{self._config.name}: INFRA_ERROR, attempt {number} of {self._config.attempts}: {found.why}"
                + (f"; again in {wait:g} s" if wait else "")
            )
            self._sleep(wait)
        raise InfraError(
            f"{self._config.name}: INFRA_ERROR, no answer to request {key[:12]} in {self._config.attempts} attempts; "
            "run the same command again when the service is back."
        )

    def _try(
        self, request: CompletionRequest | ChatRequest, key: str, ordinal: int, number: int
    ) -> HttpAttempt:
        """Make one HTTP attempt and store it, also when this process is stopped meanwhile."""
        from openai import OpenAIError

        self._budget.allow(request)
        recorded: HttpAttempt | None = None
        try:
            self._send(request)
        except OpenAIError:
            pass  # What came of it is in the tap.
        finally:
            for seen in self._tap.take():
                recorded = self._record(seen, request, key, ordinal, number)
                self._store.append(recorded)
                self._budget.count(request, read_attempt(recorded))
                number += 1
        if recorded is None:
            raise UndolabError(
                f"{self._config.name}: the request could not be sent; mend url and key in config/models.yaml."
            )
        return recorded

    def _send(self, request: CompletionRequest | ChatRequest) -> None:
        sampling = request.sampling
        extra: dict[str, Any] = {
            name: getattr(sampling, name)
            for name in ("top_k", "min_p", "repeat_penalty")
            if name in self._config.accepts
        }
        common: dict[str, Any] = {
            "model": self._config.model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            self._config.limit: sampling.max_tokens,
        }
        if self._config.stream:
            common |= {"stream": True, "stream_options": {"include_usage": True}}
        if isinstance(request, CompletionRequest):
            if request.grammar:
                extra["grammar"] = request.grammar
            ask = self._client.completions.with_raw_response.create
            ask(prompt=request.prompt, stop=request.stop, extra_body=extra, **common)
        else:
            tools = {"tools": request.tools} if request.tools else {}
            ask = self._client.chat.completions.with_raw_response.create
            ask(messages=request.messages, extra_body=extra, **tools, **common)

    def _record(
        self, seen: "Seen", request: CompletionRequest | ChatRequest, key: str, ordinal: int, number: int
    ) -> HttpAttempt:
        body, headers = self._without_key(seen)
        found = read_answer(seen.ending, seen.status, headers, body)
        text, encoding = _as_text(body)
        return HttpAttempt(
            key=key,
            ordinal=ordinal,
            attempt=number,
            completion=request if isinstance(request, CompletionRequest) else None,
            chat=request if isinstance(request, ChatRequest) else None,
            sent=seen.sent.decode(),
            ending=seen.ending,
            status=seen.status,
            headers=headers,
            body=text,
            encoding="base64" if encoding else "utf-8",
            outcome=found.outcome if isinstance(found, Trouble) else Outcome.ANSWERED,
            millis=round(seen.seconds * 1000),
            engine=self._engine,
        )

    def _without_key(self, seen: "Seen") -> tuple[bytes, dict[str, str]]:
        """Return body and headers of an answer: a service may quote the key, and it may do so in a packed body."""
        if not self._key:
            return seen.body, seen.headers
        headers = {name: self._hide(value.encode()).decode() for name, value in seen.headers.items()}
        try:
            plain, whole = unpack(seen.body, headers)
        except ValueError:
            return b"", headers  # What cannot be looked into is not kept.
        hidden = self._hide(plain)
        if hidden == plain:
            return seen.body, headers
        if not whole:
            return b"", headers
        return hidden, {name: value for name, value in headers.items() if name != "content-encoding"}

    def _open(self) -> None:
        if self._client is not None:
            return
        try:
            import httpx2
            from openai import OpenAI, omit

            from undolab.models.http_tap import Tap
        except ImportError as error:
            raise UndolabError(_MISSING) from error
        config = self._config
        self._tap = Tap(config.timeout)
        headers: Any = {
            "Accept-Encoding": "identity",
            # The package takes these from its own variables; they are OpenAI's business, not every service's.
            "OpenAI-Organization": omit,
            "OpenAI-Project": omit,
        }
        self._client = OpenAI(
            base_url=config.url,
            api_key=self._key or "none",
            max_retries=0,
            timeout=config.timeout,
            default_headers=headers,
            http_client=httpx2.Client(transport=self._tap, timeout=config.timeout, follow_redirects=False),
        )
        settings: dict[str, Any] = {
            "client": f"openai {importlib.metadata.version('openai')}",
            "model": config.model,
            "protocol": config.protocol,
            "stream": config.stream,
            "served_by": config.served_by,
        }
        self._engine = short_digest(settings)
        # Before anything is sent: an answer that cannot be stored would be lost.
        self._store.hold()
        self._store.declare(
            StoreHeader(
                model_name=config.name,
                model_file=config.file.rpartition("/")[2],
                model_digest=config.identity,
                tensor_types={},
                engines={self._engine: settings},
            )
        )


def as_completion(answer: ChatAnswer) -> Completion:
    """Return an answer in the form of a plain completion; a service tells no token ids."""
    reason = "error" if answer.finish_reason == OVERFLOW else answer.finish_reason
    return Completion(
        text=answer.text,
        finish_reason=reason,
        tokens=[],
        logprobs=[],
        prompt_tokens=answer.prompt_tokens,
    )


def _read_key(config: ApiConfig, environment: Mapping[str, str]) -> str:
    if not config.key:
        return ""
    key = environment.get(config.key, "")
    if not key:
        raise UndolabError(f"{config.name}: the environment has no {config.key}; put the API key there.")
    if any(ord(letter) not in _VISIBLE_ASCII for letter in key):
        raise UndolabError(f"{config.name}: {config.key} holds a blank or a strange character; set it anew.")
    if len(key) < _SHORTEST_KEY:
        raise UndolabError(
            f"{config.name}: the key in {config.key} has fewer than {_SHORTEST_KEY} characters, so that it could not be kept "
            "out of the records; use a longer one, or leave `key` out if the service needs none."
        )
    return key


def _hider(key: str) -> Callable[[bytes], bytes]:
    """Return a function that puts `[key]` in place of the key, also where JSON or a URL has escaped it."""
    pattern = ""
    for letter in key:
        plain = (r"\\?" if letter in '"/\\' else "") + re.escape(letter)
        pattern += rf"(?:{plain}|(?i:\\u00{ord(letter):02x}|%{ord(letter):02x}))"
    return partial(re.compile(pattern.encode()).sub, b"[key]")


def _as_text(body: bytes) -> tuple[str, bool]:
    """Return the bytes as text, and whether they had to be put into base64 for it."""
    try:
        text = body.decode()
        canonical({"body": text})
    except ValueError:
        return base64.b64encode(body).decode(), True
    return text, False


def _wait(number: int, headers: Mapping[str, str]) -> float:
    """Return how long to wait after the nth failed attempt: what the service asks for, or doubling seconds."""
    asked = headers.get("retry-after", "")
    seconds = float(asked) if asked.isascii() and asked.isdigit() else float(2 ** (number - 1))
    return min(seconds, _LONGEST_WAIT)
