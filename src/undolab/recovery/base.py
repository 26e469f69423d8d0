"""The shape of a method, and what all methods share: one attempt budget and one back-off."""

from collections.abc import MutableMapping
from typing import Any, ClassVar, Protocol, TypeAlias

from undolab.model.calls import Call, Phase, Reply
from undolab.recovery.backoff import STANDARD, Retry

ATTEMPTS = STANDARD.attempts
"""Attempts at one call, for every method that retries."""

Disk: TypeAlias = MutableMapping[str, Any]
"""What of a method survives the death of its process."""


class Port(Protocol):
    """Where a method sends its attempts: the proxy."""

    def send(self, call: Call) -> Reply:
        """Make one attempt."""
        ...

    def wait(self, ms: int) -> None:
        """Let virtual time pass."""
        ...


class Method(Protocol):
    """A recovery method of one arm."""

    adds: ClassVar[frozenset[str]]
    """What the method adds to the wire of a run in which nothing fails: `key`, `probes`."""

    def call(self, call: Call) -> Reply:
        """Make the agent's call, however many attempts that takes."""
        ...

    def checkpoint(self) -> None:
        """Keep what must survive the process; called when the agent's own checkpoint of a turn is written."""
        ...


class Forgetful:
    """A method without anything to keep."""

    def checkpoint(self) -> None:
        """Keep nothing."""


def retried(port: Port, call: Call, retry: Retry) -> Reply:
    """Send the same request until it is answered or the budget is spent.

    An answer, good or bad, ends it, but for the one that says a request with the same key is still running.
    """
    reply = port.send(call)
    for attempt in range(2, retry.attempts + 1):
        running = reply.phase is Phase.FAIL and reply.output.get("code") == "key_in_flight"
        if reply.phase is not Phase.UNKNOWN and not running:
            break
        port.wait(retry.backoff.wait_ms(attempt))
        reply = port.send(call)
    return reply


def step(call: Call) -> str:
    """Return the name of a call's place in the run: the same again only for an agent that does a turn anew."""
    return f"{call.turn}.{call.position}"
