"""The models of the study as data: where each file is, what its bytes are, and how it is run."""

import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.load import read_yaml
from undolab.model.record import Sampling

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_LONGEST = 86_400.0
"""Seconds of an attempt."""
_MOST_ATTEMPTS = 100


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How llama.cpp is run. Only `context` can change a completion; all of it stands beside each record."""

    context: int = 4096
    """Tokens of prompt and answer together."""
    batch: int = 64
    """Tokens evaluated at once: a matter of speed."""
    threads: int = 1


class PromptConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent writes the transcript."""

    examples: str = "plain"
    """Variant of the worked examples. A study says which, never a model's entry, so that one model runs under several."""
    output_chars: int = 400
    """A longer reply is cut to this many characters."""


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of `config/models.yaml`."""

    name: str
    file: str
    """The model file, relative to the repository."""
    digest: str
    """SHA-256 of the file."""
    engine: EngineConfig = EngineConfig()
    sampling: Sampling = Sampling()
    """Its `seed` is set anew for each call."""
    prompt: PromptConfig = PromptConfig()

    @property
    def identity(self) -> str:
        """What names the model in each request's key."""
        return self.digest


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars for a million tokens."""

    prompt: float
    completion: float


class ApiConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of `config/models.yaml` with a `url`: a model behind an OpenAI-compatible service."""

    name: str
    url: str
    """Base URL, such as `http://127.0.0.1:8000/v1`; it is in no record."""
    model: str
    """The model's name at the service."""
    key: str = ""
    """Environment variable that holds the API key; the key itself is in no file. Empty: none is needed."""
    file: str = ""
    """The model file behind the service, relative to the repository, where it is ours to know."""
    digest: str = ""
    """SHA-256 of that file, where it is known; else the model is named by its name at the service."""
    served_by: dict[str, str | int] = {}
    """What is known of the server: its version and settings, as they go into the header of the records."""
    protocol: Literal["chat", "completions"] = "chat"
    """`chat` with native tools, or plain `completions` of the transcript prompt."""
    stream: bool = False
    accepts: list[Literal["grammar", "top_k", "min_p", "repeat_penalty"]] = []
    """Fields beyond OpenAI's own that the service takes."""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the service calls the longest answer."""
    timeout: float = 120.0
    """Seconds of one HTTP attempt."""
    attempts: int = 4
    """HTTP attempts for one answer."""
    price: Price | None = None
    not_run: str = ""
    """Why no record of this model is released here; empty if there are some."""
    sampling: Sampling = Sampling()
    """Its `seed` is set anew for each call."""
    prompt: PromptConfig = PromptConfig()

    @property
    def identity(self) -> str:
        """What names the model in each request's key."""
        return self.digest or f"api:{self.model}"


class Settings(Protocol):
    """What an agent needs to know of a model, wherever it runs."""

    @property
    def identity(self) -> str:
        """What names the model in each request's key."""
        ...

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        ...

    @property
    def prompt(self) -> PromptConfig:
        """How the agent writes."""
        ...


def load_models(path: Path) -> dict[str, ModelConfig]:
    """Return the models of a YAML file that run in this process, by name.

    Raises:
        UndolabError: the file is missing, is not YAML, or an entry has a wrong or unknown field.
    """
    return {name: model for name, model in load_all(path).items() if isinstance(model, ModelConfig)}


