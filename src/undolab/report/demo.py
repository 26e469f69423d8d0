"""The demo: one HTML file that shows recorded pairs step by step, with no server and no address outside itself."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, WireLine
from undolab.model.workflow import Workflow
from undolab.report import demo_words
from undolab.report.demo_scenes import scenes
from undolab.report.demo_steps import arm_view, effect_groups
from undolab.stats.rows import CellRow, Estimate, MetricsFile, Study, read_metrics
from undolab.wire import read_arms

BUDGET = 2_000_000
"""Bytes of embedded runs, packed. The first seed is always complete; further seeds are added whole while they fit."""
SEEDS = 5
"""Seeds of the study that are looked at, so that memory does not grow with their number."""


def write(
    wire_dir: Path,
    verdict_paths: Iterable[Path],
    metrics_json: Path,
    workflows_dir: Path,
    tools_dir: Path,
    out_path: Path,
    *,
    template_dir: Path = Path("demo"),
) -> None:
    """Write the page.

    Args:
        wire_dir: Folder of `<workflow>.jsonl.zst` logs.
        verdict_paths: Reconstructed verdicts, one JSON line an arm.
        metrics_json: The headline numbers.
        workflows_dir: Folder of the workflow files.
        tools_dir: Folder of the tool files.
        out_path: The page to write.
        template_dir: Folder of `template.html.j2`, `page.css` and `page.js`.

    Raises:
        UndolabError: an input is missing or damaged, or an arm has a log and no verdict.
    """
    metrics = read_metrics(metrics_json.parent)
    seeds = set(sorted(metrics.study.seeds)[:SEEDS])
    logs = [
        (name, lines)
        for path in sorted(wire_dir.glob("*.jsonl.zst"))
        for name, lines in read_arms(path)
        if isinstance(start := lines[0], ArmStart) and start.arm.seed in seeds
    ]
    if not logs:
        raise UndolabError(
            f"{wire_dir} holds no wire log of the seeds {sorted(seeds)}; run the trials before building the demo."
        )
    verdicts = {verdict.arm.name(): verdict for path in verdict_paths for verdict in _verdicts(path)}
    workflows = {workflow.id: workflow for workflow in load_workflows(workflows_dir)}
    data = collect(logs, verdicts, workflows, load_tools(tools_dir))
    page = render(data, metrics, template_dir)
    write_bytes(out_path, page.encode())


def collect(
    logs: Iterable[tuple[str, list[WireLine]]],
    verdicts: Mapping[str, Verdict],
    workflows: Mapping[str, Workflow],
    tools: Mapping[str, ToolSpec],
    budget: int = BUDGET,
) -> dict[str, Any]:
    """Return what the page embeds: workflows, arms as cards, the pairs that can be chosen, and the undo layer's scenes.

    Raises:
        UndolabError: an arm has no verdict, its workflow is unknown, or a fault arm has no control.
    """
    by_seed: dict[int, dict[str, tuple[ArmId, list[WireLine]]]] = {}
    for name, lines in logs:
        start = lines[0]
        if isinstance(start, ArmStart) and start.arm.arm in {"control", "fault"}:
            by_seed.setdefault(start.arm.seed, {})[name] = (start.arm, lines)
    arms: dict[str, Any] = {}
    pairs: list[dict[str, Any]] = []
    for seed in sorted(by_seed):
        new = {
            name: _view(name, arm, lines, verdicts, workflows, tools)
            for name, (arm, lines) in sorted(by_seed[seed].items())
        }
        more = _pairs([arm for arm, _ in by_seed[seed].values()])
        if arms and len(embed(packed({"arms": {**arms, **new}, "pairs": pairs + more}))) > budget:
            break
        arms |= new
        pairs += more
    shown = sorted({pair["workflow"] for pair in pairs})
    used = {card["tool"] for arm in arms.values() for card in arm["cards"] if "tool" in card}
    return {
        "workflows": {name: _workflow(workflows[name], tools) for name in shown},
        "tools": {name: tools[name].description for name in sorted(used)},
        "methods": demo_words.METHODS,
        "boundaries": demo_words.BOUNDARIES,
        "arms": arms,
        "pairs": pairs,
        "start": _start(pairs, arms, workflows),
        "scenes": scenes(),
    }


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with equal cards and equal ends of arms embedded once: most arms share nearly all of theirs.

    `arms` becomes a list; its `cards` and its `end`, which is everything else of an arm, are places in `parts`. What a
    pair says of its control and its fault arm are places in `arms`.
    """
    parts: dict[str, int] = {}

    def part(value: Any) -> int:
        return parts.setdefault(json.dumps(value), len(parts))

    arms = [
        {
            "cards": [part(card) for card in arm["cards"]],
            "end": part({name: value for name, value in arm.items() if name != "cards"}),
        }
        for arm in data["arms"].values()
    ]
    place = {name: index for index, name in enumerate(data["arms"])}
    pairs = [
        pair | {"control": place[pair["control"]], "fault": place[pair["fault"]]} for pair in data["pairs"]
    ]
    return {**data, "parts": [json.loads(text) for text in parts], "arms": arms, "pairs": pairs}


