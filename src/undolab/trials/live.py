"""Recording a study: replay what is recorded, ask the model for the rest, store each answer before using it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from undolab.model.config import Study
from undolab.model.workflow import Split
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.models.sources import Recorder, open_store, recorder
from undolab.trials.arm import Task
from undolab.trials.matrix import arms_per_trial
from undolab.trials.run import run_workflow
from undolab.trials.source import make_agents, store_path

if TYPE_CHECKING:
    from undolab.models.store import HttpStore, RecordStore

_COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)


def record(
    tasks: Sequence[Task],
    study: Study,
    models: Mapping[str, ModelConfig | ApiConfig],
    split: Split,
    root: Path,
    worker: str = "",
) -> int:
    """Record every missing completion of a study; return how many were made.

    Each answer is on the disk before the trial goes on, so a killed run goes on from there when it is called again. Without
    a `worker` the stores are sealed at the end; a worker leaves that to the last call.
    """
    console = Console(stderr=True)
    recorders: dict[str, Recorder] = {}
    stores: list[RecordStore | HttpStore] = []
    for name in study.models:
        model = find_model(models, name)
        store = open_store(model, root / store_path(name, split), worker)
        stores.append(store)
        recorders[name] = recorder(model, store, root, notice=console.print)
    make = make_agents(models, recorders)
    arms = len(tasks) * arms_per_trial(study) * len(study.models) * len(study.frameworks) * len(study.seeds)
    for notice in (notice for store in stores for notice in store.notices):
        console.print(notice, highlight=False)
    with Progress(*_COLUMNS, console=console) as progress:
        bar = progress.add_task("", total=arms)
        for task in tasks:
            for _ in run_workflow(task, study, make):
                fresh = sum(made.fresh for made in recorders.values())
                progress.update(bar, advance=1, description=f"{task.workflow.id} ({fresh} new)")
    for made in recorders.values():
        made.close()
    for store in stores:
        if worker:
            store.close()
        else:
            store.seal()
    return sum(made.fresh for made in recorders.values())
