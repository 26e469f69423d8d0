"""Facts of a study that no metric holds: arms, pair checks, and how much was on the wire."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ReportEvent, TurnEvent, WireEffectEvent
from undolab.model.workflow import Workflow
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
        shard, checked = build / "wire" / f"{name}.jsonl.zst", build / "pairs" / f"{name}.jsonl"
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
            pairs += [msgspec.json.decode(row, type=_Pair) for row in checked.read_bytes().splitlines()]
        except msgspec.DecodeError as error:
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


def _capable(build: Path, workflows: list[str]) -> dict[str, int]:
    """Return how many controls pass without a method (`none`) and with each method on: D both ways."""
    passed: Counter[str] = Counter()
    for name in workflows:
        for row in (build / "verdicts" / f"{name}.jsonl").read_bytes().splitlines():
            verdict = msgspec.json.decode(row, type=Verdict)
            if verdict.arm.arm in ("control", "control+method"):
                passed[verdict.arm.method] += verdict.passed
    return dict(sorted(passed.items()))


def data_facts(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> dict[str, int]:
    """Return counts of the data: tools, and what services and readers offer for the study's target calls."""
    targets = [tools[workflow.scenarios[0].tool] for workflow in workflows]
    return {
        "tools": len(tools),
        "toolsKeyed": sum(tool.idempotency_key for tool in tools.values()),
        "workflowsKeyed": sum(tool.idempotency_key for tool in targets),
        "workflowsUnobservable": sum(tool.observe is None for tool in targets),
    }
