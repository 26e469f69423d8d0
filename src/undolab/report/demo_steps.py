"""One arm's wire log as a list of cards: what the agent said, what it asked for, what happened, what it was told."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from undolab.model.calls import LedgerRow, Phase, Reply
from undolab.model.match import holds
from undolab.model.observe import Seen, reader_arguments, seen
from undolab.model.tools import Op, ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import WireEffectEvent, WireLine
from undolab.model.workflow import RequiredEffect, Workflow
from undolab.oracle.effects import Role, account
from undolab.oracle.history import History, history
from undolab.report import demo_words

_SAID = 1_200
_SHOWN = 420


def arm_view(
    workflow: Workflow, tools: Mapping[str, ToolSpec], lines: Sequence[WireLine], verdict: Verdict
) -> dict[str, Any]:
    """Return one arm as plain data: its cards, its effect counts and its verdict in words.

    Raises:
        UndolabError: the log is cut.
    """
    log = history(lines)
    rows = _ledger(log)
    counts = [{**group, "count": 0} for group in effect_groups(workflow, tools)]
    owners = _owners(workflow, rows)
    faults = {
        event.attempt: log.start.faults[event.fault].boundary
        for event in log.faults
        if event.stage == "injected"
    }
    cards: list[dict[str, Any]] = []
    for turn in log.turns:
        ends = [
            event for event in log.events if event.phase is not Phase.INVOKE and _turn(event) == turn.turn
        ]
        first: dict[str, Any] = {"turn": turn.turn, "said": _cut(turn.said.strip(), _SAID)}
        if turn.error:
            first["error"] = _cut(turn.error, _SHOWN)
        for position, event in enumerate(ends):
            card = {"turn": turn.turn} if cards and cards[-1]["turn"] == turn.turn else first
            card |= _attempt(event, tools, str(faults.get(event.attempt, "")))
            card |= _effects(event, owners.get(event.attempt), counts)
            card |= _heard(event, ends[position + 1 :], ends[:position], tools)
            cards.append(card)
        if not ends:
            cards.append(first)
    return {
        "cards": cards,
        "counts": counts,
        "passed": verdict.passed,
        "failure": verdict.failure.value,
        "headline": demo_words.headline(verdict),
        "story": demo_words.story(verdict, counts),
        "clauses": demo_words.clauses(verdict, workflow),
        "exposure": demo_words.exposure(verdict),
        "reason": log.report.reason,
    }


def effect_groups(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> list[dict[str, Any]]:
    """Return the required effects as `label`, `min` and `max`; equal ones are one group: no commit tells them apart.

    The label is what the tool does; where one tool makes several effects, what the plan says tells them apart.
    """
    groups: dict[str, list[RequiredEffect]] = {}
    for effect in workflow.effects:
        groups.setdefault(_group(effect), []).append(effect)
    used = [same[0].tool for same in groups.values()]
    found = []
    for same in groups.values():
        label = tools[same[0].tool].description.strip().rstrip(".")
        if used.count(same[0].tool) > 1:
            label += f": {_planned(workflow, same[0])}"
        found.append({"label": label, "min": sum(e.min for e in same), "max": sum(e.max for e in same)})
    return found


def _group(effect: RequiredEffect) -> str:
    return json.dumps([effect.tool, effect.entity, effect.arguments], sort_keys=True)


def _planned(workflow: Workflow, effect: RequiredEffect) -> str:
    for step in workflow.plan:
        if step.tool == effect.tool and holds(effect.arguments, step.arguments):
            return step.say.strip().rstrip(".")
    return effect.id


def _turn(event: WireEffectEvent) -> int:
    return int(event.attempt.split(".", 1)[0])


def _ledger(log: History) -> list[LedgerRow]:
    committed = [
        (event, effect) for event in log.events if event.phase is not Phase.INVOKE for effect in event.effects
    ]
    return [
        LedgerRow(
            seq=number,
            attempt=event.attempt,
            tool=event.tool_name,
            arguments=event.arguments,
            effect=effect,
            key=event.key,
        )
        for number, (event, effect) in enumerate(committed, start=1)
    ]


def _owners(workflow: Workflow, rows: Sequence[LedgerRow]) -> dict[str, tuple[Role, int | None]]:
    """Return each committed attempt's role by the judge's own rule, and the effect group that it falls into."""
    whole = account(workflow.effects, workflow.forbidden, rows)
    owners: dict[str, tuple[Role, int | None]] = {
        call.attempt: (role, None) for call, role in zip(whole.calls, whole.roles, strict=True)
    }
    place = {key: index for index, key in enumerate(dict.fromkeys(map(_group, workflow.effects)))}
    for effect in workflow.effects:
        alone = account([effect], [], rows)
        for call, role in zip(alone.calls, alone.roles, strict=True):
            known = owners[call.attempt][0]
            if role in {Role.REQUIRED, Role.DUPLICATE, Role.REPEAT}:
                owners[call.attempt] = (known, place[_group(effect)])
    return owners


def _attempt(event: WireEffectEvent, tools: Mapping[str, ToolSpec], fault: str) -> dict[str, Any]:
    card: dict[str, Any] = {
        "tool": event.tool_name,
        "args": _arguments(event.arguments, tools[event.tool_name]),
        "op": event.op_type.value,
        "by": event.origin,
        "nth": int(event.attempt.rstrip("m").split(".")[2]),
        "server": _server(event),
    }
    if event.key is not None:
        card["key"] = event.key
        card["honoured"] = tools[event.tool_name].idempotency_key
    if fault:
        card["fault"] = fault
    if event.output is not None:
        card["output"] = _cut(_text(event.output), _SHOWN)
    return card


def _server(event: WireEffectEvent) -> str:
    """Return what the service did: nothing, refused, replayed, read, idle (a write without effect) or committed."""
    if event.effects:
        return "committed"
    if event.output is None:
        return "nothing"
    if event.replay_of is not None:
        return "replayed"
    if event.phase is Phase.FAIL:
        return "refused"
    return "read" if event.op_type is Op.READ else "idle"


def _effects(
    event: WireEffectEvent, owner: tuple[Role, int | None] | None, counts: list[dict[str, Any]]
) -> dict[str, Any]:
    if owner is None:
        return {}
    role, group = owner
    card: dict[str, Any] = {
        "effects": [
            {"op": effect.op.value, "entity": effect.entity, "same": effect.before == effect.after}
            for effect in event.effects
        ],
        "role": role.value,
    }
    if group is not None:
        # A repeat that changed nothing is no further effect, and the judge does not count it as one.
        counts[group]["count"] += role is not Role.REPEAT
        card["group"] = group
        card["count"] = counts[group]["count"]
    return card


def _heard(
    event: WireEffectEvent,
    later: Sequence[WireEffectEvent],
    earlier: Sequence[WireEffectEvent],
    tools: Mapping[str, ToolSpec],
) -> dict[str, Any]:
    """Return who was told what: `agent` or `method`, and how the answer looked."""
    place = event.attempt.rsplit(".", 1)[0]
    own = [e for e in later if e.origin == "agent" and e.attempt.rsplit(".", 1)[0] == place]
    probes = [
        e for e in later if e.origin != "agent" and e.attempt.split(".")[:2] == event.attempt.split(".")[:2]
    ]
    to_agent = event.origin == "agent" and not own
    if event.phase is not Phase.UNKNOWN:
        return {"told": "agent" if to_agent else "method", "heard": event.phase.value}
    if to_agent and probes and _adopted(event, probes[0], earlier, tools):
        return {"told": "agent", "heard": "adopted"}
    return {"told": "agent" if to_agent else "method", "heard": "lost"}


def _adopted(
    event: WireEffectEvent,
    probe: WireEffectEvent,
    earlier: Sequence[WireEffectEvent],
    tools: Mapping[str, ToolSpec],
) -> bool:
    observe = tools[event.tool_name].observe
    if observe is None or reader_arguments(observe, event.arguments) is None:
        return False
    before = next((e for e in earlier if e.origin != "agent" and e.tool_name == observe.tool), None)
    shown = seen(observe, event.arguments, None if before is None else _reply(before), _reply(probe))
    return shown is Seen.PRESENT


def _reply(event: WireEffectEvent) -> Reply:
    return Reply(phase=event.phase, output=event.output or {})


def _arguments(arguments: Mapping[str, Any], tool: ToolSpec) -> list[list[str]]:
    """Return name and value of each argument in the order of the tool's schema; the log sorts them by name."""
    order = list(tool.parameters.get("properties", {}))
    names = sorted(arguments, key=lambda name: (order.index(name) if name in order else len(order), name))
    return [[name, _cut(_text(arguments[name]), _SHOWN)] for name in names]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
