"""Where the agents of a study come from: recorded models, live models, or scripts."""

from collections.abc import Mapping
from pathlib import Path

from undolab.agents.base import Agent
from undolab.agents.direct import DirectAgent
from undolab.agents.scripted import Policy, ScriptedAgent
from undolab.model.errors import UndolabError
from undolab.model.wire import ArmId
from undolab.models.backend import Backend
from undolab.models.config import ModelConfig
from undolab.trials.arm import Task
from undolab.trials.run import MakeAgent

SCRIPTED = "scripted:"
"""Prefix of the model name of a scripted agent."""


def store_path(model: str, split: str) -> Path:
    """Return where the records of a model and split lie, relative to the repository."""
    return Path("data/records") / model / f"{split}.jsonl.zst"


def make_agents(models: Mapping[str, ModelConfig], backends: Mapping[str, Backend]) -> MakeAgent:
    """Return a maker of agents: `scripted:<policy>` by name, every other model through its backend.

    The maker raises `UndolabError` for a model that is not configured or a framework that is not known.
    """

    def make(task: Task, arm: ArmId) -> Agent:
        if arm.model.startswith(SCRIPTED):
            policy = Policy(arm.model.removeprefix(SCRIPTED))
            return ScriptedAgent(task.workflow.plan, task.tools, policy)
        if arm.model not in models:
            raise UndolabError(
                f"no model {arm.model!r} in config/models.yaml; it has {', '.join(sorted(models))}"
            )
        if arm.framework != "F1":
            raise UndolabError(f"no framework {arm.framework!r}; there is F1")
        return DirectAgent(backends[arm.model], models[arm.model], arm.seed)

    return make
