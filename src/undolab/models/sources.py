"""Which store and which backend a configured model has: one place that knows both kinds of model."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from undolab.model.errors import UndolabError
from undolab.models.backend import Backend
from undolab.models.budget import Budget, Purse
from undolab.models.config import ApiConfig, ModelConfig, find_model
from undolab.models.llama import LlamaBackend
from undolab.models.openai_http import OpenAIBackend
from undolab.models.replay import HttpReplayBackend, RecordingBackend, ReplayBackend
from undolab.models.store import HttpStore, RecordStore


class Recorder(Backend, Protocol):
    """A backend that records what its model answers."""

    @property
    def fresh(self) -> int:
        """Answers that the model gave, and no record."""
        ...

    def close(self) -> None:
        """Free the model, or close the connections to it."""
        ...


def open_store(config: ModelConfig | ApiConfig, path: Path, worker: str = "") -> RecordStore | HttpStore:
    """Return the store of a model's records; see `RecordStore`."""
    return HttpStore(path, worker) if isinstance(config, ApiConfig) else RecordStore(path, worker)


def unreadable(models: Mapping[str, ModelConfig | ApiConfig], folder: Path) -> list[str]:
    """Return one sentence for each record file below `<folder>/<model>/` that cannot be decoded, naming it."""
    problems = []
    for path in sorted(folder.glob("*/*.jsonl.zst")):
        try:
            model = find_model(models, path.parent.name)
            header = open_store(model, path).header
        except UndolabError as error:
            problems.append(str(error))
            continue
        if header is not None and header.model_digest != model.identity:
            problems.append(f"{path}: holds records of another model than {model.name}; restore the file.")
    return problems


def replay(store: RecordStore | HttpStore) -> ReplayBackend | HttpReplayBackend:
    """Return a backend that answers from a store alone."""
    return HttpReplayBackend(store) if isinstance(store, HttpStore) else ReplayBackend(store)


def recorder(
    config: ModelConfig | ApiConfig,
    store: RecordStore | HttpStore,
    root: Path,
    *,
    purse: Purse | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Recorder:
    """Return a backend that asks the model for what its store lacks, and records it.

    Raises:
        UndolabError: there is a limit in dollars but no price, or the key of a service is missing.
    """
    if isinstance(config, ApiConfig) and isinstance(store, HttpStore):
        return OpenAIBackend(config, store, budget=Budget(config.price, purse), notice=notice)
    if isinstance(config, ModelConfig) and isinstance(store, RecordStore):
        return RecordingBackend(store, LlamaBackend(config, root))
    raise TypeError("a store of another kind than the model")
