"""`undolab undo models` and `undolab undo import`: the model study from its records, its audit, and others' records replayed."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track

from undolab.cli.common import BUILD, MODELS, Commands
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.models.config import ApiConfig, ModelConfig, find_model, load_all
from undolab.models.sources import open_store, recorder, replay
from undolab.models.store import HttpStore, RecordStore
from undolab.planners import published
from undolab.planners.audit import audit
from undolab.planners.run import Episode, episodes, play
from undolab.planners.tables import files, summary
from undolab.planners.tasks import MODELS as STUDIED
from undolab.planners.tasks import tasks

if TYPE_CHECKING:
    from undolab.models.backend import Backend

_STORES = Path("data/records")
_RESULTS = Path("results/undo")
_COLUMNS = ("tasks", "eligible", "collateral", "recovered", "wrong_receipt", "victim_changed", "escalated")


def add_models(actions: Commands) -> None:
    """Add `models` and `import` to the actions of `undolab undo`."""
    study = actions.add_parser("models", help="what small models take back, replayed from records, or --live")
    study.add_argument(
        "--live", action="store_true", help="ask the models for what is not recorded, and record it"
    )
    study.add_argument(
        "--model", choices=STUDIED, action="append", help="with --live: only this model (may be repeated)"
    )
    study.add_argument(
        "--audit", action="store_true", help=f"compare {_RESULTS} with what the records give, row by row"
    )
    study.set_defaults(run=_study)
    bring = actions.add_parser("import", help="replay the raw records of the published study (models.jsonl)")
    bring.add_argument("file", type=Path, metavar="FILE")
    bring.set_defaults(run=_import)


def _study(arguments: argparse.Namespace) -> int:
    if arguments.live:
        if arguments.audit:
            raise UndolabError("--audit looks at records that are there; run it after --live, on its own")
        return _record(arguments.model or STUDIED)
    if arguments.model:
        raise UndolabError("the study is of both models; --model goes with --live alone")
    models = load_all(MODELS)
    configs = {name: find_model(models, name) for name in STUDIED}
    stores = {name: _open(config) for name, config in configs.items()}
    backends: dict[str, Backend] = {name: replay(store) for name, store in stores.items()}
    found = list(episodes(configs, backends))
    if arguments.audit:
        problems = audit(found, stores, _RESULTS)
        for problem in problems:
            print(problem)
        print(_audited(found, len(problems)))
        return 1 if problems else 0
    for name, data in files(found).items():
        write_bytes(BUILD / "undo" / name, data)
    counted = summary(found)
    cells = {tuple(cell.split("/")): counts for cell, counts in counted["cells"].items()}
    print(_page({cell: counts for cell, counts in cells.items() if cell[1] in ("ordinary", "hardened")}))
    print(f"Written: {', '.join(str(BUILD / 'undo' / name) for name in files(found))}")
    return 1 if counted["store_differs"] else 0


def _open(config: ModelConfig | ApiConfig, *, there: bool = True) -> RecordStore | HttpStore:
    path = _STORES / config.name / "undo.jsonl.zst"
    if there and not path.is_file():
        raise UndolabError(
            f"{path} is missing; restore it from the repository, or record it with `undolab undo models --live`"
        )
    return open_store(config, path)


def _record(names: Sequence[str]) -> int:
    """Record every answer that is missing; each is on the disk before the next is asked for."""
    models = load_all(MODELS)
    for name in names:
        config = find_model(models, name)
        store = _open(config, there=False)
        live = recorder(config, store, Path(), notice=lambda line: print(line, file=sys.stderr))
        try:
            # Prompts of one kind in a row share their beginning, which is then evaluated once.
            order = sorted(tasks(), key=lambda task: task.hardened)
            for task in track(order, description=name, console=Console(stderr=True)):
                play(name, task, config, live)
        finally:
            live.close()
            store.close()
        store.seal()
        print(f"{name}: {live.fresh} answers recorded; {len(store)} records in {store.path}")
    return 0


def _audited(found: list[Episode], problems: int) -> str:
    answers = sum(1 + sum(item.answer is not None for item in episode.branches) for episode in found)
    branches = sum(len(episode.branches) for episode in found)
    return (
        f"{len(found)} tasks, {answers} recorded answers, {branches} branches recomputed; {problems} problems"
    )


def _import(arguments: argparse.Namespace) -> int:
    rows = published.read(arguments.file)
    findings = [finding for row in rows for finding in row.findings]
    for finding in findings:
        print(finding)
    print(_page(published.counts(rows)))
    replayed = sum(len(row.results) for row in rows)
    print(f"{len(rows)} rows, {replayed} branches replayed; {len(findings)} differences from the file")
    return 1 if findings else 0


def _page(cells: dict[Any, dict[str, int]]) -> str:
    width = max(len(cell[0]) for cell in cells) if cells else 0
    heads = " ".join(f"{name.replace('_', ' '):>{max(8, len(name))}}" for name in _COLUMNS)
    lines = [f"{'model':{width}} {'prompt':8} {'branch':9} {heads}"]
    for (model, prompt, branch), counts in cells.items():
        numbers = " ".join(f"{counts[name]:{max(8, len(name))}}" for name in _COLUMNS)
        lines.append(f"{model:{width}} {prompt:8} {branch:9} {numbers}")
    return "\n".join(lines)
