"""Table 10 and the table of INFRA_ERROR: what the study cost in calls, tokens and time, and what had to be asked again.

Counts come from the wire logs and the model records. Times come from what a service's records say of each HTTP attempt, or
from `data/measurements/latency.json`; nothing is timed here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from undolab.model.calls import Phase
from undolab.model.errors import UndolabError
from undolab.model.wire import ArmStart, TurnEvent, WireEffectEvent, WireLine
from undolab.report.sheet import DASH, Sheet
from undolab.report.tex import escape, tabular

LATENCY = Path("data/measurements/latency.json")
"""Model name to `calls`, `mean_ms`, `p50_ms` and `p95_ms`, beside the `machine` they were measured on."""
_TOGETHER = "together"


class Call(NamedTuple):
    """One model call, as its records tell it."""

    prompt_tokens: int
    completion_tokens: int
    millis: int | None
    """How long the answer took, where a record says so."""
    attempts: int
    """HTTP attempts; 0 for a model in this process."""
    failed: int
    """Those of them that came to nothing for the service's part."""
    answered: bool


class _Use:
    """What the arms of one model and framework used."""

    def __init__(self) -> None:
        self.controls = self.faults = self.turns = self.attempts = self.of_methods = 0
        self.prompt = self.completion = 0
        self.records: set[str] = set()


def sheets(
    arms: Iterable[Sequence[WireLine]], calls: Mapping[str, Mapping[str, Call]], latencies: Mapping[str, Any]
) -> list[Sheet]:
    """Return both tables.

    Args:
        arms: the lines of every arm of the study.
        calls: model to `<key>#<ordinal>` to the call.
        latencies: model to what was measured of it; see `LATENCY`.

    Raises:
        UndolabError: an arm used a call that is in no record.
    """
    uses, scope = _uses(arms, calls)
    rows = [
        _telemetry(model, framework, use, calls[model], latencies) for (model, framework), use in uses.items()
    ]
    return [_table10(rows, scope), _infra(uses, calls, scope)]


def read_latencies(path: Path = LATENCY) -> dict[str, Any]:
    """Return the measured latencies by model; none where the file is not there.

    Raises:
        UndolabError: the file is no JSON object.
    """
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_bytes())
        return {name: value for name, value in found.items() if name != "machine"}
    except (ValueError, AttributeError) as error:
        raise UndolabError(f"{path} is no JSON object ({error}); measure it again") from error


_Uses = dict[tuple[str, str], _Use]


def _uses(
    arms: Iterable[Sequence[WireLine]], calls: Mapping[str, Mapping[str, Call]]
) -> tuple[_Uses, tuple[str, str]]:
    """Return the uses by (model, framework), sorted, each model's sum last; and prompt mode and worked examples."""
    found: _Uses = {}
    scopes: set[tuple[str, str]] = set()
    for lines in arms:
        start = lines[0]
        if not isinstance(start, ArmStart) or start.arm.model not in calls:
            continue
        model, framework = start.arm.model, start.arm.framework
        scopes.add((start.prompt, start.examples))
        for name in (framework, _TOGETHER):
            _add(found.setdefault((model, name), _Use()), lines, start, calls[model])
    if not found:
        raise UndolabError("no arm of a recorded model is in the wire logs; run the trials again")
    apart = {(model, name) for model, name in found if name != _TOGETHER}
    single = {model for model, _ in apart if sum(one == model for one, _ in apart) == 1}
    kept = [key for key in found if key[1] != _TOGETHER or key[0] not in single]
    order = sorted(kept, key=lambda key: (key[0], key[1] == _TOGETHER, key[1]))
    prompts = " ".join(sorted({prompt for prompt, _ in scopes}))
    examples = " ".join(sorted({variant for _, variant in scopes}))
    return {key: found[key] for key in order}, (prompts, examples)


def _add(use: _Use, lines: Sequence[WireLine], start: ArmStart, calls: Mapping[str, Call]) -> None:
    if start.arm.arm == "fault":
        use.faults += 1
    else:
        use.controls += 1
    for line in lines:
        if isinstance(line, TurnEvent) and line.record:
            call = calls.get(line.record)
            if call is None:
                raise UndolabError(
                    f"{start.arm.name()}: record {line.record[:12]} is not in the store; restore data/records"
                )
            use.turns += 1
            use.records.add(line.record)
            use.prompt += call.prompt_tokens
            use.completion += call.completion_tokens
        elif isinstance(line, WireEffectEvent) and line.phase is Phase.INVOKE:
            use.attempts += 1
            use.of_methods += line.origin != "agent"


