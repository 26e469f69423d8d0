"""The methods by their published codes."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.tools import ToolSpec
from undolab.recovery.backoff import LANGGRAPH, STANDARD, Retry
from undolab.recovery.base import Disk, Method, Port
from undolab.recovery.durable import Checkpoint, Journal
from undolab.recovery.retry import KeyedRetry, NaiveRetry, NoMethod
from undolab.recovery.saga import Saga
from undolab.recovery.undo import ObserveAndUndo
from undolab.recovery.verify import VerifyBeforeRetry

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "none": "the agent sees the error",
        "B0": "naive retry",
        "B1": "checkpoint and roll back of the client's own state",
        "B2": "idempotency key where the tool declares one",
        "B2-K": "idempotency key on every tool that writes",
        "B3": "saga: compensations in reverse on final failure",
        "B4": "naive retry with LangGraph's back-off",
        "B5": "durable client journal",
        "B6": "verify before retry through public readers",
        "B7": "observe, take back by receipt what is ours, retry",
    }
)
"""Code to what the method does, in the order of the tables."""


_ADDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "B2": KeyedRetry.adds,
        "B2-K": KeyedRetry.adds,
        "B3": Saga.adds,
        "B6": VerifyBeforeRetry.adds,
        "B7": ObserveAndUndo.adds,
    }
)


def declared(code: str) -> frozenset[str]:
    """Return what a method declares that it adds to the wire: `key`, `probes`; nothing for the others."""
    return _ADDS.get(code, frozenset())


def make_method(
    code: str,
    port: Port,
    tools: Mapping[str, ToolSpec],
    *,
    task: str,
    run: str,
    disk: Disk | None = None,
    retry: Retry = STANDARD,
) -> Method:
    """Return a fresh method for one arm.

    Args:
        code: its code.
        port: where its attempts go.
        tools: the tools in play.
        task: id of the workflow, for keys.
        run: name of the run, for keys.
        disk: what it kept before its process died; None for a first start.
        retry: its budget and back-off. B4 keeps its own back-off.

    Raises:
        UndolabError: no method has this code.
    """
    disk = {} if disk is None else disk
    match code:
        case "none":
            return NoMethod(port)
        case "B0":
            return NaiveRetry(port, retry)
        case "B1":
            return Checkpoint(port, disk, retry)
        case "B2" | "B2-K":
            return KeyedRetry(port, tools, task, run, retry)
        case "B3":
            return Saga(port, tools, retry)
        case "B4":
            return NaiveRetry(port, msgspec.structs.replace(retry, backoff=LANGGRAPH))
        case "B5":
            return Journal(port, tools, disk, retry)
        case "B6":
            return VerifyBeforeRetry(port, tools, retry)
        case "B7":
            return ObserveAndUndo(port, tools, disk, task, run, retry)
        case _:
            raise UndolabError(f"no recovery method {code!r}; choose one of {', '.join(METHODS)}")
