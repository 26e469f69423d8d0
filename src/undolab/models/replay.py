"""Answers from records alone. A replay that quietly asks a model is no replay, so a miss stops the run."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.record import ChatAnswer, ChatRequest, Completion, CompletionRequest, Record
from undolab.models.answer import read_attempt
from undolab.models.backend import LiveBackend, request_key
from undolab.models.openai_http import as_completion
from undolab.models.store import HttpStore, RecordStore

_HOW = "record it with `undolab trials run --live`."


class MissingRecordError(UndolabError):
    """A request has no record. What is nearest to it is looked for only when somebody reads the message."""

    def __str__(self) -> str:
        """Return the message."""
        (said,) = self.args
        return said if isinstance(said, str) else str(said())


class UnansweredError(MissingRecordError):
    """INFRA_ERROR: a request has records, and all of them are of attempts that brought no answer."""


class ReplayBackend:
    """Answers from a store and from nothing else."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        """Return the recorded answer.

        Raises:
            MissingRecordError: there is none; names the nearest record and the first field that differs.
        """
        key = request_key(request)
        record = self._store.get(key, ordinal)
        if record is None:
            raise MissingRecordError(partial(_explain, self._store, request, key, ordinal))
        return record.completion


class HttpReplayBackend:
    """Answers from the recorded HTTP attempts of a service and from nothing else."""

    def __init__(self, store: HttpStore) -> None:
        self._store = store

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        """Return the recorded answer to a plain completion.

        Raises:
            UnansweredError: every recorded attempt failed.
            MissingRecordError: there is none; names the nearest record and the first field that differs.
        """
        return as_completion(self._answer(request, ordinal))

    def chat(self, request: ChatRequest, ordinal: int) -> ChatAnswer:
        """Return the recorded answer to a chat turn; raises what `complete` raises."""
        return self._answer(request, ordinal)

    def _answer(self, request: CompletionRequest | ChatRequest, ordinal: int) -> ChatAnswer:
        key = request_key(request)
        tried = self._store.attempts(key, ordinal)
        for attempt in tried:
            found = read_attempt(attempt)
            if isinstance(found, ChatAnswer):
                return found
        if tried:
            raise UnansweredError(
                f"{self._store.path}: INFRA_ERROR, the {len(tried)} attempts of request {key[:12]}, ordinal {ordinal} "
                f"all failed; {_HOW}"
            )
        raise MissingRecordError(partial(_explain, self._store, request, key, ordinal))


class RecordingBackend:
    """Answers from a store, and on a miss from a live model whose answer it stores at once."""

    def __init__(self, store: RecordStore, live: LiveBackend) -> None:
        self._store = store
        self._live = live
        self._engine = ""
        self.fresh = 0
        """Completions that the live model made."""

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        """Return the recorded answer, or make and record one."""
        key = request_key(request)
        record = self._store.get(key, ordinal)
        if record is not None:
            return record.completion
        if not self._engine:
            header = self._live.header()
            self._store.declare(header)
            (self._engine,) = header.engines
        completion = self._live.complete(request, ordinal)
        self._store.append(
            Record(key=key, ordinal=ordinal, request=request, completion=completion, engine=self._engine)
        )
        self.fresh += 1
        return completion

    def close(self) -> None:
        """Free the live model."""
        self._live.close()


def _explain(
    store: RecordStore | HttpStore, request: CompletionRequest | ChatRequest, key: str, ordinal: int
) -> str:
    where = f"{store.path}: no record for request {key[:12]}, ordinal {ordinal}"
    same_key = [record.ordinal for record in store if record.key == key]
    if same_key:
        return f"{where}: /ordinal differs, the store holds {len(same_key)} of this request; {_HOW}"
    wanted = dict(_leaves(msgspec.to_builtins(request)))
    nearest: tuple[tuple[int, int, int], str, str] | None = None
    for record in store:
        have = dict(_leaves(msgspec.to_builtins(record.request)))
        pointers = sorted(p for p in wanted.keys() | have.keys() if wanted.get(p) != have.get(p))
        common = _common(_whole(record.request), _whole(request))
        rank = (len(pointers), -common, record.ordinal)
        if nearest is None or rank < nearest[0]:
            nearest = (rank, record.key, pointers[0])
    if nearest is None:
        return f"{where}: the store is empty; {_HOW}"
    (_, common, _), near, pointer = nearest
    at = f" at character {-common + 1}" if pointer == "/prompt" else ""
    return f"{where}: {pointer} differs{at} from the nearest record {near[:12]}; {_HOW}"


def _whole(request: CompletionRequest | ChatRequest) -> str:
    return request.prompt if isinstance(request, CompletionRequest) else canonical(request.messages).decode()


def _leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{pointer}/{name}")
    elif isinstance(value, list) and value:
        for place, item in enumerate(value):
            yield from _leaves(item, f"{pointer}/{place}")
    else:
        yield pointer, value


def _common(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
