"""The conformance corpus: every scripted agent over every workflow, boundary and method. Its verdicts guard the freeze."""

from collections.abc import Mapping, Sequence

from undolab.agents.scripted import Policy
from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.workflow import Workflow
from undolab.recovery import METHODS
from undolab.trials.arm import prepare
from undolab.trials.run import run_workflow
from undolab.trials.source import SCRIPTED, make_agents

SEED = 1


def study(workflow: Workflow) -> Study:
    """Return the matrix of the corpus for one workflow."""
    return Study(
        split=workflow.split,
        models=[f"{SCRIPTED}{policy}" for policy in Policy],
        frameworks=["script"],
        boundaries=[Boundary.PRE_MUTATION, Boundary.POST_MUTATION_PRE_ACK],
        methods=list(METHODS),
        seeds=[SEED],
        prompt="script",
        examples="script",
    )


def corpus(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> list[Verdict]:
    """Return the verdicts of the corpus, sorted by the arms' names."""
    make = make_agents({}, {})
    verdicts = [
        run.verdict
        for workflow in workflows
        for run, _ in run_workflow(
            prepare(workflow, tools, prompt="script", examples="script"), study(workflow), make
        )
    ]
    return sorted(verdicts, key=lambda verdict: verdict.arm.name())
