"""Recording a study: replay what is recorded, ask the model for the rest, store each answer before using it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
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
from undolab.models.budget import Purse
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.models.sources import Recorder, open_store, recorder
from undolab.trials.arm import Task
from undolab.trials.infra import InfraArms
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


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of `record` brought."""

    fresh: int
    """Completions that were made."""
    infra_errors: list[str]
    """Arms that have no verdict, because a service gave no answer."""
    usd: float
    """What the fresh completions cost, as far as prices are known."""


def record(
    tasks: Sequence[Task],
    study: Study,
    models: Mapping[str, ModelConfig | ApiConfig],
    split: Split,
    root: Path,
    worker: str = "",
    *,
    pilot: Path | None = None,
    max_usd: float | None = None,
) -> Recording:
    """Record every missing completion of a study.

    Each answer is on the disk before the trial goes on, so a killed run goes on from there when it is called again. Without
    a `worker` the stores are sealed at the end; a worker leaves that to the last call.

    Args:
        tasks: the workflows made ready.
        study: the matrix.
        models: every configured model.
        split: of the tasks.
        root: the repository.
        worker: name of this process among several that record at a time.
        pilot: record into this file instead of the study's; the study must have one model.
        max_usd: what may be spent; a run that would pass it stops before the call.

    Raises:
        BudgetError: the next call could pass the limit.
        InfraError: a service answers nothing any more.
    """
    console = Console(stderr=True)
    recorders: dict[str, Recorder] = {}
    stores: list[RecordStore | HttpStore] = []
    purse = Purse(max_usd)
    with ExitStack() as stack:
        for name in study.models:
            model = find_model(models, name)
            store = open_store(model, pilot or root / store_path(name, split), worker)
            stack.callback(store.close)
            stores.append(store)
            recorders[name] = recorder(model, store, root, purse=purse, notice=console.print)
            stack.callback(recorders[name].close)
        make = make_agents(models, recorders)
        arms = sum(arms_per_trial(study, task.workflow, task.catalogue) for task in tasks)
        arms *= len(study.models) * len(study.frameworks) * len(study.seeds)
        for notice in (notice for store in stores for notice in store.notices):
            console.print(notice, highlight=False)
        with Progress(*_COLUMNS, console=console) as progress:
            bar = progress.add_task("", total=arms)

            def fresh() -> int:
                return sum(made.fresh for made in recorders.values())

            failed = InfraArms(fresh, console.print)
            for task in tasks:
                for _ in run_workflow(task, study, make, failed):
                    progress.update(bar, advance=1, description=f"{task.workflow.id} ({fresh()} new)")
        if not worker:
            for store in stores:
                # A store that holds nothing says by an error that nothing was recorded; a dead service has said so already.
                if store.header is not None or not failed.names:
                    store.seal()
    return Recording(fresh=fresh(), infra_errors=failed.names, usd=purse.spent)
