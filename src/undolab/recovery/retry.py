"""Methods that know only the call itself: none, B0 (naive retry) and B2 (idempotency key)."""

import hashlib
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from undolab.model.calls import Call, Phase, Reply
from undolab.model.canon import canonical
from undolab.model.tools import ToolSpec
from undolab.recovery.base import ATTEMPTS, Port, back_off


class NoMethod:
    """The agent sees what happened."""

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, port: Port) -> None:
        """Pass every call on to `port`."""
        self._port = port

    def call(self, call: Call) -> Reply:
        """Make one attempt."""
        return self._port.send(call)


class NaiveRetry:
    """B0: the same request again while the outcome is unknown."""

    adds: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, port: Port) -> None:
        """Retry against `port`."""
        self._port = port

    def call(self, call: Call) -> Reply:
        """Make up to `ATTEMPTS` attempts; an answer, good or bad, ends them."""
        reply = self._port.send(call)
        for attempt in range(2, ATTEMPTS + 1):
            if reply.phase is not Phase.UNKNOWN:
                break
            back_off(self._port, attempt)
            reply = self._port.send(call)
        return reply


class KeyedRetry:
    """B2: B0 with an idempotency key on every tool that declares one."""

    adds: ClassVar[frozenset[str]] = frozenset({"key"})

    def __init__(self, port: Port, tools: Mapping[str, ToolSpec], task: str, run: str) -> None:
        """Make keys for the calls of one run of one task."""
        self._retry = NaiveRetry(port)
        self._tools = tools
        self._task = task
        self._run = run

    def call(self, call: Call) -> Reply:
        """Retry as B0 does, with the same key on each attempt."""
        if self._tools[call.tool].idempotency_key:
            call = msgspec.structs.replace(call, key=self._key(call))
        return self._retry.call(call)

    def _key(self, call: Call) -> str:
        step = f"{call.turn}.{call.position}"
        parts = canonical([self._task, self._run, step, call.tool, call.arguments])
        return f"idem_{hashlib.sha256(parts).hexdigest()[:16]}"
