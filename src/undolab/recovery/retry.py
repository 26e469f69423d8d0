"""Methods that know only the call itself: none, B0 and B4 (naive retry), B2 and B2-K (idempotency key)."""

import hashlib
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from undolab.model.calls import Call, Reply
from undolab.model.canon import canonical
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import STANDARD, Retry
from undolab.recovery.base import Forgetful, Port, retried, step


class NoMethod(Forgetful):
    """The agent sees what happened."""

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, port: Port) -> None:
        """Pass every call on to `port`."""
        self._port = port

    def call(self, call: Call) -> Reply:
        """Make one attempt."""
        return self._port.send(call)


class NaiveRetry(Forgetful):
    """B0: the same request again while the outcome is unknown. B4 is the same with LangGraph's waits."""

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, port: Port, retry: Retry = STANDARD) -> None:
        """Retry against `port`."""
        self._port = port
        self._retry = retry

    def call(self, call: Call) -> Reply:
        """Make as many attempts as the budget has; an answer, good or bad, ends them."""
        return retried(self._port, call, self._retry)


class KeyedRetry(Forgetful):
    """B2: B0 with an idempotency key on every tool that declares one. B2-K: where every tool that writes does."""

    adds: ClassVar[frozenset[str]] = frozenset({"key"})

    def __init__(
        self, port: Port, tools: Mapping[str, ToolSpec], task: str, run: str, retry: Retry = STANDARD
    ) -> None:
        """Make keys for the calls of one run of one task."""
        self._port = port
        self._tools = tools
        self._task = task
        self._run = run
        self._retry = retry

    def call(self, call: Call) -> Reply:
        """Retry as B0 does, with the same key on each attempt."""
        if self._tools[call.tool].idempotency_key:
            call = msgspec.structs.replace(call, key=self._key(call))
        return retried(self._port, call, self._retry)

    def _key(self, call: Call) -> str:
        parts = canonical([self._task, self._run, step(call), call.tool, call.arguments])
        return f"idem_{hashlib.sha256(parts).hexdigest()[:16]}"
