"""Facts that no metric holds: arms and pair checks of the study, the scripted matrix, the validity suite, the data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.files import decompress
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ReportEvent, TurnEvent, WireEffectEvent
from undolab.model.workflow import Split, Workflow
from undolab.report import evidence
from undolab.report.composition import crosses, target
from undolab.wire import read_arms


class _Pair(msgspec.Struct, frozen=True):
    check: str
    exposure: Exposure
    equal: bool


def study_facts(build: Path, workflows: list[str]) -> dict[str, Any]:
    """Return counts of a build: arms, turns, attempts, wire lines, and pairs checked and equal.

    Raises:
        UndolabError: a file of the build is missing or no file of pairs.
    """
    arms = lines_total = turns = attempts = 0
    pairs: list[_Pair] = []
    records: set[str] = set()
    for name in workflows:
        shard, checked = build / "wire" / f"{name}.jsonl.zst", build / "pairs" / f"{name}.jsonl.zst"
        for path in (shard, checked):
            if not path.is_file():
                raise UndolabError(f"{path} is missing; run the trials before reporting")
        for _, lines in read_arms(shard):
            arms += 1
            lines_total += len(lines)
            turns += sum(isinstance(line, TurnEvent) for line in lines)
            attempts += sum(isinstance(line, WireEffectEvent) and line.phase == "invoke" for line in lines)
            records |= {line.record for line in lines if isinstance(line, TurnEvent) and line.record}
            if not isinstance(lines[-1], ReportEvent):
                raise UndolabError(f"{shard}: the last arm is cut; run the trials again")
        try:
            rows = decompress(checked.read_bytes()).splitlines()
            pairs += [msgspec.json.decode(row, type=_Pair) for row in rows]
        except (msgspec.DecodeError, zstandard.ZstdError) as error:
            raise UndolabError(f"{checked} is no file of pairs ({error}); run the trials again") from error
    prefix = [pair for pair in pairs if pair.check == "prefix"]
    transparency = [pair for pair in pairs if pair.check == "transparency"]
    return {
        "capable": _capable(build, workflows),
        "arms": arms,
        "wireLines": lines_total,
        "turns": turns,
        "attempts": attempts,
        "completions": len(records),
        "prefixPairs": len(prefix),
        "prefixEqual": sum(pair.equal for pair in prefix),
        "exposed": sum(pair.exposure is Exposure.WITNESSED for pair in prefix),
        "transparencyPairs": len(transparency),
        "transparencyEqual": sum(pair.equal for pair in transparency),
    }


def _capable(build: Path, workflows: list[str]) -> dict[str, dict[str, int]]:
    """Return how many controls of each model pass without a method (`none`) and with each method on: D both ways."""
    passed: dict[str, Counter[str]] = {}
    for name in workflows:
        for row in (build / "verdicts" / f"{name}.jsonl").read_bytes().splitlines():
            verdict = msgspec.json.decode(row, type=Verdict)
            if verdict.arm.arm in ("control", "control+method"):
                passed.setdefault(verdict.arm.model, Counter())[verdict.arm.method] += verdict.passed
    return {model: dict(sorted(counts.items())) for model, counts in sorted(passed.items())}


def data_facts(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> dict[str, int]:
    """Return counts of the data: tools, and what services and readers offer for the study's target calls."""
    targets = [target(workflow, tools) for workflow in workflows]
    return {
        "tools": len(tools),
        "toolsKeyed": sum(tool.idempotency_key for tool in tools.values()),
        "workflowsKeyed": sum(tool.idempotency_key for tool in targets),
        "workflowsUnobservable": sum(tool.observe is None for tool in targets),
    }


def benchmark_facts(
    build: Path, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]
) -> dict[str, Any]:
    """Return counts of the whole benchmark: its workflows, its scripted matrix and its validity suite.

    Args:
        build: holds `conformance/{cells,pairs,baselines,sweep,classes}.csv` and `validity/{cases,mutants}.csv`.
        workflows: every workflow of every split.
        tools: the catalogue.

    Raises:
        UndolabError: a table of the build is missing or lacks a column.
    """
    return {
        "corpus": _corpus(workflows, tools, evidence.repeats(build)),
        "matrix": _matrix(build),
        "cell": _endings(build),
        "validity": _validity(build),
        "baseline": _baselines(build),
        "sweep": _sweep(build),
    }


