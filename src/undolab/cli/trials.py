"""`undolab trials`: run the pairs, replayed or recorded, and say what is missing."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from undolab.cli.common import BUILD, MODELS, WORKFLOWS, Commands, read_config, read_tools, read_workflow
from undolab.cli.scripted import add_scripted_actions, conformance
from undolab.cli.shards import add_trial_actions
from undolab.model.canon import canonical
from undolab.model.check import require
from undolab.model.config import MAIN, Config, Study, place
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.model.load import load_workflows
from undolab.model.workflow import Split, Workflow
from undolab.models.backend import Backend
from undolab.models.config import ApiConfig, ModelConfig, find_model, load_all
from undolab.models.sources import open_store, replay
from undolab.release.freeze import require_frozen
from undolab.trials.arm import ArmRun, MakeAgent, Task, prepare
from undolab.trials.live import record
from undolab.trials.matrix import arms_per_trial
from undolab.trials.output import write_workflow
from undolab.trials.own import FRAMEWORK, SECONDS, describe, make_own
from undolab.trials.run import PairRow, run_workflow
from undolab.trials.source import make_agents, require_grammar, require_own_file, store_path
from undolab.trials.status import Status, missing

_POLICIES = "gold, always-retry, never-retry, verify-first"


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    top = commands.add_parser("trials", help="run the pairs of the study, or say what is missing")
    actions = top.add_subparsers(title="actions", metavar="ACTION", required=True)

    run = actions.add_parser(
        "run",
        help="run pairs: replayed from records, or --live",
        description="Run the pairs of the studies in config/config.yaml: of all, but of the main one where --workflow, "
        "--split, --pilot or --agent is given without --study. Without --live nothing but records is asked.",
    )
    _add_study(run)
    run.add_argument("--workflow", action="append", metavar="ID", help="only this workflow (may be repeated)")
    run.add_argument(
        "--split", choices=[split.value for split in Split], help="another split than the study's"
    )
    run.add_argument(
        "--agent",
        metavar="AGENT",
        help=f"instead of the models: FILE.py:FUNCTION, http://HOST:PORT/, or scripted:POLICY ({_POLICIES}); scripted alone "
        "runs the full matrix of boundaries and methods, verdicts only",
    )
    run.add_argument(
        "--test", action="store_true", help="let --agent run on the held-out TEST split; the results say so"
    )
    run.add_argument(
        "--timeout",
        type=float,
        default=SECONDS,
        metavar="S",
        help=f"seconds that --agent has for an answer (default: {SECONDS:g})",
    )
    run.add_argument(
        "--out",
        type=Path,
        help="folder for the results (default: build; with --agent build/scripted/POLICY or build/own/NAME)",
    )
    run.add_argument(
        "--live", action="store_true", help="ask the model for what is not recorded, and record it"
    )
    run.add_argument(
        "--worker", metavar="K/N", help="with --live: record only each Nth workflow, beside other workers"
    )
    run.add_argument(
        "--dry-run",
        action="store_true",
        help="print how many calls, tokens and dollars are missing, and stop",
    )
    run.add_argument(
        "--model",
        action="append",
        metavar="NAME",
        help="with --live or --dry-run: only this model of the study (may be repeated), or with --pilot any one model",
    )
    run.add_argument(
        "--pilot",
        type=Path,
        metavar="FILE",
        help="with --live or --dry-run: records in this .jsonl.zst, a file of its own, instead of the study's",
    )
    run.add_argument(
        "--max-usd", type=float, metavar="N", help="with --live: stop before more than this is spent"
    )
    run.set_defaults(run=_run)

    status = actions.add_parser("status", help="how many arms are recorded, missing and invalid")
    _add_study(status)
    status.add_argument("--split", choices=[split.value for split in Split])
    status.set_defaults(run=_status)

    add_trial_actions(actions)
    add_scripted_actions(actions)


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--study", metavar="NAME", help=f"only this study: {MAIN}, or a name under side_studies"
    )


def _studies(arguments: argparse.Namespace, config: Config) -> dict[str, Study]:
    """Return the studies that are meant, by name."""
    narrowed = any(getattr(arguments, one, None) for one in ("split", "workflow", "agent", "pilot"))
    if arguments.study or narrowed:
        name = arguments.study or MAIN
        return {name: config.one(name)}
    return config.studies()


def _chosen(arguments: argparse.Namespace, study: Study) -> list[Workflow]:
    names = getattr(arguments, "workflow", None)
    if names:
        return [read_workflow(name) for name in dict.fromkeys(names)]
    return load_workflows(WORKFLOWS, Split(arguments.split) if arguments.split else study.split)


def _tasks(workflows: list[Workflow], study: Study) -> list[Task]:
    tools = read_tools()
    require(workflows, tools)
    tasks = [prepare(workflow, tools, prompt=study.prompt, examples=study.examples) for workflow in workflows]
    require_grammar(tasks)
    return tasks


def _run(arguments: argparse.Namespace) -> int:
    if arguments.agent and arguments.agent.split(":")[0] != "scripted":
        return _run_own(arguments)
    if arguments.agent == "scripted":
        if arguments.workflow or arguments.split:
            raise UndolabError(
                "the full matrix is of all workflows; name a policy to run some, such as scripted:gold"
            )
        arguments.out = (arguments.out or BUILD) / "conformance" / "verdicts.jsonl"
        return conformance(arguments)
    config = read_config()
    policy = (arguments.agent or "").removeprefix("scripted:")
    out = arguments.out or (BUILD / "scripted" / policy if policy else BUILD)
    studies = _studies(arguments, config)
    if arguments.agent:
        if policy not in _POLICIES.split(", "):
            raise UndolabError(f"no scripted agent {arguments.agent!r}; there are {_POLICIES}")
        studies = {
            name: replace(study, models=[f"scripted:{policy}"], frameworks=["script"])
            for name, study in studies.items()
        }
    if arguments.dry_run or arguments.live:
        studies = _asked(arguments, studies)
        if arguments.dry_run:
            _print_missing(arguments, studies, arguments.pilot)
            return 0
        return _record_all(arguments, studies)
    if arguments.model or arguments.pilot or arguments.max_usd is not None:
        raise UndolabError("--model, --pilot and --max-usd need --live or --dry-run: a replay asks no model")
    models_by_name = {} if arguments.agent else load_all(MODELS)
    stores: dict[str, dict[str, Backend]] = {}
    for name, study in studies.items():
        for task in _tasks(_chosen(arguments, study), study):
            key = f"{name}/{task.workflow.split}"
            if not arguments.agent and key not in stores:
                stores = {key: _replay(models_by_name, study, task.workflow.split)}
            backends = stores.get(key, {})
            _write(task, study, make_agents(models_by_name, backends), out / place(name))
    return 0


def _asked(arguments: argparse.Namespace, studies: dict[str, Study]) -> dict[str, Study]:
    """Return the studies with the models that are to be asked; those that have none of them are left out."""
    known = list(dict.fromkeys(name for study in studies.values() for name in study.models))
    names = arguments.model or known
    strange = sorted(set(names) - set(known))
    if arguments.pilot is None:
        if strange:
            raise UndolabError(
                f"{strange[0]} is no model of the study ({', '.join(known)}); record it into a file of its own "
                "with --pilot FILE, or add it to study.models in config/config.yaml"
            )
        asked = {name: [one for one in study.models if one in names] for name, study in studies.items()}
        return {name: replace(studies[name], models=models) for name, models in asked.items() if models}
    if len(names) != 1:
        raise UndolabError(f"--pilot holds the records of one model; name one by --model: {', '.join(names)}")
    require_own_file(arguments.pilot)
    return {name: replace(study, models=names) for name, study in studies.items()}


def _record_all(arguments: argparse.Namespace, studies: dict[str, Study]) -> int:
    left, failed = arguments.max_usd, 0
    for name, study in studies.items():
        tasks = _tasks(_chosen(arguments, study), study)
        split = _one_split(tasks)
        if split is Split.TEST:
            require_frozen(Path(), split)
        worker, tasks = _share(arguments.worker, tasks)
        done = record(
            tasks, study, load_all(MODELS), split, Path(), worker, pilot=arguments.pilot, max_usd=left
        )
        if left is not None:
            left = max(0.0, left - done.usd)
        spent = f" for {done.usd:.4f} US dollars" if done.usd else ""
        rest = f"none is missing for {len(tasks)} workflows"
        if done.infra_errors:
            rest = (
                f"{len(done.infra_errors)} arms are INFRA_ERROR: they have no verdict, "
                "and the same command runs them again"
            )
            failed = 1
        print(f"study {name}: {done.fresh} completions recorded{spent}; {rest}")
    return failed


def _run_own(arguments: argparse.Namespace) -> int:
    named = arguments.model or arguments.pilot or arguments.max_usd is not None
    if arguments.live or arguments.dry_run or arguments.worker or named:
        raise UndolabError(
            "--live, --dry-run, --worker, --model, --pilot and --max-usd are for recorded models; leave them out with --agent"
        )
    study = read_config().one(arguments.study or MAIN)
    workflows = _chosen(arguments, study)
    run = describe(arguments.agent, workflows, test=arguments.test, seconds=arguments.timeout)
    study = replace(study, models=[run.model], frameworks=[FRAMEWORK])
    out = arguments.out or BUILD / "own" / run.model.removeprefix("own:")
    make = make_own(arguments.agent, arguments.timeout)
    write_bytes(out / "agent.json", canonical(run) + b"\n")
    for task in _tasks(workflows, study):
        _write(task, study, make, out)
    print(f"results of {run.model} are in {out}")
    return 0


def _write(task: Task, study: Study, make: MakeAgent, out: Path) -> None:
    name = task.workflow.id
    arms = (
        arms_per_trial(study, task.workflow, task.catalogue)
        * len(study.models)
        * len(study.frameworks)
        * len(study.seeds)
    )
    count = write_workflow(out, name, _shown(name, run_workflow(task, study, make), arms))
    print(f"{name}: {count} arms")


def _one_split(tasks: list[Task]) -> Split:
    splits = {task.workflow.split for task in tasks}
    if len(splits) != 1:
        raise UndolabError(
            "the workflows are of several splits, and each split has records of its own; record one at a time"
        )
    return splits.pop()


def _share(worker: str | None, tasks: list[Task]) -> tuple[str, list[Task]]:
    if worker is None:
        return "", tasks
    number, _, count = worker.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UndolabError(f"--worker {worker!r} is not K/N with K from 1 to N, such as 1/2")
    return f"{number}of{count}", tasks[int(number) - 1 :: int(count)]


def _replay(models: dict[str, ModelConfig | ApiConfig], study: Study, split: str) -> dict[str, Backend]:
    return {
        name: replay(open_store(find_model(models, name), store_path(name, split))) for name in study.models
    }


def _shown(
    name: str, runs: Iterator[tuple[ArmRun, PairRow | None]], arms: int
) -> Iterator[tuple[ArmRun, PairRow | None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(name, total=arms)
        for run in runs:
            yield run
            progress.advance(bar)


def _status(arguments: argparse.Namespace) -> int:
    found = _print_missing(arguments, _studies(arguments, read_config()))
    return 1 if any(one.missing_arms or one.invalid for one in found) else 0


def _print_missing(
    arguments: argparse.Namespace, studies: dict[str, Study], pilot: Path | None = None
) -> list[Status]:
    found = []
    for name, study in studies.items():
        status = missing(_tasks(_chosen(arguments, study), study), study, load_all(MODELS), pilot)
        print(f"study {name}: {status.text()}")
        found.append(status)
    return found
