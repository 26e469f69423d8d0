"""How much faster is a sample than under inspect-ai with its mock model? The same three calls, one after the other, on one core.

Ours is a scripted pair of RB-DB-005 (get_account, allocate_dividend, get_account), which counts as two samples: real store,
log, hash chain, ledger, verdicts and prefix check are all in it. The peer runs at the `max_samples` that suits it best.
The two take turns, so that a busy machine slows both.

Run: python benchmarks/harness.py   (needs `envs/env.sh bench`; says so where it is missing)
"""

import json
import os
import subprocess
import time
from pathlib import Path

from _record import ROOT, record

from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.load import load_tools, load_workflow
from undolab.model.wire import ArmId
from undolab.trials.arm import Task, prepare, run_arm
from undolab.trials.prefix import compare_prefix
from undolab.trials.schedule import schedule

PEER = ROOT / ".cache" / "bench-venv" / "bin" / "python"
POST = "POST_MUTATION_PRE_ACK"
ROUNDS = 3
SECONDS = 2.0


def pair(task: Task) -> None:
    """Run, judge and compare one control and one fault arm; the agent makes the plan's calls and no others."""
    name = {"workflow": task.workflow.id, "model": "scripted:never-retry", "framework": "script", "seed": 1}
    agent = ScriptedAgent(task.workflow.plan, task.tools, Policy.NEVER_RETRY)
    control = run_arm(task, ArmId(**name, boundary="NONE", method="none", arm="control"), agent)
    arm = ArmId(**name, boundary=POST, method="none", arm="fault")
    fault = run_arm(task, arm, agent, schedule(task.workflow, task.catalogue, POST, "none") or ())
    if not compare_prefix(arm.name(), fault.verdict.exposure, control.log.lines, fault.log.lines).equal:
        raise SystemExit("the arms differ before the fault")


def ours(task: Task) -> float:
    """Return samples a second."""
    pair(task)
    pairs, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        pair(task)
        pairs += 1
    return 2 * pairs / (time.perf_counter() - begin)


def peer() -> tuple[str, str, float]:
    """Return the peer's version, its best `max_samples` and its samples a second there."""
    found = subprocess.run(
        [PEER, Path(__file__).with_name("_inspect_peer.py")], check=True, capture_output=True, text=True
    )
    told = json.loads(found.stdout.splitlines()[-1])
    best = max(told["samples_per_s"], key=told["samples_per_s"].__getitem__)
    return told["version"], best, told["samples_per_s"][best]


def main() -> None:
    """Print the best of each and the ratio."""
    if not PEER.exists():
        print("inspect-ai is not here, so there is nothing to compare with: envs/env.sh bench brings it")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    tools = load_tools(ROOT / "data/tools")
    workflow = load_workflow(ROOT / "data/workflows/test/RB-DB-005.yaml")
    task = prepare(workflow, tools, prompt="script", examples="script")
    rounds = [(ours(task), peer()) for _ in range(ROUNDS)]
    mine = max(rate for rate, _ in rounds)
    version, parallel, theirs = max((found for _, found in rounds), key=lambda found: found[2])
    print(f"undolab             {mine:8.0f} samples/s (two a pair), one core")
    print(f"inspect-ai {version:8} {theirs:8.1f} samples/s, one core, max_samples {parallel}")
    print(f"ratio               {mine / theirs:8.1f}")
    record(
        "harness",
        {
            "undolab_samples_per_s": round(mine, 1),
            "inspect_ai_samples_per_s": round(theirs, 1),
            "inspect_ai_version": version,
            "inspect_ai_max_samples": int(parallel),
            "ratio": round(mine / theirs, 1),
        },
    )


if __name__ == "__main__":
    main()
