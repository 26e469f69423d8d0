"""What several subcommands need: the root, the configuration, the catalogue of tools, the tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from undolab.model.config import Config
from undolab.model.errors import UndolabError
from undolab.model.load import load_config, load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name for it
else:
    Commands = Any

CONFIG = Path("config/config.yaml")
MODELS = Path("config/models.yaml")
TOOLS = Path("data/tools")
WORKFLOWS = Path("data/workflows")
BUILD = Path("build")


def read_config() -> Config:
    """Return the study's configuration."""
    if not CONFIG.is_file():
        raise UndolabError(f"{CONFIG} is not here; run undolab from the root of the repository")
    return load_config(CONFIG)


def read_tools() -> dict[str, ToolSpec]:
    """Return the catalogue of tools."""
    return load_tools(TOOLS)


def read_workflow(name: str) -> Workflow:
    """Return one workflow by its id.

    Raises:
        UndolabError: there is none of this id; the ids there are, are named.
    """
    found = {workflow.id: workflow for workflow in load_workflows(WORKFLOWS)}
    if name not in found:
        raise UndolabError(f"no workflow {name!r} under {WORKFLOWS}; there are {', '.join(sorted(found))}")
    return found[name]
