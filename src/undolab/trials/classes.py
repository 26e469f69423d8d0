"""The class of a workflow: the few facts about its target from which a scripted verdict can be told by reasoning alone."""

from collections.abc import Mapping

from undolab.model.calls import Outcome, Phase, Reply
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.observe import inverse_call, reader_arguments, seen
from undolab.model.play import tools_in_play
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Step, Workflow
from undolab.trials.schedule import schedule, target_step
from undolab.world import World


def workflow_class(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> dict[str, str]:
    """Return the facts by name. What a boundary that is not applicable would need is left out.

    - repeat: what the target call does a second time: `harm` (it changes something), `same` (it changes nothing), `exists`
      (refused with already_exists), `refused` (with anything else)
    - keyed: the target's service honours idempotency keys
    - seen: a public reader shows the target's effect
    - last: the plan writes nothing after the target
    - earlier: it writes something before the target that can still be taken back after it
    - target_undo: the target has several parts, and its inverse needs nothing of its answer
    - half, half_keyed, half_seen, undo: the same of the call that dies between its parts: what a repeat does then (`completes`,
      `harm`, `exists`, `refused`), keys, what the reader shows then, and whether it can be taken back without its answer
    - undo_repeat: what the undo call of the saga does a second time (`harm` or `none`)
    - first: what the first of two faults hits: `target`, another `write`, or a `read`
    - other_seen: the other call of the two is a read, or a reader shows its effect
    """
    play = tools_in_play(workflow.tools, tools, "B7")
    aim = schedule(workflow, tools, Boundary.POST_MUTATION_PRE_ACK, "none")
    if not aim:
        raise ValueError(f"{workflow.id} has no target")
    place = target_step(workflow, aim[0])
    target, plan = workflow.plan[place], workflow.plan
    world, undos = _after(workflow, play, place)
    world.call(target.tool, target.arguments, attempt="t")
    facts = {
        "repeat": _repeat(world.call(target.tool, target.arguments, attempt="r")),
        "keyed": _word(tools[target.tool].idempotency_key),
        "seen": _word(_reader(tools, target) is not None),
        "last": _word(not any(tools[step.tool].writes for step in plan[place + 1 :])),
        "target_undo": _word(tools[target.tool].sub_writes > 1 and _undoable(tools, target)),
    }
    facts["earlier"] = _word(
        any(world.call(undo.tool, undo.arguments, attempt="u").effects for undo in reversed(undos))
    )
    world.close()
    half = schedule(workflow, tools, Boundary.DURING_MUTATION, "none")
    if half:
        facts |= _half(workflow, play, target_step(workflow, half[0]))
    saga = schedule(workflow, tools, Boundary.DURING_COMPENSATION, "B3")
    if saga:
        facts["undo_repeat"] = _undo_repeat(workflow, play, target_step(workflow, saga[0]))
    two = schedule(workflow, tools, Boundary.TWO_FAULTS, "none")
    if two:
        facts |= _pair(workflow, tools, two)
    return facts


def _half(workflow: Workflow, tools: Mapping[str, ToolSpec], place: int) -> dict[str, str]:
    step = workflow.plan[place]
    world, _ = _after(workflow, tools, place)
    reader = _reader(tools, step)
    before = _read(world, reader)
    part = world.call(step.tool, step.arguments, attempt="h", stop_after=1)
    after = _read(world, reader)
    again = world.call(step.tool, step.arguments, attempt="r")
    world.close()
    observe = tools[step.tool].observe
    shown = seen(observe, step.arguments, before, after).value if observe and after else "unknowable"
    kept = all(effect.before == effect.after for effect in again.effects[: len(part.effects)])
    return {
        "half": "completes" if again.ok and kept else _repeat(again),
        "half_keyed": _word(tools[step.tool].idempotency_key),
        "half_seen": shown,
        "undo": _word(reader is not None and _undoable(tools, step)),
    }


def _undo_repeat(workflow: Workflow, tools: Mapping[str, ToolSpec], place: int) -> str:
    """Say whether the newest undo before a step does harm when it is made twice: a booking does, a setting does not."""
    world, undos = _after(workflow, tools, place)
    first, again = (world.call(undos[-1].tool, undos[-1].arguments, attempt=name) for name in ("u", "v"))
    world.close()
    return "harm" if first.ok and _repeat(again) == "harm" else "none"


def _pair(workflow: Workflow, tools: Mapping[str, ToolSpec], two: list[FaultPlan]) -> dict[str, str]:
    other = next(plan for plan in two if plan.boundary is Boundary.PRE_MUTATION)
    step = workflow.plan[target_step(workflow, other)]
    writes = tools[step.tool].writes
    kind = "write" if writes else "read"
    return {
        "first": kind if two[0] is other else "target",
        "other_seen": _word(not writes or _reader(tools, step) is not None),
    }


def _after(workflow: Workflow, tools: Mapping[str, ToolSpec], place: int) -> tuple[World, list[Step]]:
    """Return a world in which the plan was carried out up to a step, and what would take its writes back, oldest first."""
    world = World(workflow.fixture, tools, seed=1)
    undos: list[Step] = []
    for number, step in enumerate(workflow.plan[:place]):
        inverse = tools[step.tool].inverse
        before = _read(world, _reader(tools, step)) if inverse else None
        done = world.call(step.tool, step.arguments, attempt=f"p{number}")
        if inverse is not None:
            seen_before = before.output if before and before.phase is Phase.OK else None
            arguments = inverse_call(inverse, step.arguments, done.output, seen_before)
            if arguments is not None:
                undos.append(Step(say="", tool=inverse.tool, arguments=arguments))
    return world, undos


def _reader(tools: Mapping[str, ToolSpec], step: Step) -> Step | None:
    observe = tools[step.tool].observe
    arguments = reader_arguments(observe, step.arguments) if observe else None
    if observe is None or arguments is None:
        return None
    return Step(say="", tool=observe.tool, arguments=arguments)


def _read(world: World, reader: Step | None) -> Reply | None:
    if reader is None:
        return None
    outcome = world.call(reader.tool, reader.arguments, attempt="s")
    return Reply(phase=Phase.OK if outcome.ok else Phase.FAIL, output=outcome.output)


def _undoable(tools: Mapping[str, ToolSpec], step: Step) -> bool:
    inverse = tools[step.tool].inverse
    return inverse is not None and "{output." not in str(inverse.arguments)


def _repeat(again: Outcome) -> str:
    if again.ok:
        return "harm" if any(effect.before != effect.after for effect in again.effects) else "same"
    return "exists" if again.output.get("code") == "already_exists" else "refused"


def _word(yes: object) -> str:
    return "yes" if yes else "no"
