"""A study that no model made, at the size of the real one: two models, two frameworks, five boundaries, side studies."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import FinalReport
from undolab.model.canon import canonical
from undolab.model.fault import Exposure
from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.verdict import RULES_VERSION, FailureClass, Verdict
from undolab.model.wire import ArmId
from undolab.model.workflow import Workflow
from undolab.stats import matrix_from, run
from undolab.stats.rows import MetricsFile, read_metrics

ROOT = Path(__file__).parents[2]
MODELS = ["gemma3-270m", "smollm2-135m"]
FRAMEWORKS = ["F1", "F2"]
PLACES = [
    "PRE_MUTATION", "DURING_MUTATION", "POST_MUTATION_PRE_ACK", "POST_ACK_PRE_CHECKPOINT", "POST_ACK_PRE_CHECKPOINT_TOLD",
]  # fmt: skip
METHODS = ["none", "B0", "B2", "B2-K", "B3", "B5", "B6", "B7"]
COMPOSITE = ["RB-CLOUD-004", "RB-DB-004", "RB-GIT-004", "RB-STOR-004"]
NEVER = "RB-STOR-005"
"""The task that no model solves."""


def verdict(arm: ArmId, *, duplicate: bool = False, missing: bool = False, **more: Any) -> Verdict:
    """Return a verdict of an arm with at most one thing wrong."""
    control = arm.arm == "control"
    wrong = duplicate or missing
    failure = (
        FailureClass.DUPLICATE_EFFECT
        if duplicate
        else FailureClass.MISSING_EFFECT
        if missing
        else FailureClass.NONE
    )
    fields: dict[str, Any] = {
        "arm": arm, "rules": RULES_VERSION, "exposure": Exposure.NO_FAULT if control else Exposure.WITNESSED,
        "state": not wrong, "effects": not wrong, "order": True, "passed": not wrong, "physical": 2, "committed": 1,
        "harmful_duplicates": int(duplicate), "harmless_repeats": 0, "replays": 0, "second_commits": int(duplicate),
        "missing": int(missing), "orphans": 0, "forbidden": 0, "unsafe_resends": int(duplicate),
        "report": FinalReport.DONE, "truthful": not wrong, "reads_after_fault": 2 if arm.method == "B6" else 0,
        "failure": failure, "turns": 4,
    }  # fmt: skip
    return Verdict(**fields | more)


def study(
    tasks: Sequence[str], models: Sequence[str], frameworks: Sequence[str], places: Sequence[str],
    methods: Sequence[str], seeds: Sequence[int], *, careless: float = 0.5,
) -> list[Verdict]:  # fmt: skip
    """Return a verdict for each arm, from a fixed seed: tasks, models and methods have chances of their own."""
    rng = random.Random(11)
    rows = []
    for at, task in enumerate(tasks):
        for model in models:
            for framework in frameworks:
                chance = 0 if task == NEVER else min(1, 0.4 + 0.06 * at + 0.2 * (model == MODELS[0]))
                for seed in seeds:
                    able = rng.random() < chance
                    name: dict[str, Any] = {
                        "workflow": task,
                        "model": model,
                        "framework": framework,
                        "seed": seed,
                    }
                    control = ArmId(**name, boundary="NONE", method="none", arm="control")
                    rows.append(verdict(control, missing=not able))
                    for place in places:
                        for method in methods:
                            arm = ArmId(**name, boundary=place, method=method, arm="fault")
                            late = place != "PRE_MUTATION"
                            safe = {"none": 0.3, "B0": 1.0, "B2": 0.5, "B6": 0.1}.get(method, careless)
                            duplicate = able and late and rng.random() < safe
                            lost = not able or (not late and method == "none" and rng.random() < 0.8)
                            more = {} if able or rng.random() < 0.7 else {"exposure": Exposure.NOT_EXPOSED}
                            rows.append(
                                verdict(arm, duplicate=duplicate, missing=lost and not duplicate, **more)
                            )
    return rows


def statistics(
    out: Path, rows: Sequence[Verdict], tasks: Sequence[str], absent: Sequence[tuple[str, str, str]] = (),
    **study: Any,
) -> MetricsFile:  # fmt: skip
    """Compute the statistics of verdicts into `out` and return them; `absent` has no cell."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "rows.jsonl"
    path.write_bytes(b"".join(canonical(row) + b"\n" for row in rows))
    scope = {"split": "test", "prompt": "runbook", "examples": "plain", **study}
    config = {"study": scope, "stats": {"replicates": 400, "seed": 42, "families": []}}
    run([path], matrix_from(config, tasks, not_applicable=absent), out)
    path.unlink()
    return read_metrics(out)


