"""The models of the study as data: where each file is, what its bytes are, and how it is run."""

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from undolab.model.canon import bytes_digest
from undolab.model.errors import UndolabError
from undolab.model.record import Sampling


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How llama.cpp is run; these settings can change a completion, so they stand beside each record."""

    context: int
    """Tokens of prompt and answer together."""
    batch: int
    """Tokens evaluated at once; also the grain at which an evaluated prefix is reused."""
    threads: int


class PromptConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent writes the transcript."""

    examples: Literal["plain"] = "plain"
    """Variant of the worked examples; `plain` holds no failure."""
    output_chars: int = 400
    """A longer reply is cut to this many characters."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `config/models.yaml`."""

    name: str
    file: str
    """The model file, relative to the repository."""
    digest: str
    """SHA-256 of the file."""
    engine: EngineConfig
    sampling: Sampling
    """Its `seed` is set anew for each call."""
    prompt: PromptConfig


def load_models(path: Path) -> dict[str, ModelConfig]:
    """Return the models described in a YAML file, by name.

    Raises:
        UndolabError: the file is missing, is not YAML, or an entry has a wrong or unknown field.
    """
    try:
        raw: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UndolabError(
            f"{path}: cannot be read ({error.strerror}); restore it from the repository."
        ) from error
    except yaml.YAMLError as error:
        raise UndolabError(
            f"{path}: is not valid YAML ({' '.join(str(error).split())}); mend that line."
        ) from error
    if not isinstance(raw, dict) or not raw:
        raise UndolabError(f"{path}: must map each model's name to its settings; add at least one entry.")
    models = {}
    for name, entry in raw.items():
        if not isinstance(entry, dict):
            raise UndolabError(f"{path}: /{name} must be a mapping of settings.")
        try:
            models[str(name)] = msgspec.convert({**entry, "name": str(name)}, ModelConfig)
        except msgspec.ValidationError as error:
            raise UndolabError(
                f"{path}: /{name} is not a model entry ({error}); see config/README.md."
            ) from error
    return models


def find_model_file(config: ModelConfig, root: Path) -> Path:
    """Return the path of the model's file after checking its bytes.

    Raises:
        UndolabError: the file is missing or its SHA-256 is another.
    """
    path = root / config.file
    if not path.is_file():
        raise UndolabError(
            f"{config.file}: the model file of {config.name} is missing; `make live` installs it."
        )
    found = bytes_digest(path.read_bytes())
    if found != config.digest:
        raise UndolabError(
            f"{config.file}: SHA-256 is {found}, but config/models.yaml says {config.digest}; "
            "delete the file and run `make live`."
        )
    return path
