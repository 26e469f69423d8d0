"""The shape of a method, and what all methods share: one attempt budget and one back-off."""

from typing import ClassVar, Protocol

from undolab.model.calls import Call, Reply

ATTEMPTS = 3
"""Attempts at one call, for every method that retries."""
BACKOFF_MS = 1_000
"""Virtual wait before the second attempt; it doubles with each further one."""


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


def back_off(port: Port, attempt: int) -> None:
    """Wait before attempt number `attempt` (2, 3, …): 1 s, 2 s, … of virtual time."""
    port.wait(BACKOFF_MS << (attempt - 2))