def _telemetry(
    model: str, framework: str, use: _Use, calls: Mapping[str, Call], latencies: Mapping[str, Any]
) -> dict[str, Any]:
    made = [calls[name] for name in sorted(use.records)]
    times = sorted(call.millis for call in made if call.millis is not None)
    measured = latencies.get(model, {})
    if times:
        spread = {"mean_ms": sum(times) / len(times), "p50_ms": _at(times, 0.5), "p95_ms": _at(times, 0.95)}
    else:
        spread = {name: measured.get(name) for name in ("mean_ms", "p50_ms", "p95_ms")}
    return {
        "model": model,
        "framework": framework,
        "controls": use.controls,
        "faults": use.faults,
        "turns": use.turns,
        "computed": len(made),
        "reuse": use.turns / len(made) if made else None,
        "prompt_tokens_used": use.prompt,
        "completion_tokens_used": use.completion,
        "prompt_tokens_computed": sum(call.prompt_tokens for call in made),
        "completion_tokens_computed": sum(call.completion_tokens for call in made),
        "attempts": use.attempts,
        "attempts_of_methods": use.of_methods,
        **spread,
        "times_from": "records" if times else "measurement" if measured else "not measured",
    }


def _at(times: Sequence[int], share: float) -> float:
    """Return the point of sorted times by linear interpolation."""
    place = (len(times) - 1) * share
    below = int(place)
    above = min(below + 1, len(times) - 1)
    return times[below] + (times[above] - times[below]) * (place - below)


def _table10(found: Sequence[dict[str, Any]], scope: tuple[str, str]) -> Sheet:
    names = list(found[0])
    rows: list[list[Any]] = [[*names[:2], "prompt", "examples", *names[2:]]]
    rows += [[*list(one.values())[:2], *scope, *list(one.values())[2:]] for one in found]
    lines: dict[str, list[list[str]]] = {}
    for one in found:
        reuse = DASH if one["reuse"] is None else f"{one['reuse']:.1f}"
        times = [
            DASH if one[name] is None else f"{one[name]:,.0f}" for name in ("mean_ms", "p50_ms", "p95_ms")
        ]
        block = lines.setdefault(one["model"], [])
        block.append(
            [escape(one["model"]) if not block else "", escape(one["framework"])]
            + [f"{one['controls'] + one['faults']:,}", f"{one['turns']:,}", f"{one['computed']:,}", reuse]
            + [
                _thousands(one[f"{kind}_tokens_{how}"])
                for how in ("used", "computed")
                for kind in ("prompt", "completion")
            ]
            + [f"{one['attempts']:,}", *times]
        )
    header = [
        [
            "",
            "",
            "",
            r"\multicolumn{3}{c}{Completions}",
            r"\multicolumn{2}{c}{Tokens used}",
            r"\multicolumn{2}{c}{Tokens computed}",
            "",
            r"\multicolumn{3}{c}{Latency, ms}",
        ],
        [r"\cmidrule(lr){4-6}\cmidrule(lr){7-8}\cmidrule(lr){9-10}\cmidrule(lr){12-14}"],
        [
            "Model",
            "Framework",
            "Arms",
            "Turns",
            "Computed",
            "Reuse",
            "Prompt",
            "Compl.",
            "Prompt",
            "Compl.",
            "Attempts",
            "Mean",
            "p50",
            "p95",
        ],
    ]
    return Sheet("table10", rows, tabular("ll" + "r" * 12, header, list(lines.values())))


def _thousands(count: int) -> str:
    return (
        f"{count / 1e6:.1f}M"
        if count >= 1_000_000
        else f"{count / 1e3:.0f}k"
        if count >= 10_000
        else f"{count:,}"
    )


def _infra(uses: _Uses, calls: Mapping[str, Mapping[str, Call]], scope: tuple[str, str]) -> Sheet:
    rows: list[list[Any]] = [
        [
            "model",
            "framework",
            "prompt",
            "examples",
            "kind",
            "calls",
            "http_attempts",
            "failed",
            "retried",
            "final",
        ]
    ]
    lines = []
    for (model, framework), use in uses.items():
        # A call that never got an answer is in no arm: its trial was run again. It counts where a model's sum is shown.
        whole = framework == _TOGETHER or (model, _TOGETHER) not in uses
        names = sorted(calls[model]) if whole else sorted(use.records)
        made = [calls[model][name] for name in names]
        kind = "service" if any(call.attempts for call in made) else "in process"
        counts = [
            len(made),
            sum(call.attempts for call in made),
            sum(call.failed for call in made),
            sum(call.answered and call.failed > 0 for call in made),
            sum(not call.answered for call in made),
        ]
        rows.append([model, framework, *scope, kind, *counts])
        lines.append([escape(model), escape(framework), kind, *(f"{count:,}" for count in counts)])
    header = [["Model", "Framework", "Runs", "Calls", "HTTP attempts", "Failed", "Retried", "Final"]]
    return Sheet("tableinfra", rows, tabular("lll" + "r" * 5, header, [lines]))
