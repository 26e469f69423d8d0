"""Recovery methods: what stands between an agent and the proxy and answers a lost outcome for it."""

from undolab.recovery.base import Method, Port
from undolab.recovery.registry import METHODS, make_method

__all__ = ["METHODS", "Method", "Port", "make_method"]
