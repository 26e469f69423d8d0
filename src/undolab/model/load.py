"""Reads tools and workflows from YAML, and names every problem of a bad file at once.

YAML is read as its 1.2 core schema reads it: `on`, `yes` and `2026-01-01` are strings. Repeated keys, keys that are not
text, and anchors are refused, so that what a person sees in the file is what the program gets.
"""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from undolab.model.config import Config
from undolab.model.errors import UndolabError
from undolab.model.schema import pointer, problems
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow

_TOOL_SCHEMA = msgspec.json.schema(ToolSpec)
_CONFIG_SCHEMA = msgspec.json.schema(Config)
_WORKFLOW_SCHEMA = msgspec.json.schema(Workflow)
_FROM_PLACE = ("name", "domain")
"""Tool fields that are not written: the key and the file's name say them."""


class _Loader(yaml.SafeLoader):
    """A safe loader with YAML 1.2's scalars."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (the base class has it so)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse anchors and aliases, which YAML readers expand in different ways."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Build a mapping whose keys are text and stand once."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node)
            if not isinstance(key, str):
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} is not text", problem_mark=key_node.start_mark
                )
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float:
    # YAML 1.1's own constructor would read `1e3` and leading zeros in its old ways.
    return float(str(loader.construct_scalar(node)))


_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)


def read_yaml(path: Path) -> Any:
    """Return the data of one YAML file.

    Raises:
        UndolabError: the file is missing, is not UTF-8, is not YAML, or has a repeated key; with line and column.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  (a SafeLoader)
    except OSError as error:
        raise UndolabError(
            f"{path}: cannot be read ({error.strerror}); restore the file from the repository."
        ) from error
    except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
        reason = str(error).splitlines()[0]
        raise UndolabError(f"{path}: is not plain UTF-8 text ({reason}); save it as UTF-8.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UndolabError(
            f"{path}{where}: {error.problem or error.context}; mend the YAML there."
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UndolabError(f"{path}: is not readable YAML ({reason}); mend the file.") from error


def load_tools(directory: Path) -> dict[str, ToolSpec]:
    """Return every tool of `directory/<domain>.yaml` by name.

    Raises:
        UndolabError: files are missing or bad; the message has a line for each problem.
    """
    tools: dict[str, ToolSpec] = {}
    lines: list[str] = []
    files = sorted(directory.glob("*.yaml"))
    if not files:
        raise UndolabError(f"{directory}: holds no tool files (*.yaml); give the folder that has them.")
    for path in files:
        data = read_yaml(path)
        if not isinstance(data, dict):
            lines.append(f"{path} : must be a mapping from tool name to tool")
            continue
        for name, fields in data.items():
            found = _tool_problems(name, fields, path.stem, tools)
            lines += [f"{path} {at}: {text}" for at, text in found]
            if not found:
                tools[name] = msgspec.convert({**fields, "name": name, "domain": path.stem}, ToolSpec)
    _refuse(lines)
    return tools


def _tool_problems(name: str, fields: Any, domain: str, known: dict[str, ToolSpec]) -> list[tuple[str, str]]:
    here = pointer("", name)
    if not isinstance(fields, dict):
        return [(here, "must be a mapping")]
    found = [
        (pointer(here, key), "is not written here: the key and the file name say it")
        for key in _FROM_PLACE
        if key in fields
    ]
    if name in known:
        found.append((here, f"stands in {known[name].domain}.yaml already"))
    return found + problems(_TOOL_SCHEMA, {**fields, "name": name, "domain": domain}, here)


def load_config(path: Path) -> Config:
    """Return the study's configuration.

    Raises:
        UndolabError: the file is bad; the message has a line for each problem.
    """
    data = read_yaml(path)
    _refuse([f"{path} {at}: {text}" for at, text in problems(_CONFIG_SCHEMA, data)])
    try:
        return msgspec.convert(data, Config)
    except msgspec.ValidationError as error:
        raise UndolabError(f"{path}: {error}; mend that key") from error


def load_workflow(path: Path) -> Workflow:
    """Return the workflow of one file; its name must be the workflow's id.

    Raises:
        UndolabError: the file is bad; the message has a line for each problem.
    """
    data = read_yaml(path)
    found = problems(_WORKFLOW_SCHEMA, data)
    if isinstance(data, dict):
        for key, wanted in (("id", path.stem), ("split", path.parent.name)):
            if isinstance(data.get(key), str) and data[key] != wanted:
                found.append((f"/{key}", f"is {data[key]}, but the file's place says {wanted}"))
    _refuse([f"{path} {at}: {text}" for at, text in found])
    return msgspec.convert(data, Workflow)


def load_workflows(directory: Path, split: str | None = None) -> list[Workflow]:
    """Return the workflows of `directory/<split>/*.yaml`, of one split or of all, sorted by id.

    Raises:
        UndolabError: there are none, or files are bad; the message has a line for each problem of every file.
    """
    workflows: list[Workflow] = []
    lines: list[str] = []
    for path in sorted(directory.glob(f"{split or '*'}/*.yaml")):
        try:
            workflows.append(load_workflow(path))
        except UndolabError as error:
            lines += str(error).splitlines()
    _refuse(lines)
    if not workflows:
        raise UndolabError(
            f"{directory / (split or '*')}: holds no workflows; give the folder that has them."
        )
    return sorted(workflows, key=lambda workflow: workflow.id)


def _refuse(lines: list[str]) -> None:
    if lines:
        raise UndolabError("\n".join(lines))
