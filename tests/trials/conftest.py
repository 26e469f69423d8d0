"""Real workflows and tools, and scripted trials over them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.trials.arm import ArmRun, prepare
from undolab.trials.conformance import study
from undolab.trials.run import PairRow, run_workflow
from undolab.trials.source import make_agents

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tools() -> dict[str, ToolSpec]:
    """Return the catalogue."""
    return load_tools(ROOT / "data/tools")


@pytest.fixture(scope="session")
def workflows() -> list[Workflow]:
    """Return every workflow there is."""
    return load_workflows(ROOT / "data/workflows")


Runs = dict[str, tuple[ArmRun, PairRow | None]]


@pytest.fixture(scope="session")
def corpus(workflows: list[Workflow], tools: dict[str, ToolSpec]) -> Runs:
    """Return every arm of the conformance corpus by name."""
    make = make_agents({}, {})
    return {
        run.arm.name(): (run, pair)
        for workflow in workflows
        for run, pair in run_workflow(
            prepare(workflow, tools, prompt="script", examples="script"), study(workflow), make
        )
    }


@pytest.fixture(scope="session")
def arms(corpus: Runs) -> Callable[..., list[ArmRun]]:
    """Return a filter of the corpus: policy, boundary, method and kind of arm."""

    def chosen(policy: str, boundary: str = "NONE", method: str = "none", arm: str = "") -> list[ArmRun]:
        wanted = (
            f"scripted:{policy}",
            boundary,
            method,
            arm or ("control" if boundary == "NONE" else "fault"),
        )
        return [
            run
            for run, _ in corpus.values()
            if (run.arm.model, run.arm.boundary, run.arm.method, run.arm.arm) == wanted
        ]

    return chosen
