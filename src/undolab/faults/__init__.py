"""The proxy between agent and world: it carries calls, writes the wire log, and injects witnessed faults."""

from undolab.faults.proxy import FaultProxy, WorldPort

__all__ = ["FaultProxy", "WorldPort"]