def load_all(path: Path) -> dict[str, ModelConfig | ApiConfig]:
    """Return every model of a YAML file, by name: those with a `url` are services.

    Raises:
        UndolabError: the file is missing, is not YAML, or an entry has a wrong or unknown field.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict) or not raw:
        raise UndolabError(f"{path}: must map each model's name to its settings; add at least one entry.")
    models: dict[str, ModelConfig | ApiConfig] = {}
    for name, entry in raw.items():
        if not re.fullmatch(_NAME, name):
            raise UndolabError(
                f"{path}: /{name} is no name for a model here: letters, digits, `.`, `_` and `-`; what the service calls it "
                "goes into `model`."
            )
        if not isinstance(entry, dict):
            raise UndolabError(f"{path}: /{name} must be a mapping of settings.")
        prompt = entry.get("prompt")
        if isinstance(prompt, dict) and "examples" in prompt:
            raise UndolabError(
                f"{path}: /{name}/prompt/examples belongs to a study; remove it here and set `examples` in config/config.yaml."
            )
        try:
            kind: Any = ApiConfig if "url" in entry else ModelConfig
            model = msgspec.convert({**entry, "name": name}, kind)
        except msgspec.ValidationError as error:
            raise UndolabError(
                f"{path}: /{name} is not a model entry ({error}); see config/README.md."
            ) from error
        fault = _settings_fault(model) or (_service_fault(model) if isinstance(model, ApiConfig) else "")
        if fault:
            raise UndolabError(f"{path}: /{name}/{fault}; see config/README.md.")
        models[name] = model
    return models


def find_model(
    models: Mapping[str, ModelConfig | ApiConfig], name: str, path: str = "config/models.yaml"
) -> ModelConfig | ApiConfig:
    """Return a model by its name.

    Raises:
        UndolabError: there is none; those there are, are named.
    """
    if name not in models:
        raise UndolabError(f"no model {name!r} in {path}; it has {', '.join(sorted(models))}")
    return models[name]


def _settings_fault(model: ModelConfig | ApiConfig) -> str:
    """Return which number no model can be run with, after a JSON pointer's last part, or nothing."""
    sampling = model.sampling
    numbers = {
        "sampling/temperature": 0 <= sampling.temperature < math.inf,
        "sampling/top_p": 0 < sampling.top_p <= 1,
        "sampling/top_k": sampling.top_k >= 0,
        "sampling/min_p": 0 <= sampling.min_p <= 1,
        "sampling/repeat_penalty": 0 < sampling.repeat_penalty < math.inf,
        "sampling/max_tokens": sampling.max_tokens >= 1,
        "prompt/output_chars": model.prompt.output_chars >= 1,
    }
    if isinstance(model, ApiConfig):
        numbers |= {
            "timeout": 0 < model.timeout <= _LONGEST,
            "attempts": 1 <= model.attempts <= _MOST_ATTEMPTS,
        }
        if model.price is not None:
            numbers |= {
                f"price/{name}": 0 <= getattr(model.price, name) < math.inf
                for name in ("prompt", "completion")
            }
    else:
        numbers |= {
            f"engine/{name}": getattr(model.engine, name) >= 1 for name in ("context", "batch", "threads")
        }
    return next((f"{name} is out of range" for name, fine in numbers.items() if not fine), "")


def _service_fault(model: ApiConfig) -> str:
    """Return what is wrong with a service's entry, after a JSON pointer's last part, or nothing."""
    try:
        address = urlsplit(model.url)
        (address.hostname or "").encode("idna")
        plain = model.url.isascii() and model.url.isprintable() and " " not in model.url and address.port != 0
        good = plain and address.scheme in {"http", "https"} and bool(address.hostname)
        secret = bool(address.username or address.password or address.query or address.fragment)
    except ValueError:
        good, secret = False, False
    if not good:
        return "url must be an http or https address"
    if secret:
        return "url must hold no name, password or query; name the variable of the key in `key`"
    if model.key and not re.fullmatch("[A-Z][A-Z0-9_]*", model.key):
        return "key must be the name of an environment variable, never the key itself"
    if not model.model:
        return "model must be the model's name at the service"
    for name, off in (("top_k", 0), ("min_p", 0.0), ("repeat_penalty", 1.0)):
        if getattr(model.sampling, name) != off and name not in model.accepts:
            return f"sampling/{name} is set, but `accepts` does not name it"
    if model.protocol == "completions" and "grammar" not in model.accepts:
        return "protocol completions needs a service that takes a grammar: put `grammar` into `accepts`, or use chat"
    return ""


def find_model_file(config: ModelConfig, root: Path) -> Path:
    """Return the path of the model's file after checking its bytes.

    Raises:
        UndolabError: the file is missing or its SHA-256 is another.
    """
    path = root / config.file
    if not path.is_file():
        raise UndolabError(
            f"{config.file}: the model file of {config.name} is missing; mend `file`, or put it there (the default model: "
            "`make live`)."
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != config.digest:
        raise UndolabError(
            f"{config.file}: SHA-256 is {found}, but the entry {config.name} says {config.digest}; mend the entry, or fetch the "
            "file again (the default model: delete it, then `make live`)."
        )
    return path
