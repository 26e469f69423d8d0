"""Back-off schedules as data: how long to wait before each further attempt, on the virtual clock."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

import msgspec


class Backoff(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One schedule: the wait before attempt n is `first_ms` times `factor` to the power of n - 2, at most `cap_ms`."""

    first_ms: int
    factor: int = 1
    cap_ms: int = 60_000
    jitter_seed: int | None = None
    """None: no jitter. Else the wait is drawn evenly between nothing and the whole, from this seed and the attempt."""

    def wait_ms(self, attempt: int) -> int:
        """Return the wait before attempt number `attempt` (2, 3, …)."""
        whole = min(self.cap_ms, self.first_ms * int(self.factor ** (attempt - 2)))
        if self.jitter_seed is None:
            return whole
        draw = hashlib.sha256(f"{self.jitter_seed}:{attempt}".encode()).digest()[:4]
        return whole * int.from_bytes(draw, "big") // 2**32


class Retry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attempt budget and its back-off."""

    attempts: int
    backoff: Backoff


EXPONENTIAL = Backoff(first_ms=1_000, factor=2)
"""1 s, 2 s, 4 s, …: what every method but B4 waits."""
LANGGRAPH = Backoff(first_ms=500, factor=2, cap_ms=128_000)
"""0.5 s, 1 s, …: the defaults of LangGraph's RetryPolicy, its jitter off."""

SCHEDULES: Mapping[str, Backoff] = MappingProxyType(
    {
        "none": Backoff(first_ms=0),
        "fixed": Backoff(first_ms=1_000),
        "exponential": EXPONENTIAL,
        "jittered": Backoff(first_ms=1_000, factor=2, jitter_seed=1),
        "langgraph": LANGGRAPH,
    }
)
"""The schedules of the sweep."""

STANDARD = Retry(attempts=3, backoff=EXPONENTIAL)
"""The budget of every method that retries."""
