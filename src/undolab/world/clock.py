"""The virtual clock: waiting costs no time, and nothing in rows or outputs depends on it."""


class Clock:
    """Milliseconds since the arm began."""

    __slots__ = ("now_ms",)

    def __init__(self) -> None:
        self.now_ms = 0

    def advance(self, ms: int) -> None:
        """Move on by `ms` milliseconds.

        Raises:
            ValueError: `ms` is negative.
        """
        if ms < 0:
            raise ValueError(f"the clock cannot go back by {-ms} ms")
        self.now_ms += ms
