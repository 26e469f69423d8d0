"""Where the agents of a study come from: recorded models, live models, or scripts."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from undolab.agents.base import Agent
from undolab.agents.chat import ChatAgent
from undolab.agents.direct import DirectAgent
from undolab.agents.grammar import build_grammar
from undolab.agents.messages import write_messages
from undolab.agents.prompt import Layout, write_prompt
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.errors import UndolabError
from undolab.model.wire import ArmId
from undolab.models.backend import Backend, ChatBackend
from undolab.models.config import ApiConfig, ModelConfig
from undolab.trials.arm import MakeAgent, Task

SCRIPTED = "scripted:"
"""Prefix of the model name of a scripted agent."""


RECORDS = Path("data/records")
"""The study's records, relative to the repository."""
FRAMEWORKS = ("F1", "F2")
"""Agent loops: the direct one, and LangGraph."""


def store_path(model: str, split: str) -> Path:
    """Return where the records of a model and split lie, relative to the repository."""
    return RECORDS / model / f"{split}.jsonl.zst"


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


def make_agents(
    models: Mapping[str, ModelConfig] | Mapping[str, ModelConfig | ApiConfig],
    backends: Mapping[str, Backend] | Mapping[str, ChatBackend],
) -> MakeAgent:
    """Return a maker of agents: `scripted:<policy>` by name, every other model through its backend.

    A service with native tools is asked by chat, every other model by the transcript. The maker raises `UndolabError` for a
    model that is not configured or a framework that is not known or not installed.
    """
    # What a LangGraph agent leaves when its process dies; an arm keeps its first agent to its end.
    savers: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def make(task: Task, arm: ArmId, resume: int = 0) -> Agent:
        if arm.model.startswith(SCRIPTED):
            policy = Policy(arm.model.removeprefix(SCRIPTED))
            return ScriptedAgent(task.workflow.plan, task.tools, policy)
        if arm.model not in models:
            raise UndolabError(
                f"no model {arm.model!r} in config/models.yaml; it has {', '.join(sorted(models))}"
            )
        backend: Any = backends[arm.model]
        config = models[arm.model]

        def ask(layout: Layout) -> Agent:
            if isinstance(config, ApiConfig) and config.protocol == "chat":
                return ChatAgent(backend, config, arm.seed, resume)
            return DirectAgent(backend, config, arm.seed, resume, layout)

        if arm.framework == "F1":
            return ask(write_prompt)
        if arm.framework == "F2":
            inner = ask(write_messages)
            agent: Any = _graph().GraphAgent(inner, savers.get(arm.name()) if resume else None)
            savers[arm.name()] = agent.saver
            graph: Agent = agent
            return graph
        raise UndolabError(f"no framework {arm.framework!r}; there are {', '.join(FRAMEWORKS)}")

    return make


def _graph() -> Any:
    try:
        from undolab.agents import graph
    except ImportError as error:
        raise UndolabError(
            f"framework F2 needs the package langgraph ({error}); install the extra: pip install 'undolab[study]'"
        ) from error
    return graph
