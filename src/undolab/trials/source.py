"""Where the agents of a study come from: recorded models, live models, or scripts."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from msgspec.structs import replace

from undolab.agents.base import Agent
from undolab.agents.chat import ChatAgent
from undolab.agents.direct import DirectAgent
from undolab.agents.examples import VARIANTS
from undolab.agents.grammar import build_grammar
from undolab.agents.messages import write_messages
from undolab.agents.prompt import Layout, write_prompt
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.errors import UndolabError
from undolab.model.record import ChatRequest, CompletionRequest
from undolab.model.wire import ArmId
from undolab.models.backend import Backend, ChatBackend
from undolab.models.config import ApiConfig, ModelConfig
from undolab.trials.arm import MakeAgent, Task
from undolab.trials.memory import Place, Remembering

SCRIPTED = "scripted:"
"""Prefix of the model name of a scripted agent."""


RECORDS = Path("data/records")
"""The study's records, relative to the repository."""
FRAMEWORKS: Mapping[str, Layout] = {"F1": write_prompt, "F2": write_messages}
"""Agent loops with their prompt layouts: the direct one, and LangGraph."""


def store_path(model: str, split: str) -> Path:
    """Return where the records of a model and split lie, relative to the repository."""
    return RECORDS / model / f"{split}.jsonl.zst"


def require_own_file(pilot: Path) -> None:
    """Refuse a place for pilot records that is not a record file of its own.

    Raises:
        UndolabError: it has another ending, or lies among the study's records.
    """
    if not pilot.name.endswith(".jsonl.zst"):
        raise UndolabError(f"{pilot} must end in .jsonl.zst")
    if pilot.resolve().is_relative_to(RECORDS.resolve()):
        raise UndolabError(f"{pilot} is among the study's records; name a file outside {RECORDS}")


def require_grammar(tasks: Iterable[Task]) -> None:
    """Refuse tools that llama.cpp's grammars cannot take, before any model is loaded or asked.

    Raises:
        UndolabError: names workflow, tool and property.
    """
    for task in tasks:
        try:
            build_grammar(task.view.tools)
        except UndolabError as error:
            raise UndolabError(f"{task.workflow.id}: {error}") from error


def with_examples(model: ModelConfig | ApiConfig, variant: str) -> ModelConfig | ApiConfig:
    """Return the model with a study's variant of the worked examples.

    Raises:
        UndolabError: there is no such variant.
    """
    if variant not in VARIANTS:
        raise UndolabError(f"no worked examples {variant!r}; there are {', '.join(sorted(VARIANTS))}")
    return replace(model, prompt=replace(model.prompt, examples=variant))


def make_agents(
    models: Mapping[str, ModelConfig] | Mapping[str, ModelConfig | ApiConfig],
    backends: Mapping[str, Backend] | Mapping[str, ChatBackend],
) -> MakeAgent:
    """Return a maker of agents: `scripted:<policy>` by name, every other model through its backend.

    Agents of one trial share what they decide (`undolab.trials.memory`). A service with native tools is asked by chat, every
    other model by the transcript. The maker raises `UndolabError` for a model that is not configured or a framework that is
    not known or not installed.
    """
    memory: dict[tuple[object, ...], dict[int, Place]] = {}
    # The agents of the arm that runs, so that its next life finds what the last has left.
    alive: WeakValueDictionary[str, Remembering] = WeakValueDictionary()

    def make(task: Task, arm: ArmId, resume: int = 0) -> Agent:
        if arm.model.startswith(SCRIPTED):
            policy = Policy(arm.model.removeprefix(SCRIPTED))
            return ScriptedAgent(task.workflow.plan, task.tools, policy)
        if arm.model not in models:
            raise UndolabError(
                f"no model {arm.model!r} in config/models.yaml; it has {', '.join(sorted(models))}"
            )
        if arm.framework not in FRAMEWORKS:
            raise UndolabError(f"no framework {arm.framework!r}; there are {', '.join(FRAMEWORKS)}")
        config = with_examples(models[arm.model], task.examples)
        ask = partial(_ask, backends[arm.model], config, arm, resume)
        trial = (task.workflow.id, task.prompt, task.examples, arm.model, arm.framework, arm.seed)
        if trial not in memory:
            memory.clear()
        starts = memory.setdefault(trial, {})
        if arm.framework == "F2":
            before = alive.get(arm.name()) if resume else None
            agent = _graph_agent(ask, resume, starts, before)
        else:
            agent = Remembering(starts.setdefault(resume, Place()), lambda _: ask(), lambda _: None)
        alive[arm.name()] = agent
        return agent

    return make


def _graph_agent(
    ask: Callable[[], Agent], resume: int, starts: dict[int, Place], before: Remembering | None
) -> Remembering:
    """Return a LangGraph agent; what it says after a death also depends on where that was, by the checkpoints left there."""
    graph = _graph()

    def wake(kept: Any) -> Agent:
        agent: Agent = graph.GraphAgent(ask(), graph.copy_checkpoints(kept) if kept else None)
        return agent

    def keep(agent: Any) -> Any:
        return agent.checkpoints()

    if before is None:
        return Remembering(starts.setdefault(resume, Place()), wake, keep)
    died = before.last
    return Remembering(died.lives.setdefault(resume, Place()), wake, keep, died.kept)


def first_request(model: ModelConfig | ApiConfig, task: Task, arm: ArmId) -> CompletionRequest | ChatRequest:
    """Return what a model is asked first in an arm, whole."""
    return _ask(None, with_examples(model, task.examples), arm, 0).request(task.view, [])


def _ask(backend: Any, config: ModelConfig | ApiConfig, arm: ArmId, resume: int) -> ChatAgent | DirectAgent:
    if isinstance(config, ApiConfig) and config.protocol == "chat":
        return ChatAgent(backend, config, arm.seed, resume)
    return DirectAgent(backend, config, arm.seed, resume, FRAMEWORKS[arm.framework])


def _graph() -> Any:
    try:
        from undolab.agents import graph
    except ImportError as error:
        raise UndolabError(
            f"framework F2 needs the package langgraph ({error}); install the extra: pip install 'undolab[study]'"
        ) from error
    return graph