def embed(value: Any) -> str:
    """Return JSON that is safe inside a script element, whatever text it holds, and holds no address.

    Every `<`, `>` and `&` and everything outside ASCII is an escape, so no tag, comment or line separator can end the
    element; the second slash of `//` is one too.
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.replace("//", "/\\u002f")


def render(data: Mapping[str, Any], metrics: MetricsFile, template_dir: Path) -> str:
    """Return the page.

    Raises:
        UndolabError: a part of the template is missing or malformed.
    """
    loader = jinja2.FileSystemLoader(template_dir)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    try:
        css, script = (_part(template_dir / name) for name in ("page.css", "page.js"))
        return (
            environment.get_template("template.html.j2")
            .render(
                css=Markup(css),  # noqa: S704 our own file
                script=Markup(script),  # noqa: S704 our own file
                data=Markup(embed(packed(data))),  # noqa: S704 escaped by embed
                css_hash=_hash(css),
                script_hash=_hash(script),
                tables=_tables(metrics),
                headline=_headline(metrics),
                legend=_legend(metrics.study),
                study=metrics.study,
                pairs=len(data["pairs"]),
                seeds=sorted({pair["seed"] for pair in data["pairs"]}),
            )
            .rstrip()
            + "\n"
        )
    except jinja2.TemplateNotFound as error:
        raise UndolabError(
            f"{template_dir}/{error.name} is missing; restore it from the repository."
        ) from error
    except jinja2.TemplateError as error:
        raise UndolabError(
            f"{template_dir}/template.html.j2 cannot be rendered ({error}); mend it."
        ) from error


def _verdicts(path: Path) -> list[Verdict]:
    decoder = msgspec.json.Decoder(Verdict)
    try:
        return [decoder.decode(line) for line in path.read_bytes().splitlines()]
    except (OSError, msgspec.DecodeError) as error:
        raise UndolabError(f"{path} holds no verdicts ({error}); reconstruct it again.") from error


def _part(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UndolabError(f"{path} is missing; restore it from the repository.") from error


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _view(
    name: str,
    arm: ArmId,
    lines: list[WireLine],
    verdicts: Mapping[str, Verdict],
    workflows: Mapping[str, Workflow],
    tools: Mapping[str, ToolSpec],
) -> dict[str, Any]:
    if arm.workflow not in workflows:
        raise UndolabError(f"The log of {name} is of a workflow that is not on disk; build the logs again.")
    if name not in verdicts:
        raise UndolabError(f"{name} has a log and no verdict; reconstruct the verdicts again.")
    return arm_view(workflows[arm.workflow], tools, lines, verdicts[name])


def _pairs(arms: list[ArmId]) -> list[dict[str, Any]]:
    controls = {(a.workflow, a.model, a.framework, a.seed): a.name() for a in arms if a.arm == "control"}
    pairs = []
    for arm in sorted(arms, key=ArmId.name):
        if arm.arm != "fault":
            continue
        control = controls.get((arm.workflow, arm.model, arm.framework, arm.seed))
        if control is None:
            raise UndolabError(f"{arm.name()} has no control arm; run the missing trial.")
        pairs.append(
            {
                "workflow": arm.workflow,
                "agent": f"{arm.model} · {arm.framework}",
                "seed": arm.seed,
                "boundary": arm.boundary,
                "method": arm.method,
                "control": control,
                "fault": arm.name(),
            }
        )
    return pairs


def _workflow(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "domain": workflow.domain,
        "objective": workflow.objective.strip(),
        "reversibility": workflow.reversibility.value.lower(),
        "effects": effect_groups(workflow, tools),
        "goal": [predicate.say for predicate in workflow.goal],
    }


def _start(pairs: list[dict[str, Any]], arms: Mapping[str, Any], workflows: Mapping[str, Workflow]) -> int:
    """Return the pair to show first: money moved twice by naive retry, or what comes nearest to it."""

    def distance(index: int) -> tuple[bool, bool, bool, bool, int]:
        pair = pairs[index]
        return (
            arms[pair["fault"]]["failure"] != "DUPLICATE_EFFECT",
            not arms[pair["control"]]["passed"],
            workflows[pair["workflow"]].domain != "payments",
            pair["method"] != "B0",
            index,
        )

    return min(range(len(pairs)), key=distance, default=0)


def _tables(metrics: MetricsFile) -> list[dict[str, Any]]:
    """Return the numbers of each model and framework: a table a boundary, with a row a method."""
    study = metrics.study
    tables = []
    for model in study.models:
        for framework in study.frameworks:
            any_cell = metrics.cell(model, framework, study.boundaries[0], study.methods[0])
            tables.append(
                {
                    "agent": f"{model} · {framework}",
                    "runs": any_cell.N,
                    "controls": any_cell.D,
                    "boundaries": [
                        {
                            "words": demo_words.BOUNDARIES.get(boundary, (boundary, "")),
                            "rows": [
                                {"words": demo_words.METHODS.get(method, (method, ""))}
                                | _cell(metrics.cell(model, framework, boundary, method))
                                for method in study.methods
                            ],
                        }
                        for boundary in study.boundaries
                    ],
                }
            )
    return tables


def _legend(study: Study) -> list[tuple[str, str]]:
    """Return the short names of the study that need a word, each with that word."""
    known = [
        *((name, demo_words.FRAMEWORKS.get(name)) for name in study.frameworks),
        (study.prompt, demo_words.PROMPTS.get(study.prompt)),
        (study.examples, demo_words.EXAMPLES.get(study.examples)),
    ]
    lost = [
        (name, f"“{demo_words.BOUNDARIES[name][0].lower()}” in the files of the study")
        for name in study.boundaries
        if name in demo_words.BOUNDARIES
    ]
    return [(name, text) for name, text in known if text is not None] + lost


def _headline(metrics: MetricsFile) -> int:
    """Return which boundary the headline numbers are of: the lost answer, where repeating does harm."""
    boundaries = metrics.study.boundaries
    harmful = "POST_MUTATION_PRE_ACK"
    return boundaries.index(harmful) if harmful in boundaries else 0


def _cell(row: CellRow) -> dict[str, Any]:
    return {"right": _share(row.metrics["crsr"]), "twice": _share(row.metrics["der"])}


def _share(estimate: Estimate) -> dict[str, Any]:
    """Return a share as whole percents, `text` for people and `low`, `high` for the bar; undefined is `none`."""
    counts = {"num": estimate.num, "den": estimate.den}
    if estimate.value is None:
        return counts | {"text": "none", "value": 0, "low": 0, "high": 0}
    low = estimate.value if estimate.lo is None else estimate.lo
    high = estimate.value if estimate.hi is None else estimate.hi
    value, low, high = (round(100 * number) for number in (estimate.value, low, high))
    return counts | {"text": f"{value}\u00a0%", "value": value, "low": low, "high": high}
