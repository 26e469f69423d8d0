"""Checks that the parts of a workflow agree with each other and with the tools, beyond what its types can say."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from undolab.model.errors import UndolabError
from undolab.model.match import holds
from undolab.model.schema import pointer, problems, unsupported
from undolab.model.tools import Reversibility, ToolSpec
from undolab.model.workflow import Scenario, Step, Workflow

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
"""A tool or an argument: what a line of a transcript can hold and every service takes."""
_NAMES = "a letter or _, then letters, digits, _ . or -, 64 at most"
_ARGUMENTS = 32
"""More of them, all optional, are repetitions beyond what llama.cpp's grammars take."""
_PLACEHOLDER = re.compile(r"-?\{([\w.]+)\}")
Found: TypeAlias = list[tuple[str, str]]
"""Problems as (JSON pointer, text)."""


def check_tools(tools: Mapping[str, ToolSpec]) -> Found:
    """Return each problem of the tools as (`/tool/field`, text): operations, observers and what they refer to."""
    found: Found = []
    for name, tool in tools.items():
        here = pointer("", name)
        found += _schema(tool, here)
        if (
            tool.parameters.get("type") != "object"
            or tool.parameters.get("additionalProperties") is not False
        ):
            found.append((f"{here}/parameters", "must be an object with additionalProperties: false"))
        if tool.writes and tool.reversibility is None:
            found.append((f"{here}/reversibility", "is missing: the tool writes"))
        if not tool.writes and (
            tool.reversibility or tool.observe or tool.inverse or tool.idempotency_key or tool.sub_writes != 1
        ):
            found.append(
                (
                    here,
                    "only reads, so it has no reversibility, observe, inverse, idempotency_key or sub_writes",
                )
            )
        found += _observer(tool, tools, here)
        found += _inverse(tool, tools, here)
    return found


def _schema(tool: ToolSpec, here: str) -> Found:
    """Return what of a tool's parameters no checker or grammar takes, property by property."""
    found: Found = []
    if not _NAME.fullmatch(tool.name):
        found.append((here, f"is no name for a tool: {_NAMES}"))
    defs = tool.parameters.get("$defs", {})
    properties = tool.parameters.get("properties", {})
    why = unsupported({**tool.parameters, "properties": {}}, defs)
    if why:
        found.append((f"{here}/parameters", why))
    for place, (name, schema) in enumerate(properties.items()):
        at = pointer(f"{here}/parameters/properties", name)
        if not _NAME.fullmatch(name):
            found.append((at, f"is no name for an argument: {_NAMES}"))
        if place == _ARGUMENTS:
            found.append((at, f"is one argument too many: no grammar takes more than {_ARGUMENTS}"))
        why = unsupported(schema, defs)
        if why:
            found.append((at, why))
    return found


def _observer(tool: ToolSpec, tools: Mapping[str, ToolSpec], here: str) -> Found:
    observe = tool.observe
    if observe is None:
        return []
    at = f"{here}/observe"
    reader = tools.get(observe.tool)
    if reader is None or reader.writes:
        return [(f"{at}/tool", f"{observe.tool} is not a reader")]
    wanted = set(reader.parameters.get("required", ()))
    if wanted != observe.arguments.keys():
        return [(f"{at}/arguments", f"must give {', '.join(sorted(wanted))}")]
    if observe.rule in ("added", "listed") and not observe.field:
        return [(f"{at}/field", f"is missing: rule {observe.rule} needs it")]
    if observe.rule == "added" and observe.by is None:
        return [(f"{at}/by", "is missing: rule added needs it")]
    return []


def _inverse(tool: ToolSpec, tools: Mapping[str, ToolSpec], here: str) -> Found:
    inverse = tool.inverse
    if inverse is None:
        return []
    at = f"{here}/inverse"
    if tool.reversibility is Reversibility.IRREVERSIBLE:
        return [(at, "stands at a tool whose effect is IRREVERSIBLE")]
    target = tools.get(inverse.tool)
    if target is None or not target.writes:
        return [(f"{at}/tool", f"{inverse.tool} does not write")]
    wanted = set(target.parameters.get("required", ()))
    if wanted != inverse.arguments.keys():
        return [(f"{at}/arguments", f"must give {', '.join(sorted(wanted))}")]
    names = [_PLACEHOLDER.fullmatch(value) for value in inverse.arguments.values() if isinstance(value, str)]
    for name in (match[1] for match in names if match):
        source = name.partition(".")[0]
        if source == "before" and tool.observe is None:
            return [(f"{at}/arguments", f"{name} needs observe")]
        if source not in ("output", "before") and name not in tool.parameters.get("properties", {}):
            return [(f"{at}/arguments", f"{name} is no argument of {tool.name}")]
    return []


