"""`undolab stats` and `undolab report`: from verdicts to statistics, tables, figures, macros, paper and demo."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from undolab.cli.common import BUILD, CONFIG, TOOLS, WORKFLOWS, Commands, read_config, read_tools
from undolab.cli.stats import add_actions
from undolab.model.config import MAIN, place
from undolab.model.errors import UndolabError
from undolab.model.load import load_workflows, read_yaml
from undolab.model.workflow import Workflow
from undolab.models.store import RecordStore
from undolab.trials.matrix import not_applicable
from undolab.trials.source import store_path

_TECTONIC = Path(".tools/tectonic")
_EPOCH = "1767225600"
_LITERATURE = Path("data/related.yaml")
_MEASUREMENTS = Path("data/measurements")
_EVIDENCE = Path("data/evidence")


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    numbers = commands.add_parser(
        "stats", help="metrics, intervals and contrasts from the verdicts of a build"
    )
    numbers.add_argument("--build", type=Path, default=BUILD, help="folder of the build (default: build)")
    numbers.add_argument("--study", metavar="NAME", default=MAIN, help=f"which study (default: {MAIN})")
    numbers.set_defaults(run=_stats)
    add_actions(numbers)
    top = commands.add_parser("report", help="tables, figures, macros, paper or demo from a build")
    parts = top.add_subparsers(title="parts", metavar="PART", required=True)
    stages: dict[str, tuple[str, Callable[[Path], Any]]] = {
        "tables": ("every table of the paper as CSV and TeX", _tables),
        "figures": ("every figure of the paper as PDF and PNG", _figures),
        "macros": ("every number of the paper as a TeX macro", _macros),
        "paper": ("the PDF, set by Tectonic without a network", _paper),
        "behaviour": ("what the models do after the error without a method, from the wire logs", _behaviour),
        "telemetry": ("calls, tokens, times and INFRA_ERROR, from wire logs and records", _telemetry),
        "undo": ("figures and tables of the undo part", _undo),
        "demo": ("the page that opens without a server", _demo),
    }
    for name, (help_text, stage) in stages.items():
        _build(parts.add_parser(name, help=help_text), stage)


def _build(parser: argparse.ArgumentParser, stage: Callable[[Path], Any]) -> None:
    parser.add_argument("--build", type=Path, default=BUILD, help="folder of the build (default: build)")

    def run(arguments: argparse.Namespace) -> int:
        stage(arguments.build)
        return 0

    parser.set_defaults(run=run)


def _chosen() -> list[Workflow]:
    return load_workflows(WORKFLOWS, read_config().study.split)


def _workflows() -> list[str]:
    return [workflow.id for workflow in _chosen()]


def _verdicts(build: Path) -> list[Path]:
    return [build / "verdicts" / f"{name}.jsonl" for name in _workflows()]


# The stages import what they need when they run: the base install has neither numpy nor matplotlib.


def _stats(arguments: argparse.Namespace) -> int:
    from undolab.stats.matrix import matrix_from
    from undolab.stats.run import run

    study = read_config().one(arguments.study)
    workflows = load_workflows(WORKFLOWS, study.split)
    names = [workflow.id for workflow in workflows]
    absent = not_applicable(study, workflows, read_tools())
    here = arguments.build / place(arguments.study)
    verdicts = [here / "verdicts" / f"{name}.jsonl" for name in names]
    reversibility = {workflow.id: workflow.reversibility.value for workflow in workflows}
    matrix = matrix_from(read_yaml(CONFIG), names, arguments.study, absent)
    run(verdicts, matrix, here / "stats", reversibility)
    return 0


def _tables(build: Path) -> None:
    from undolab.report import composition, matrix, tables

    out, workflows, tools = build / "tables", load_workflows(WORKFLOWS), read_tools()
    tables.write(build, out, workflows, tools, _LITERATURE)
    matrix.write(build, out)
    composition.write(workflows, tools, read_config().study.split, build, out)


def _figures(build: Path) -> None:
    from undolab.report import figures

    figures.write(build, build / "figures", load_workflows(WORKFLOWS), read_tools())


def _telemetry(build: Path) -> None:
    from undolab.cli.telemetry import read_calls
    from undolab.report import telemetry
    from undolab.report.sheet import write_sheets
    from undolab.wire import read_arms

    study = read_config().study
    logs = sorted((build / "wire").glob("*.jsonl.zst"))
    arms = (lines for log in logs for _, lines in read_arms(log))
    calls = {model: read_calls(model, study.split) for model in study.models}
    write_sheets(telemetry.sheets(arms, calls, telemetry.read_latencies()), build / "tables")


def _macros(build: Path) -> None:
    from undolab.report import macros, sources
    from undolab.report.facts import benchmark_facts, data_facts, study_facts

    config, workflows, tools = read_config(), _chosen(), read_tools()
    values = {
        "fact": study_facts(build, [workflow.id for workflow in workflows])
        | data_facts(workflows, tools)
        | benchmark_facts(build, load_workflows(WORKFLOWS), tools)
        | _record_facts(config.study.models[0], config.study.split),
        **sources.values(build, _EVIDENCE, _MEASUREMENTS),
    }
    macros.write(build / "stats", build / "paper" / "macros.tex", values=values, tex=sources.raw(build))


def _record_facts(model: str, split: str) -> dict[str, Any]:
    store = RecordStore(store_path(model, split))
    if store.header is None:
        raise UndolabError(f"{store.path} is missing; restore it from the repository")
    tensors = sorted(store.header.tensor_types.items(), key=lambda item: (-item[1], item[0]))
    return {
        "records": len(store),
        "tensors": ", ".join(f"{count} {kind}" for kind, count in tensors),
        "modelDigest": store.header.model_digest[:12],
    }


def _paper(build: Path) -> None:
    from undolab.report import paper

    epoch = os.environ.get("SOURCE_DATE_EPOCH", _EPOCH)
    if not epoch.isdigit():
        raise UndolabError(f"SOURCE_DATE_EPOCH is {epoch!r}; set it to a number of seconds, or unset it")
    paper.build(Path("paper"), build, _TECTONIC, int(epoch))


def _behaviour(build: Path) -> None:
    from undolab.report import behaviour

    # The side studies on these tasks differ in their worked examples; those on other splits are no part of this table.
    names = _workflows()
    logs = [*(build / "wire").glob("*.jsonl.zst"), *build.glob("side/*/wire/*.jsonl.zst")]
    behaviour.write(sorted(log for log in logs if log.name.split(".")[0] in names), build / "tables")


def _undo(build: Path) -> None:
    from undolab.report import undo_figures, undo_tables

    undo_figures.write(build, _MEASUREMENTS, build / "figures")
    undo_tables.write(build, _MEASUREMENTS, build / "tables")


def _demo(build: Path) -> None:
    from undolab.report import demo

    demo.write(
        build / "wire",
        _verdicts(build),
        build / "stats" / "metrics.json",
        WORKFLOWS,
        TOOLS,
        build / "demo" / "index.html",
    )
