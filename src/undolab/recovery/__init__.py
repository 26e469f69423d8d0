"""Recovery methods: what stands between an agent and the proxy and answers a lost outcome for it."""

from undolab.recovery.backoff import SCHEDULES, STANDARD, Backoff, Retry
from undolab.recovery.base import Disk, Method, Port
from undolab.recovery.registry import METHODS, declared, make_method

__all__ = [
    "METHODS",
    "SCHEDULES",
    "STANDARD",
    "Backoff",
    "Disk",
    "Method",
    "Port",
    "Retry",
    "declared",
    "make_method",
]
