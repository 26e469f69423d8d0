"""`undolab models`: which models are configured, and whether a service behind one of them can be used."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import msgspec

from undolab.cli.common import BUILD, MODELS, WORKFLOWS, Commands, read_tools
from undolab.model.check import require
from undolab.model.errors import UndolabError
from undolab.model.load import load_workflows
from undolab.model.workflow import Split
from undolab.models.budget import Budget, Purse, estimate
from undolab.models.config import ApiConfig, ModelConfig, find_model, load_all
from undolab.models.openai_http import OpenAIBackend
from undolab.models.probe import check, questions
from undolab.models.store import HttpStore
from undolab.trials.arm import prepare
from undolab.trials.small import SMOKE, run_small, small_sizes
from undolab.trials.source import require_grammar, require_own_file


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    top = commands.add_parser("models", help="list the models, try the service behind one, or run your own")
    top.add_argument(
        "--models", type=Path, default=MODELS, metavar="FILE", help=f"another file than {MODELS}"
    )
    actions = top.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="one line a model: where it runs, and whether it was run here")
    listing.set_defaults(run=_list)
    trial = actions.add_parser(
        "check",
        help="try tools, seed, finish reasons and truncation of a service; prints JSON",
        description="Ask a service a few small questions. Exit code 1: some answer was not fine.",
    )
    trial.add_argument("model", metavar="NAME", help="an entry of config/models.yaml with a url")
    _add_limits(trial, pilot="keep the raw answers in this .jsonl.zst, a file of its own")
    trial.set_defaults(run=_check)
    run = actions.add_parser(
        "run",
        help="run a model of your own on the smoke suite, or on the workflows you name",
        description="Run control and fault arms of a model, record its answers, and print a summary as JSON.",
    )
    run.add_argument("model", metavar="NAME", help="an entry of config/models.yaml")
    run.add_argument(
        "--workflow", action="append", metavar="ID", help=f"instead of {', '.join(SMOKE)} (may be repeated)"
    )
    run.add_argument("--test", action="store_true", help="allow workflows of TEST; the result says so")
    _add_limits(run, pilot="record into this .jsonl.zst instead of OUT/records.jsonl.zst")
    run.add_argument("--out", type=Path, help="folder for the results (default: build/models/NAME)")
    run.set_defaults(run=_run)


def _add_limits(parser: argparse.ArgumentParser, pilot: str) -> None:
    """Add what bounds a live command; `pilot` says what its file is for."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print calls, tokens and cost, and ask nothing"
    )
    parser.add_argument("--max-usd", type=float, metavar="N", help="stop before more than this is spent")
    parser.add_argument("--pilot", type=Path, metavar="FILE", help=pilot)


def _read_service(path: Path, name: str) -> ApiConfig:
    found = find_model(load_all(path), name, str(path))
    if not isinstance(found, ApiConfig):
        raise UndolabError(
            f"{name} runs in this process and needs no check; name an entry of {path} with a url"
        )
    return found


def _list(arguments: argparse.Namespace) -> int:
    for name, model in load_all(arguments.models).items():
        if isinstance(model, ApiConfig):
            print(
                f"{name:<22} {model.protocol:<11} {model.url}  {model.not_run and 'not run here: ' + model.not_run}"
            )
        else:
            print(f"{name:<22} in process  {model.file}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    config = find_model(load_all(arguments.models), arguments.model, str(arguments.models))
    found = {workflow.id: workflow for workflow in load_workflows(WORKFLOWS)}
    unknown = sorted(set(arguments.workflow or ()) - found.keys())
    if unknown:
        raise UndolabError(f"no workflow {unknown[0]!r} under {WORKFLOWS}; see `undolab workflows list`")
    workflows = [found[name] for name in dict.fromkeys(arguments.workflow or SMOKE)]
    splits = {workflow.split for workflow in workflows}
    if len(splits) > 1:
        raise UndolabError(f"the workflows are of {' and '.join(sorted(splits))}; name those of one split")
    if Split.TEST in splits and not arguments.test:
        raise UndolabError(
            "these workflows are of the frozen TEST split; say --test, and the result will say it"
        )
    tools = read_tools()
    require(workflows, tools)
    tasks = [prepare(workflow, tools, prompt="runbook", examples="plain") for workflow in workflows]
    require_grammar(tasks)
    if arguments.pilot:
        require_own_file(arguments.pilot)
    if arguments.dry_run:
        _print_plan(config, small_sizes(config, tasks))
        return 0
    out = arguments.out or BUILD / "models" / config.name
    records = arguments.pilot or out / "records.jsonl.zst"
    done = run_small(config, tasks, records, out, max_usd=arguments.max_usd, notice=_notice)
    print(json.dumps(msgspec.to_builtins(done), indent=2))
    if done.infra_errors:
        _notice(
            f"{done.infra_errors} arms are INFRA_ERROR: they have no verdict, and the same command runs them again"
        )
    return 1 if done.infra_errors else 0


def _notice(line: str) -> None:
    print(line, file=sys.stderr)


def _print_plan(config: ModelConfig | ApiConfig, sizes: list[tuple[int, int]]) -> None:
    price = config.price if isinstance(config, ApiConfig) else None
    prompt, completion = (sum(size) for size in zip(*sizes, strict=True))
    plan = {
        "calls": len(sizes),
        "prompt_tokens_about": prompt,
        "completion_tokens_at_most": completion,
        "usd_at_most": round(Budget(price).cost(prompt, completion), 4) if price else None,
    }
    print(json.dumps(plan, indent=2))


def _check(arguments: argparse.Namespace) -> int:
    config = _read_service(arguments.models, arguments.model)
    budget = Budget(config.price, Purse(arguments.max_usd))
    if arguments.dry_run:
        _print_plan(config, [estimate(request) for _, request, _ in questions(config)])
        return 0
    if arguments.pilot:
        require_own_file(arguments.pilot)
    if arguments.pilot and arguments.pilot.exists():
        raise UndolabError(f"{arguments.pilot} is there already; name another file, or remove it")
    with tempfile.TemporaryDirectory() as folder:
        store = HttpStore(arguments.pilot or Path(folder) / "check.jsonl.zst")
        try:
            with OpenAIBackend(config, store, budget=budget, notice=_notice) as backend:
                findings = check(config, backend)
        finally:
            if arguments.pilot and store.header is not None:
                store.seal()
            store.close()
        failed = sum(1 for attempt in store if attempt.outcome != "answered")
    report = {
        "model": config.name,
        "protocol": config.protocol,
        "fine": all(finding.fine for finding in findings),
        "findings": msgspec.to_builtins(findings),
        "http_attempts": len(store),
        "attempts_without_answer": failed,
        "usd": round(budget.spent, 4) if config.price else None,
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0 if report["fine"] else 1
