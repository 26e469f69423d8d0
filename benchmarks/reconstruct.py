"""How fast is reconstruction? Lines of wire log folded and judged a second, against running the same calls on the world.

Run: `python benchmarks/reconstruct.py`. It prints a table; nothing is asserted.
"""

import time
from collections.abc import Callable

from _record import ROOT, record

from undolab.model.calls import FinalReport, Phase
from undolab.model.canon import digest
from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.wire import ArmId, ArmStart, ReportEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Workflow
from undolab.oracle import Fold, reconstruct
from undolab.wire import LogWriter
from undolab.world import World

DATA = ROOT / "data"
SECONDS = 0.4


def gold_log(workflow: Workflow, tools: dict[str, ToolSpec]) -> list[WireLine]:
    """Return the log of the workflow's plan, run once."""
    log, fold = LogWriter(), Fold(workflow.fixture, tools, 1)
    name = {
        "model": "scripted:gold",
        "framework": "script",
        "boundary": "NONE",
        "method": "none",
        "arm": "control",
    }
    log.add(
        ArmStart,
        arm=ArmId(workflow=workflow.id, seed=1, **name),
        workflow_digest=digest(workflow),
        tools_digest=digest(list(tools.values())),
        world_seed=1,
        prompt="script",
        examples="script",
    )
    count: dict[str, int] = {}
    for number, step in enumerate(workflow.plan, start=1):
        count[step.tool] = count.get(step.tool, 0) + 1
        common = {
            "attempt": f"{number}.1.1",
            "call_index": count[step.tool],
            "tool_name": step.tool,
            "op_type": tools[step.tool].op,
            "arguments": step.arguments,
            "at_ms": number,
        }
        log.add(WireEffectEvent, phase=Phase.INVOKE, **common)
        outcome = fold.apply(step.tool, step.arguments, attempt=f"{number}.1.1")
        log.add(
            WireEffectEvent,
            phase=Phase.OK if outcome.ok else Phase.FAIL,
            committed_externally=bool(outcome.effects),
            acknowledged_to_agent=True,
            target=[effect.entity for effect in outcome.effects],
            effects=outcome.effects,
            output=outcome.output,
            **common,
        )
    log.add(
        ReportEvent, report=FinalReport.DONE, reason="finished", turns=0, final_state=digest(fold.state())
    )
    return log.lines


def on_world(workflow: Workflow, tools: dict[str, ToolSpec]) -> None:
    """Run the plan on a fresh world and read its end, as a peer that re-executes would."""
    world = World(workflow.fixture, tools, seed=1)
    for number, step in enumerate(workflow.plan, start=1):
        world.call(step.tool, step.arguments, attempt=f"{number}.1.1")
    world.ledger()
    world.snapshot()
    world.close()


def on_fold(workflow: Workflow, tools: dict[str, ToolSpec]) -> None:
    """The same on the fold alone."""
    fold = Fold(workflow.fixture, tools, 1)
    for number, step in enumerate(workflow.plan, start=1):
        fold.apply(step.tool, step.arguments, attempt=f"{number}.1.1")
    fold.state()


def rate(work: Callable[[], object]) -> float:
    """Return how often `work` runs a second."""
    work()
    runs, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        work()
        runs += 1
    return runs / (time.perf_counter() - start)


def main() -> None:
    tools = load_tools(DATA / "tools")
    print(
        f"{'workflow':<14}{'lines/s':>12}{'arms/s':>10}{'fold arms/s':>13}{'world arms/s':>14}{'fold:world':>12}"
    )
    slowest: dict[str, float] = {}
    for workflow in load_workflows(DATA / "workflows", "test"):
        allowed = {name: tools[name] for name in workflow.tools}
        lines = gold_log(workflow, allowed)
        problems = reconstruct(workflow, tools, lines).problems
        if problems:
            raise SystemExit("\n".join(problems))
        whole = rate(lambda w=workflow, x=lines: reconstruct(w, tools, x))
        fold = rate(lambda w=workflow, a=allowed: on_fold(w, a))
        world = rate(lambda w=workflow, a=allowed: on_world(w, a))
        print(
            f"{workflow.id:<14}{whole * len(lines):>12,.0f}{whole:>10,.0f}{fold:>13,.0f}{world:>14,.0f}{fold / world:>12.2f}"
        )
        found = {"lines_per_s": whole * len(lines), "arms_per_s": whole, "fold_to_world": fold / world}
        slowest = {
            f"slowest_{name}": min(rate, slowest.get(f"slowest_{name}", rate)) for name, rate in found.items()
        }
    record("reconstruct", {name: round(value, 2) for name, value in slowest.items()})


if __name__ == "__main__":
    main()
