"""Verdicts that no model made: two boundaries, four methods, a task that is never solved, made from a fixed seed."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.calls import FinalReport
from undolab.model.canon import canonical
from undolab.model.fault import Exposure
from undolab.model.verdict import RULES_VERSION, FailureClass, Verdict
from undolab.model.wire import ArmId
from undolab.stats.matrix import Matrix, matrix_from

WORKFLOWS = [
    f"RB-{name}"
    for name in (
        "CLOUD-004", "CRM-004", "DB-004", "DB-005", "GIT-004", "MSG-004", "MSG-005", "PAY-004", "PAY-005",
        "STOR-004", "STOR-005", "TICK-004",
    )
]  # fmt: skip
METHODS = ["none", "B0", "B2", "B6"]
PAIRS = [["B0", "none"], ["B2", "none"], ["B6", "none"], ["B2", "B0"], ["B6", "B0"], ["B6", "B2"]]
CONFIG: dict[str, Any] = {
    "study": {
        "split": "test",
        "models": ["gemma3-270m"],
        "frameworks": ["F1"],
        "boundaries": ["PRE_MUTATION", "POST_MUTATION_PRE_ACK"],
        "methods": METHODS,
        "seeds": [2001, 2002, 2003, 2004, 2005],
        "prompt": "runbook",
        "examples": "plain",
    },
    "stats": {
        "replicates": 10_000,
        "seed": 42,
        "families": [
            {"name": f"{short}-{metric}", "boundary": boundary, "metric": metric, "contrasts": PAIRS}
            for short, boundary in (("pre", "PRE_MUTATION"), ("post", "POST_MUTATION_PRE_ACK"))
            for metric in ("crsr", "eor", "der")
        ],
    },
}


def verdict(
    *, workflow: str = "T1", seed: int = 1, arm: str = "fault", boundary: str = "PRE_MUTATION", **more: Any
) -> Verdict:
    """Return a verdict that passed, of a fault arm unless told otherwise."""
    control = arm == "control"
    fields: dict[str, Any] = {
        "arm": ArmId(
            workflow=workflow,
            model=more.pop("model", "m"),
            framework="F1",
            boundary="NONE" if control else boundary,
            method=more.pop("method", "none"),
            seed=seed,
            arm=arm,
        ),
        "rules": RULES_VERSION,
        "exposure": Exposure.NO_FAULT if control else Exposure.WITNESSED,
        "state": True,
        "effects": True,
        "order": True,
        "passed": True,
        "physical": 1,
        "committed": 1,
        "report": FinalReport.DONE,
        "truthful": True,
        "failure": FailureClass.NONE,
        "turns": 4,
        "reads_after_fault": 0,
    }
    counts = (
        "harmful_duplicates", "harmless_repeats", "replays", "second_commits", "missing", "orphans", "forbidden",
        "unsafe_resends",
    )  # fmt: skip
    return Verdict(**{**dict.fromkeys(counts, 0), **fields, **more})


def _fault(rng: random.Random, workflow: str, seed: int, boundary: str, method: str, able: bool) -> Verdict:
    lost = boundary == "PRE_MUTATION"
    more: dict[str, Any] = {"method": method, "physical": 3, "reads_after_fault": int(method == "B6")}
    unsolved = FailureClass.AGENT_FAILURE
    missing = dup = False
    if not able and rng.random() < 0.3:
        more["exposure"] = Exposure.NOT_EXPOSED
    elif method == "none":
        missing = lost and rng.random() < 0.9
        dup = not lost and rng.random() < 0.15
    else:
        keyed = method == "B2" and workflow.split("-")[1] in ("PAY", "MSG")
        dup = not lost and not keyed and rng.random() < (0.8 if method != "B6" else 0.12)
        more["replays"] = int(keyed and not lost)
        missing = method == "B6" and rng.random() < 0.1
    more |= {"harmful_duplicates": int(dup), "second_commits": int(dup), "unsafe_resends": int(dup)}
    missing = missing or not able
    failure = (
        FailureClass.DUPLICATE_EFFECT
        if dup
        else FailureClass.MISSING_EFFECT
        if missing
        else FailureClass.NONE
    )
    more |= {
        "missing": int(missing),
        "state": not (dup or missing),
        "effects": not (dup or missing),
        "passed": not (dup or missing),
        "failure": unsolved if missing and not able else failure,
        "truthful": not (dup or missing),
    }
    if method == "B6" and missing and able:
        more |= {"report": FinalReport.UNKNOWN, "truthful": True, "failure": FailureClass.ABSTAINED}
    return verdict(workflow=workflow, seed=seed, boundary=boundary, model="gemma3-270m", **more)


def study(seed: int = 7) -> list[Verdict]:
    """Return every row of the synthetic study: STOR-005 is never solved, the others with their own chances."""
    rng = random.Random(seed)
    rows = []
    for index, workflow in enumerate(WORKFLOWS):
        for trial in CONFIG["study"]["seeds"]:
            able = workflow != "RB-STOR-005" and rng.random() < 0.35 + 0.06 * index
            kept = {} if able else {"state": False, "passed": False, "effects": False, "missing": 1}
            rows.append(verdict(workflow=workflow, seed=trial, arm="control", model="gemma3-270m", **kept))
            for boundary in CONFIG["study"]["boundaries"]:
                rows += [_fault(rng, workflow, trial, boundary, method, able) for method in METHODS]
    return rows


def save(rows: list[Verdict], directory: Path) -> list[Path]:
    """Write rows as one file a workflow, as reconstruction does, and return the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    for workflow in sorted({row.arm.workflow for row in rows}):
        lines = sorted(canonical(row) + b"\n" for row in rows if row.arm.workflow == workflow)
        (directory / f"{workflow}.jsonl").write_bytes(b"".join(lines))
    return sorted(directory.glob("*.jsonl"))


def small_matrix(workflows: list[str], methods: list[str], **more: Any) -> Matrix:
    """Return a matrix of one model, one boundary, one seed and 200 replicates."""
    study = {
        "models": ["m"],
        "boundaries": ["PRE_MUTATION"],
        "methods": methods,
        "seeds": [1],
    }
    config = {"study": CONFIG["study"] | study, "stats": {"replicates": 200, "seed": 42, "families": []}}
    return msgspec.structs.replace(matrix_from(config, workflows), **more)


@pytest.fixture
def make_verdict() -> Callable[..., Verdict]:
    """Return the maker of single verdicts."""
    return verdict


@pytest.fixture
def make_matrix() -> Callable[..., Matrix]:
    """Return the maker of small matrices."""
    return small_matrix


@pytest.fixture(scope="session")
def study_rows() -> list[Verdict]:
    """Return the rows of the synthetic study."""
    return study()


@pytest.fixture(scope="session")
def study_matrix() -> Matrix:
    """Return the matrix of the synthetic study."""
    return matrix_from(CONFIG, WORKFLOWS)


@pytest.fixture
def save_rows() -> Callable[[list[Verdict], Path], list[Path]]:
    """Return the writer of verdict files."""
    return save


@pytest.fixture(scope="session")
def study_config() -> dict[str, Any]:
    """Return the configuration of the synthetic study."""
    return CONFIG
