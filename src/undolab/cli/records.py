"""`undolab records` and `undolab live`: look at records, audit them against the model, make some of them again."""

import argparse
import json
import math
from pathlib import Path

import msgspec

from undolab.cli.common import MODELS, Commands, read_config
from undolab.cli.shards import add_record_actions
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.workflow import Split
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
    _where(show, "the main study's first", "the main study's")
    show.add_argument("--key", help="start of a key")
    show.set_defaults(run=_show)
    check = actions.add_parser(
        "audit",
        help="re-score records by teacher forcing (needs the model)",
        description="Evaluate prompt and recorded tokens under the model and compare what the record says of them.",
    )
    _where(check, "every model with a file that a study runs", "every split that they run it on")
    check.add_argument(
        "--records", type=_count_or_all, default=50, metavar="N", help="how many, or `all` (default: 50)"
    )
    check.add_argument(
        "--seed", type=int, default=_SEED, metavar="S", help=f"which ones are drawn (default: {_SEED})"
    )
    check.set_defaults(run=_audit)

    add_record_actions(actions)

    live = commands.add_parser(
        "live",
        help="make a small frozen subset of the completions again (needs the model)",
        description="Run the model on a fixed subset of the recorded requests and count the equal completions. "
        "The exit code is 1 if fewer than half are equal.",
    )
    _where(live, "the main study's first with a file", "the main study's")
    live.add_argument("--records", type=_count, default=20, metavar="N", help="how many (default: 20)")
    live.add_argument("--out", type=Path, help="also write the counts here as JSON")
    live.set_defaults(run=_live)


def _where(parser: argparse.ArgumentParser, model: str, split: str) -> None:
    parser.add_argument("--model", help=f"name in config/models.yaml (default: {model})")
    parser.add_argument("--split", choices=[one.value for one in Split], help=f"default: {split}")
    parser.add_argument("--store", type=Path, help="another .jsonl.zst than the one in data/records")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _count_or_all(text: str) -> int | None:
    return None if text == "all" else _count(text)


def _open(
    name: str, split: str, path: Path | None
) -> tuple[RecordStore | HttpStore, ModelConfig | ApiConfig]:
    model = find_model(load_all(MODELS), name)
    path = path or store_path(name, split)
    if not path.is_file():
        raise UndolabError(
            f"{path} is missing; restore it from the repository, or record it with `make record`"
        )
    return open_store(model, path), model


def _open_ours(name: str, split: str, path: Path | None) -> tuple[RecordStore, ModelConfig]:
    store, model = _open(name, split, path)
    if not (isinstance(store, RecordStore) and isinstance(model, ModelConfig)):
        raise UndolabError(
            f"{model.name} runs behind a service, which tells no token ids; name a model with a file"
        )
    return store, model


def _with_files(names: list[str]) -> list[str]:
    models = load_all(MODELS)
    found = [name for name in names if isinstance(find_model(models, name), ModelConfig)]
    if not found:
        raise UndolabError("no model of the studies runs from a file; name one with --model")
    return found


def _audited(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return model and split of every store that is meant, each once, in the order of the studies."""
    studies = read_config().studies().values()
    names = list(dict.fromkeys(name for study in studies for name in study.models))
    pairs = [
        (name, arguments.split or study.split.value)
        for name in ([arguments.model] if arguments.model else _with_files(names))
        for study in studies
        if name in study.models
    ]
    if arguments.model and not pairs:
        pairs = [(arguments.model, arguments.split or read_config().study.split.value)]
    return list(dict.fromkeys(pairs))[: 1 if arguments.store else None]


def _show(arguments: argparse.Namespace) -> int:
    study = read_config().study
    store, _ = _open(arguments.model or study.models[0], arguments.split or study.split, arguments.store)
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
    # Every store is looked at, whatever is found in the first.
    return max([_audit_one(arguments, name, split) for name, split in _audited(arguments)])


def _audit_one(arguments: argparse.Namespace, name: str, split: str) -> int:
    store, model = _open_ours(name, split, arguments.store)
    report = audit(store, LlamaBackend(model, Path()), arguments.records, arguments.seed)
    for finding in report.findings:
        print(f"{store.path}: record {finding.key[:12]} ordinal {finding.ordinal}: {finding.reason}")
    print(
        f"{store.path}: {report.checked} of {report.of} records re-scored (seed {arguments.seed}), {report.tokens} tokens, "
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
    study = read_config().study
    name = arguments.model or _with_files(study.models)[0]
    store, model = _open_ours(name, arguments.split or study.split, arguments.store)
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
