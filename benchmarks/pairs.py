"""Scripted pairs per second on one core, beside the same arms without log, hash chain and verdict: the price of proof.

The two take turns, and the best round of each counts, so that a machine which is busy for a moment changes little.
"""

import time

from _record import ROOT, record

from undolab.agents.base import Exchange
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.calls import Phase, Reply
from undolab.model.load import load_tools, load_workflows
from undolab.model.wire import ArmId
from undolab.trials.arm import Task, prepare, run_arm
from undolab.trials.prefix import compare_prefix
from undolab.trials.schedule import schedule
from undolab.world import World

ROUNDS = 10
REPEATS = 10
POST = "POST_MUTATION_PRE_ACK"


def pair(task: Task) -> None:
    """Run one control and one fault arm, judge both and compare their prefixes."""
    fields = {
        "workflow": task.workflow.id,
        "model": "scripted:verify-first",
        "framework": "script",
        "seed": 1,
    }
    control = ArmId(**fields, boundary="NONE", method="none", arm="control")
    fault = ArmId(**fields, boundary=POST, method="none", arm="fault")
    agent = ScriptedAgent(task.workflow.plan, task.tools, Policy.VERIFY_FIRST)
    left = run_arm(task, control, agent)
    right = run_arm(task, fault, agent, schedule(task.workflow, task.catalogue, POST, "none") or ())
    compare_prefix(fault.name(), right.verdict.exposure, left.log.lines, right.log.lines)


def bare(task: Task) -> None:
    """Make the calls of two arms on two worlds, and nothing else."""
    for _ in range(2):
        world = World(task.workflow.fixture, task.tools, seed=1)
        agent = ScriptedAgent(task.workflow.plan, task.tools, Policy.VERIFY_FIRST)
        history: list[Exchange] = []
        while (turn := agent.act(task.view, history)).report is None:
            call = turn.calls[0]
            outcome = world.call(call.tool, call.arguments, attempt=str(len(history)))
            reply = Reply(phase=Phase.OK if outcome.ok else Phase.FAIL, output=outcome.output)
            history.append(Exchange(turn=turn, replies=[reply]))
        world.close()


def main() -> None:
    """Print pairs per second for both, and their ratio."""
    tools = load_tools(ROOT / "data/tools")
    workflows = load_workflows(ROOT / "data/workflows", "test")
    tasks = [prepare(workflow, tools, prompt="script", examples="script") for workflow in workflows]
    rates = {"full pairs": 0.0, "calls alone": 0.0}
    for _ in range(ROUNDS):
        for name, work in (("full pairs", pair), ("calls alone", bare)):
            begin = time.perf_counter()
            for task in tasks * REPEATS:
                work(task)
            rates[name] = max(rates[name], REPEATS * len(tasks) / (time.perf_counter() - begin))
    for name, rate in rates.items():
        print(f"{name:12} {rate:8.0f} pairs/s on one core")
    ratio = rates["calls alone"] / rates["full pairs"]
    print(f"ratio        {ratio:8.2f} (calls alone / full pairs)")
    record(
        "pairs",
        {
            "full_pairs_per_s": round(rates["full pairs"]),
            "calls_alone_pairs_per_s": round(rates["calls alone"]),
            "calls_alone_to_full": round(ratio, 2),
        },
    )


if __name__ == "__main__":
    main()