def make(
    build: Path, workflows: Sequence[Workflow], models: Sequence[str], frameworks: Sequence[str],
    places: Sequence[str], methods: Sequence[str], seeds: Sequence[int], *, sides: bool,
) -> Path:  # fmt: skip
    """Make a build with statistics, as the stages before the report leave it."""
    tasks = [one.id for one in workflows if one.split == "test"]
    levels: dict[str, Any] = {
        "models": models,
        "frameworks": frameworks,
        "methods": methods,
        "seeds": list(seeds),
    }
    whole = [place for place in places if place != "DURING_MUTATION"]
    absent = [
        (task, "DURING_MUTATION", method) for task in tasks if task not in COMPOSITE for method in methods
    ]
    chosen = [
        row
        for row in study(tasks, models, frameworks, places, methods, seeds)
        if (row.arm.workflow, row.arm.boundary, row.arm.method) not in absent
    ]
    statistics(build / "stats", chosen, tasks, absent, boundaries=list(places), **levels)
    for split in ("dev", "validation") if sides else ():
        held = [one.id for one in workflows if one.split == split]
        few = {**levels, "methods": ["none", "B0", "B2", "B6"], "seeds": list(seeds)[:2]}
        arms = study(held, models, frameworks, whole[:2], few["methods"], few["seeds"])
        statistics(build / "side" / split / "stats", arms, held, boundaries=whole[:2], **few)
    for variant in ("retry", "check") if sides else ():
        few = {**levels, "frameworks": frameworks[:1], "methods": ["none"]}
        arms = study(tasks, models, frameworks[:1], whole, ["none"], seeds)
        out = build / f"side/examples-{variant}/stats"
        statistics(out, arms, tasks, boundaries=whole, examples=variant, **few)
    (build / "conformance").mkdir(parents=True)
    shutil.copyfile(ROOT / "results/conformance/classes.csv", build / "conformance/classes.csv")
    return build


@pytest.fixture(scope="session")
def every_workflow() -> list[Workflow]:
    """Return the workflows of every split."""
    return load_workflows(ROOT / "data/workflows")


@pytest.fixture(scope="session")
def catalogue() -> dict[str, ToolSpec]:
    """Return the tools."""
    return load_tools(ROOT / "data/tools")


@pytest.fixture(scope="session")
def wide_build(tmp_path_factory: pytest.TempPathFactory, every_workflow: list[Workflow]) -> Path:
    """Return a build of two models, two frameworks, five boundaries, eight methods, and four side studies."""
    build = tmp_path_factory.mktemp("wide")
    return make(build, every_workflow, MODELS, FRAMEWORKS, PLACES, METHODS, range(2001, 2003), sides=True)


@pytest.fixture(scope="session")
def narrow_build(tmp_path_factory: pytest.TempPathFactory, every_workflow: list[Workflow]) -> Path:
    """Return a build of one model, one framework, two boundaries, four methods, and no side study."""
    build = tmp_path_factory.mktemp("narrow")
    places = ["PRE_MUTATION", "POST_MUTATION_PRE_ACK"]
    return make(
        build,
        every_workflow,
        MODELS[:1],
        ["F1"],
        places,
        ["none", "B0", "B2", "B6"],
        range(2001, 2006),
        sides=False,
    )
