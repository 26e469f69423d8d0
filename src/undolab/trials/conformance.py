"""The conformance corpus: scripted agents over every workflow, boundary and method. Its verdicts guard the freeze."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import msgspec

from undolab.agents.scripted import Policy
from undolab.model.canon import digest
from undolab.model.config import Study
from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId
from undolab.model.workflow import Workflow
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.recovery import METHODS
from undolab.trials.arm import prepare
from undolab.trials.classes import workflow_class
from undolab.trials.expected import Rule, expected, found
from undolab.trials.run import PairRow, run_workflow
from undolab.trials.schedule import BOUNDARIES, schedule
from undolab.trials.source import SCRIPTED, first_request, make_agents

SEED = 1
PAIRED = (Boundary.PRE_MUTATION, Boundary.POST_MUTATION_PRE_ACK)
"""The two sides of the commit: before them every policy is run, at all others the gold plan alone."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One arm of the gold script beside what the table foretells."""

    workflow: str
    boundary: str
    method: str
    expected: str
    found: str
    exposure: str


def study(
    workflow: Workflow, policies: Sequence[Policy] = tuple(Policy), boundaries: Sequence[Boundary] = PAIRED
) -> Study:
    """Return the matrix of the corpus for one workflow."""
    return Study(
        split=workflow.split,
        models=[f"{SCRIPTED}{policy}" for policy in policies],
        frameworks=["script"],
        boundaries=list(boundaries),
        methods=list(METHODS),
        seeds=[SEED],
        prompt="script",
        examples="script",
    )


def corpus(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]
) -> tuple[list[Verdict], list[PairRow]]:
    """Return the verdicts of the corpus, sorted by the arms' names, and what was checked of each pair."""
    runs = [run for workflow in workflows for run in _runs(workflow, tools)]
    verdicts = sorted((verdict for verdict, _ in runs), key=lambda verdict: verdict.arm.name())
    return verdicts, [pair for _, pair in runs if pair is not None]


def _runs(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> Iterator[tuple[Verdict, PairRow | None]]:
    make = make_agents({}, {})
    task = prepare(workflow, tools, prompt="script", examples="script")
    rest = [policy for policy in Policy if policy is not Policy.GOLD]
    for matrix in (study(workflow, [Policy.GOLD], BOUNDARIES), study(workflow, rest)):
        for run, pair in run_workflow(task, matrix, make):
            yield run.verdict, pair


def pairs_csv(pairs: Sequence[PairRow]) -> bytes:
    """Return how many pairs are equal up to the fault, or throughout with the method on, for each boundary and method."""
    every: Counter[tuple[str, str, str]] = Counter()
    equal: Counter[tuple[str, str, str]] = Counter()
    lines: Counter[tuple[str, str, str]] = Counter()
    for pair in pairs:
        boundary, method = pair.arm.split("/")[-4:-2]
        cell = (pair.check, boundary, method)
        every[cell] += 1
        equal[cell] += pair.equal
        lines[cell] += pair.compared
    rows = [(*cell, equal[cell], every[cell], lines[cell]) for cell in sorted(every)]
    return table(("check", "boundary", "method", "equal", "pairs", "lines compared"), rows)


def prompts_csv(
    workflows: Sequence[Workflow],
    tools: Mapping[str, ToolSpec],
    studies: Iterable[Study],
    models: Mapping[str, ModelConfig | ApiConfig],
) -> bytes:
    """Return the digest of the first request of each workflow, under all models, frameworks and prompts that a study has.

    A request is prompt, grammar, stop strings and sampling.
    """
    rows = set()
    for study in studies:
        for workflow in workflows:
            task = prepare(workflow, tools, prompt=study.prompt, examples=study.examples)
            for model, framework in product(study.models, study.frameworks):
                arm = ArmId(
                    workflow=workflow.id,
                    model=model,
                    framework=framework,
                    boundary=Boundary.NONE,
                    method="none",
                    seed=SEED,
                    arm="control",
                )
                request = digest(first_request(find_model(models, model), task, arm))
                rows.add((model, framework, study.prompt, study.examples, workflow.id, request))
    return table(("model", "framework", "prompt", "examples", "workflow", "request"), sorted(rows))


def compare(
    verdicts: Sequence[Verdict],
    workflows: Sequence[Workflow],
    tools: Mapping[str, ToolSpec],
    rules: Sequence[Rule],
) -> list[Cell]:
    """Return every arm of the gold script, controls too, beside what the table of expected verdicts says."""
    facts = {workflow.id: workflow_class(workflow, tools) for workflow in workflows}
    return [
        Cell(
            workflow=verdict.arm.workflow,
            boundary=verdict.arm.boundary,
            method=verdict.arm.method,
            expected=expected(rules, facts[verdict.arm.workflow], verdict.arm.boundary, verdict.arm.method),
            found=found(verdict),
            exposure=verdict.exposure.value,
        )
        for verdict in verdicts
        if verdict.arm.model == f"{SCRIPTED}{Policy.GOLD}"
    ]


def baselines_csv(
    verdicts: Sequence[Verdict], workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]
) -> bytes:
    """Return how often each policy passes at each side of the commit: everywhere, where a repeat harms, where a reader shows.

    Where a repeat harms, a policy that never looks is at chance over both sides together; one that looks is right wherever a
    reader shows the effect.
    """
    facts = {w.id: workflow_class(w, tools) for w in workflows}
    harmed = {name for name, known in facts.items() if known["repeat"] == "harm"}
    observable = {name for name, known in facts.items() if known["seen"] == "yes"}
    rows = []
    for policy in Policy:
        arms = [
            v
            for v in verdicts
            if (v.arm.model, v.arm.method, v.arm.arm) == (f"{SCRIPTED}{policy}", "none", "fault")
            and v.arm.boundary in PAIRED
        ]
        for boundary in (*PAIRED, "both"):
            here = [v for v in arms if boundary in ("both", v.arm.boundary)]
            groups = [here, *([v for v in here if v.arm.workflow in some] for some in (harmed, observable))]
            counts = [count for group in groups for count in (sum(v.passed for v in group), len(group))]
            rows.append((policy.value, str(boundary), *counts))
    header = "policy boundary passed arms passed_where_harm harm_arms passed_where_seen seen_arms"
    return table(header.split(), rows)


def cells_csv(cells: Sequence[Cell]) -> bytes:
    """Return the comparison as a table."""
    return table(Cell.__struct_fields__, [msgspec.structs.astuple(cell) for cell in cells])


def applicability_csv(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> bytes:
    """Return where which methods are run: the frozen matrix of applicability."""
    rows = [
        (workflow.id, boundary.value, " ".join(methods) or "none applicable")
        for workflow in workflows
        for boundary in BOUNDARIES
        for methods in [[m for m in METHODS if schedule(workflow, tools, boundary, m) is not None]]
    ]
    return table(("workflow", "boundary", "methods"), rows)


def classes_csv(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> bytes:
    """Return the class of each workflow."""
    facts = [(workflow.id, workflow_class(workflow, tools)) for workflow in workflows]
    names = sorted({name for _, known in facts for name in known})
    return table(
        ("workflow", *names), [(one, *(known.get(name, "") for name in names)) for one, known in facts]
    )


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return CSV with one header line."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