def _corpus(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], repeats: Mapping[str, str]
) -> dict[str, int]:
    targets = [target(workflow, tools) for workflow in workflows]
    calls = [len(workflow.plan) for workflow in workflows]
    return {
        "workflows": len(workflows),
        **{split.value: sum(workflow.split is split for workflow in workflows) for split in Split},
        "domains": len({workflow.domain for workflow in workflows}),
        "crossing": sum(crosses(workflow, tools) for workflow in workflows),
        "callsFewest": min(calls),
        "callsMost": max(calls),
        "keyed": sum(tool.idempotency_key for tool in targets),
        "observable": sum(tool.observe is not None for tool in targets),
        "unobservable": sum(tool.observe is None for tool in targets),
        "repeatHarms": sum(repeats[workflow.id] == "harm" for workflow in workflows),
        "composite": sum(any(tools[step.tool].sub_writes > 1 for step in one.plan) for one in workflows),
    }


def _matrix(build: Path) -> dict[str, int]:
    cells = evidence.cells(build)
    faults = [cell for cell in cells if cell["exposure"] != Exposure.NO_FAULT]
    pairs = evidence.rows(build / "conformance" / "pairs.csv", ("check", "equal", "pairs"))
    checked = {
        f"{check}{name}": sum(int(pair[column]) for pair in pairs if pair["check"] == check)
        for check in ("prefix", "transparency")
        for name, column in (("Equal", "equal"), ("Pairs", "pairs"))
    }
    return {
        "goldArms": len(cells),
        "goldExpected": sum(cell["expected"] == cell["found"] for cell in cells),
        "goldControls": len(cells) - len(faults),
        "goldFaults": len(faults),
        "goldWitnessed": sum(cell["exposure"] == Exposure.WITNESSED for cell in faults),
        "boundaries": len({cell["boundary"] for cell in faults}),
        "methods": len({cell["method"] for cell in faults}),
        **checked,
    }


def _endings(build: Path) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for cell in evidence.cells(build):
        methods = found.setdefault(cell["boundary"].lower(), {})
        ends = methods.setdefault(cell["method"], {"arms": 0, **{end.value: 0 for end in evidence.Ending}})
        ends["arms"] += 1
        ends[evidence.ending(cell["found"])] += 1
    return found


def _validity(build: Path) -> dict[str, int]:
    cases = evidence.cases(build)
    mutants = evidence.rows(build / "validity" / "mutants.csv", ("clause dropped", "cases that show it"))
    caught = [int(mutant["cases that show it"]) for mutant in mutants]
    return {
        "cases": len(cases),
        "casesExpected": sum(case["expected"] == case["found"] for case in cases),
        "casesFewest": min(Counter(case["workflow"] for case in cases).values()),
        "kinds": len({case["kind"] for case in cases}),
        "mutants": len(mutants),
        "mutantsCaught": sum(count > 0 for count in caught),
        "mutantsFewest": min(caught),
    }


def _baselines(build: Path) -> dict[str, dict[str, dict[str, int]]]:
    counts = ("passed", "arms", "passed_where_harm", "harm_arms", "passed_where_seen", "seen_arms")
    path = build / "conformance" / "baselines.csv"
    found: dict[str, dict[str, dict[str, int]]] = {}
    for row in evidence.rows(path, ("policy", "boundary", *counts)):
        found.setdefault(row["policy"], {})[row["boundary"].lower()] = {
            name: int(row[name]) for name in counts
        }
    return found


def _sweep(build: Path) -> dict[str, int]:
    points = evidence.sweep(build)
    return {
        "points": len(points),
        "arms": sum(int(point["arms"]) for point in points),
        "backoffs": len({point["backoff"] for point in points}),
        "budgets": len({point["attempts"] for point in points}),
    }
