"""The methods by their published codes."""

from collections.abc import Mapping
from types import MappingProxyType

from undolab.model.errors import UndolabError
from undolab.model.tools import ToolSpec
from undolab.recovery.base import Method, Port
from undolab.recovery.retry import KeyedRetry, NaiveRetry, NoMethod
from undolab.recovery.verify import VerifyBeforeRetry

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "none": "the agent sees the error",
        "B0": "naive retry",
        "B2": "idempotency key where the tool declares one",
        "B6": "verify before retry through public readers",
    }
)
"""Code to what the method does, in the order of the tables."""


def make_method(code: str, port: Port, tools: Mapping[str, ToolSpec], *, task: str, run: str) -> Method:
    """Return a fresh method for one arm.

    Raises:
        UndolabError: no method has this code.
    """
    match code:
        case "none":
            return NoMethod(port)
        case "B0":
            return NaiveRetry(port)
        case "B2":
            return KeyedRetry(port, tools, task, run)
        case "B6":
            return VerifyBeforeRetry(port, tools)
        case _:
            raise UndolabError(f"no recovery method {code!r}; choose one of {', '.join(METHODS)}")
