"""`undolab trials shard`, `trials merge` and `records seal`: a study shared out over jobs or machines, and made one again."""

import argparse
from pathlib import Path

from msgspec.structs import replace

from undolab.cli.common import BUILD, MODELS, Commands, read_config, read_tools, read_workflow
from undolab.model.check import require
from undolab.model.config import MAIN, Study
from undolab.model.errors import UndolabError
from undolab.model.workflow import Split
from undolab.models.config import find_model, load_all
from undolab.models.sources import open_store, replay
from undolab.release.freeze import require_frozen
from undolab.trials.arm import prepare
from undolab.trials.live import record
from undolab.trials.merge import merge_workflow
from undolab.trials.output import write_workflow
from undolab.trials.run import run_workflow
from undolab.trials.source import RECORDS, make_agents, require_grammar, store_path


def add_trial_actions(actions: Commands) -> None:
    """Add the actions of `undolab trials`."""
    shard = actions.add_parser(
        "shard",
        help="run a part of one workflow's trials, replayed or --live, into a folder of its own",
        description="Run the trials of one workflow, model and framework, or each Nth seed of them. With --live what is not "
        "recorded is asked and goes into a journal of the shard's own; `undolab records seal` makes the journals one.",
    )
    shard.add_argument("--study", default=MAIN, metavar="NAME", help=f"default: {MAIN}")
    shard.add_argument("--workflow", required=True, metavar="ID")
    shard.add_argument("--model", required=True, metavar="NAME")
    shard.add_argument("--framework", required=True, metavar="NAME")
    shard.add_argument(
        "--part", default="1of1", metavar="KofN", help="each Nth seed from the Kth (default: 1of1)"
    )
    shard.add_argument("--live", action="store_true", help="ask the model for what is not recorded")
    shard.add_argument("--out", type=Path, required=True, help="folder of the shard")
    shard.set_defaults(run=_shard)

    merge = actions.add_parser(
        "merge", help="make the shards of a workflow one: the same bytes, however it was shared out"
    )
    merge.add_argument("shard", nargs="+", type=Path, help="folders of shards")
    merge.add_argument("--workflow", required=True, metavar="ID")
    merge.add_argument("--out", type=Path, default=BUILD, help="folder for the results (default: build)")
    merge.set_defaults(run=_merge)


def add_record_actions(actions: Commands) -> None:
    """Add the action of `undolab records`."""
    seal = actions.add_parser(
        "seal", help="make the journals of shards and workers part of the sealed records"
    )
    seal.set_defaults(run=_seal)


def _part(study: Study, arguments: argparse.Namespace) -> Study:
    """Return the study with the cells of one shard."""
    for key, level in (("models", arguments.model), ("frameworks", arguments.framework)):
        levels = getattr(study, key)
        if level not in levels:
            raise UndolabError(
                f"study {arguments.study} has no {level!r} among its {key}: {', '.join(levels)}"
            )
    number, _, count = arguments.part.partition("of")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UndolabError(f"--part {arguments.part!r} is not KofN with K from 1 to N, such as 1of2")
    seeds = study.seeds[int(number) - 1 :: int(count)]
    return replace(study, models=[arguments.model], frameworks=[arguments.framework], seeds=seeds)


def _shard(arguments: argparse.Namespace) -> int:
    study = _part(read_config().one(arguments.study), arguments)
    workflow, tools, models = read_workflow(arguments.workflow), read_tools(), load_all(MODELS)
    if workflow.split != study.split:
        raise UndolabError(
            f"{workflow.id} is of split {workflow.split}, study {arguments.study} of {study.split}"
        )
    require([workflow], tools)
    task = prepare(workflow, tools, prompt=study.prompt, examples=study.examples)
    require_grammar([task])
    model = find_model(models, arguments.model)
    if arguments.live:
        if study.split is Split.TEST:
            require_frozen(Path(), study.split)
        name = f"{arguments.study}-{workflow.id}-{arguments.framework}-{arguments.part}"
        done = record([task], study, models, study.split, Path(), name)
        print(f"{done.fresh} completions recorded")
        if done.infra_errors:
            print(f"{len(done.infra_errors)} arms are INFRA_ERROR: they have no verdict, run the shard again")
            return 1
    store = open_store(model, store_path(model.name, study.split))
    make = make_agents({model.name: model}, {model.name: replay(store)})
    count = write_workflow(arguments.out, workflow.id, run_workflow(task, study, make))
    print(f"{workflow.id}, {model.name}, {arguments.framework}, seeds {study.seeds}: {count} arms")
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    count = merge_workflow(arguments.out, arguments.workflow, arguments.shard)
    print(f"{arguments.workflow}: {count} arms of {len(arguments.shard)} shards")
    return 0


def _seal(_: argparse.Namespace) -> int:
    models = load_all(MODELS)
    found = sorted(
        {(path.parent.name, path.name.split(".")[0]) for path in RECORDS.glob("*/*.journal.jsonl")}
    )
    for name, split in found:
        store = open_store(find_model(models, name), store_path(name, split))
        store.seal()
        for notice in store.notices:
            print(notice)
        print(f"{store.path}: {len(store)} records")
    if not found:
        print("there is no journal; every record is sealed")
    return 0
