"""Prefix equality: up to the target call, a fault arm is its control, byte for byte, but for what the method declares."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from undolab.model.fault import Exposure
from undolab.model.wire import FaultEvent, ReportEvent, TurnEvent, WireEffectEvent, WireLine


class Prefix(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of one fault arm with its control."""

    arm: str
    exposure: Exposure
    equal: bool
    compared: int
    """Lines compared."""
    seen_at_fault: str
    """Digest of every byte that the agent had seen when it made the target call; empty if it never did."""
    difference: str = ""
    """The first difference in words."""


def compare_prefix(
    arm: str,
    exposure: Exposure,
    control: Sequence[WireLine],
    fault: Sequence[WireLine],
    adds: Collection[str] = (),
) -> Prefix:
    """Compare the lines of both arms up to the fault's target call; the whole of both where it was never made.

    Sequence numbers, links and virtual time are left out, and what the method declares that it adds.
    """
    target = next(
        (line.attempt for line in fault if isinstance(line, FaultEvent) and line.stage == "armed"), None
    )
    left, right = _visible(control, target, adds), _visible(fault, target, adds)
    turns = [line for line in right if line[0] == "turn"]
    difference = ""
    for number, (a, b) in enumerate(zip(left, right, strict=False), start=1):
        if a != b:
            difference = f"line {number}: the control has {a}, the fault arm has {b}"
            break
    if not difference and len(left) != len(right):
        difference = (
            f"the control has {len(left)} lines before the target call, the fault arm has {len(right)}"
        )
    return Prefix(
        arm=arm,
        exposure=exposure,
        equal=not difference,
        compared=min(len(left), len(right)),
        seen_at_fault=str(turns[-1][2]) if target and turns else "",
        difference=difference,
    )


def visible(lines: Sequence[WireLine], adds: Collection[str]) -> list[tuple[Any, ...]]:
    """Return what the agent and the world did in an arm, without what the method declares that it adds."""
    return _visible(lines, None, adds)


def _visible(lines: Sequence[WireLine], target: str | None, adds: Collection[str]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for line in lines:
        if isinstance(line, TurnEvent):
            rows.append(("turn", line.turn, line.seen, line.said, line.error, line.record))
        elif isinstance(line, WireEffectEvent) and (line.origin == "agent" or "probes" not in adds):
            if line.attempt == target:
                break
            effects = [(e.entity, e.op, e.before, e.after) for e in line.effects]
            row = (
                line.phase,
                line.attempt,
                line.tool_name,
                line.arguments,
                line.output,
                effects,
                line.replay_of,
                line.origin,
                None if "key" in adds else line.key,
            )
            rows.append(("event", *row))
        elif isinstance(line, ReportEvent):
            rows.append(("report", line.report, line.reason, line.turns, line.final_state))
    return rows