def check_workflow(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> Found:
    """Return each problem of a workflow as (JSON pointer into its file, text)."""
    found: Found = []
    for index, name in enumerate(workflow.tools):
        if name not in tools:
            found.append((f"/tools/{index}", f"there is no tool {name}"))
    found += _repeats("/tools", workflow.tools)
    found += _repeats("/effects", [effect.id for effect in workflow.effects])
    found += _repeats("/scenarios", [scenario.id for scenario in workflow.scenarios])
    allowed = {name: tools[name] for name in workflow.tools if name in tools}
    planned = {step.tool for step in workflow.plan}
    if not any(not tool.writes for tool in allowed.values()):
        found.append(("/tools", "holds no reader"))
    if not any(tool.writes and name not in planned for name, tool in allowed.items()):
        found.append(("/tools", "holds no distractor: a writing tool that the plan does not use"))
    for index, step in enumerate(workflow.plan):
        found += _step(step, allowed, f"/plan/{index}")
    found += _effects(workflow, allowed)
    if not workflow.goal:
        found.append(("/goal", "is empty: nothing would be judged"))
    if not workflow.scenarios:
        found.append(("/scenarios", "is empty: no fault could be aimed"))
    for index, scenario in enumerate(workflow.scenarios):
        found += _scenario(scenario, workflow, allowed, f"/scenarios/{index}")
    if len(workflow.plan) >= workflow.max_turns:
        found.append(("/max_turns", f"leaves no turn to finish after {len(workflow.plan)} calls"))
    return found + _goal(workflow)


def _effects(workflow: Workflow, allowed: Mapping[str, ToolSpec]) -> Found:
    found: Found = []
    for index, effect in enumerate(workflow.effects):
        found += _writes(effect.tool, allowed, f"/effects/{index}/tool")
        if not 0 <= effect.min <= effect.max or effect.max == 0:
            found.append((f"/effects/{index}", "needs 0 <= min <= max and max of at least 1"))
        if not any(
            effect.tool == step.tool and holds(effect.arguments, step.arguments) for step in workflow.plan
        ):
            found.append((f"/effects/{index}", "no call of the plan makes it"))
    for index, forbidden in enumerate(workflow.forbidden):
        found += _writes(forbidden.tool, allowed, f"/forbidden/{index}/tool")
    ids = {effect.id for effect in workflow.effects}
    for index, pair in enumerate(workflow.order):
        for side, name in enumerate(pair):
            if name not in ids:
                found.append((f"/order/{index}/{side}", f"there is no effect {name}"))
    return found


def _repeats(at: str, names: Sequence[str]) -> Found:
    return [(at, f"{name} stands {count} times") for name, count in Counter(names).items() if count > 1]


def _step(step: Step, allowed: Mapping[str, ToolSpec], at: str) -> Found:
    if step.tool not in allowed:
        return [(f"{at}/tool", f"{step.tool} is not among the workflow's tools")]
    return problems(allowed[step.tool].parameters, step.arguments, f"{at}/arguments")


def _writes(name: str, allowed: Mapping[str, ToolSpec], at: str) -> Found:
    if name not in allowed:
        return [(at, f"{name} is not among the workflow's tools")]
    return [] if allowed[name].writes else [(at, f"{name} does not write")]


def _scenario(scenario: Scenario, workflow: Workflow, allowed: Mapping[str, ToolSpec], at: str) -> Found:
    found = _writes(scenario.tool, allowed, f"{at}/tool")
    effect = next((effect for effect in workflow.effects if effect.id == scenario.effect), None)
    if effect is None:
        found.append((f"{at}/effect", f"there is no effect {scenario.effect}"))
    elif effect.tool != scenario.tool:
        found.append((f"{at}/effect", f"{effect.id} is made by {effect.tool}, not by {scenario.tool}"))
    calls = [s for s in workflow.plan if s.tool == scenario.tool and holds(scenario.match, s.arguments)]
    # An aim that later matches of the plan could shift is no aim: the match itself must pick the call.
    if len(calls) != 1 or scenario.nth != 1:
        found.append((at, f"must pick exactly one call of the plan with nth 1; {len(calls)} calls match"))
    elif effect is not None and not holds(effect.arguments, calls[0].arguments):
        found.append((f"{at}/effect", f"the call it picks does not make {effect.id}"))
    return found


def _goal(workflow: Workflow) -> Found:
    found: Found = []
    for index, predicate in enumerate(workflow.goal):
        at = f"/goal/{index}"
        if predicate.check == "count" and (predicate.row is not None or not isinstance(predicate.value, int)):
            found.append((at, "a count has no row and an integer value"))
        if predicate.check != "count" and (predicate.row is None or predicate.where):
            found.append((at, f"{predicate.check} needs a row and has no where"))
        if predicate.check in ("equals", "json_equals") and predicate.column is None:
            found.append((f"{at}/column", f"is missing: {predicate.check} compares one column"))
        if predicate.check in ("absent", "present") and (
            predicate.column is not None or predicate.value is not None
        ):
            found.append((at, f"{predicate.check} has neither column nor value"))
    return found


def require(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> None:
    """Raise one error that lists every problem of the tools and workflows.

    Raises:
        UndolabError: there are problems; the message has a line for each, with file and JSON pointer.
    """
    lines = [
        f"data/tools/{tools[at.split('/')[1]].domain}.yaml {at}: {text}" for at, text in check_tools(tools)
    ]
    for workflow in workflows:
        place = f"{workflow.split}/{workflow.id}.yaml"
        lines += [f"{place} {at}: {text}" for at, text in check_workflow(workflow, tools)]
    if lines:
        raise UndolabError("\n".join(lines))
