"""`undolab records` and `undolab live`: look at records, audit them against the model, make some of them again."""

import argparse
import json
import math
from pathlib import Path

import msgspec

from undolab.cli.common import MODELS, Commands, read_config
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.models.audit import TOLERANCE, UNLIKELY, audit, drift
from undolab.models.config import ApiConfig, ModelConfig, find_model, load_all
from undolab.models.llama import LlamaBackend
from undolab.models.sources import open_store
from undolab.models.store import HttpStore, RecordStore
from undolab.trials.source import store_path

_SEED = 42
_ENOUGH = 0.5
"""Share of equal completions below which the records are in doubt: another processor changes some texts, not most."""


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    top = commands.add_parser("records", help="look at model records, or audit them against the model")
    actions = top.add_subparsers(title="actions", metavar="ACTION", required=True)
    show = actions.add_parser("show", help="the header of a store, or one record by the start of its key")
    _where(show)
    show.add_argument("--key", help="start of a key")
    show.set_defaults(run=_show)
    check = actions.add_parser(
        "audit",
        help="re-score records by teacher forcing (needs the model)",
        description="Evaluate prompt and recorded tokens under the model and compare what the record says of them.",
    )
    _where(check)
    check.add_argument(
        "--records", type=_count_or_all, default=50, metavar="N", help="how many, or `all` (default: 50)"
    )
    check.add_argument(
        "--seed", type=int, default=_SEED, metavar="S", help=f"which ones are drawn (default: {_SEED})"
    )
    check.set_defaults(run=_audit)

    live = commands.add_parser(
        "live",
        help="make a small frozen subset of the completions again (needs the model)",
        description="Run the model on a fixed subset of the recorded requests and count the equal completions. "
        "The exit code is 1 if fewer than half are equal.",
    )
    _where(live)
    live.add_argument("--records", type=_count, default=20, metavar="N", help="how many (default: 20)")
    live.add_argument("--out", type=Path, help="also write the counts here as JSON")
    live.set_defaults(run=_live)


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="gemma3-270m", help="name in config/models.yaml (default: gemma3-270m)"
    )
    parser.add_argument("--split", default=None, help="dev, validation or test (default: the study's)")
    parser.add_argument("--store", type=Path, help="another .jsonl.zst than the one in data/records")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _count_or_all(text: str) -> int | None:
    return None if text == "all" else _count(text)


def _open(arguments: argparse.Namespace) -> tuple[RecordStore | HttpStore, ModelConfig | ApiConfig]:
    models = load_all(MODELS)
    model = find_model(models, arguments.model)
    split = arguments.split or read_config().study.split
    path = arguments.store or store_path(arguments.model, split)
    if not path.is_file():
        raise UndolabError(
            f"{path} is missing; restore it from the repository, or record it with `make record`"
        )
    return open_store(model, path), model


def _open_ours(arguments: argparse.Namespace) -> tuple[RecordStore, ModelConfig]:
    store, model = _open(arguments)
    if not (isinstance(store, RecordStore) and isinstance(model, ModelConfig)):
        raise UndolabError(
            f"{model.name} runs behind a service, which tells no token ids; name a model with a file"
        )
    return store, model


def _show(arguments: argparse.Namespace) -> int:
    store, _ = _open(arguments)
    if arguments.key is None:
        header = msgspec.to_builtins(store.header)
        print(json.dumps({"records": len(store), "header": header}, indent=2))
        return 0
    found = [record for record in store if record.key.startswith(arguments.key)]
    if not found:
        raise UndolabError(f"no record of {store.path} has a key that starts with {arguments.key!r}")
    for record in found:
        print(json.dumps(json.loads(canonical(record)), indent=2, ensure_ascii=False))
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    store, model = _open_ours(arguments)
    report = audit(store, LlamaBackend(model, Path()), arguments.records, arguments.seed)
    for finding in report.findings:
        print(f"{store.path}: record {finding.key[:12]} ordinal {finding.ordinal}: {finding.reason}")
    print(
        f"{report.checked} of {report.of} records re-scored (seed {arguments.seed}), {report.tokens} tokens, "
        f"{len(report.findings)} findings"
    )
    if report.checked > len(report.findings):
        print(
            f"Among those without: largest difference of a log-probability {report.worst:.5f} (limit {TOLERANCE}), "
            f"most unlikely answer 10^{report.evidence / math.log(10):.1f} (limit 10^{math.log10(UNLIKELY):.0f})"
        )
    if report.checked < report.of:
        print(f"{report.of - report.checked} records were not looked at; --records all looks at every one")
    return 1 if report.findings or not report.checked else 0


def _live(arguments: argparse.Namespace) -> int:
    store, model = _open_ours(arguments)
    report = drift(store, LlamaBackend(model, Path()), arguments.records, _SEED)
    for finding in report.differing:
        print(f"record {finding.key[:12]} ordinal {finding.ordinal}: {finding.reason}")
    rate = report.equal / report.checked if report.checked else 0.0
    print(
        f"{report.equal} of {report.checked} completions made again equal their records, token for token "
        f"({rate:.0%}; fewer than {_ENOUGH:.0%} fail)"
    )
    if arguments.out:
        arguments.out.write_bytes(canonical({"checked": report.checked, "equal": report.equal}) + b"\n")
    return 1 if rate < _ENOUGH else 0
