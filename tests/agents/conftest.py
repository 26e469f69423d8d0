"""A small task and a backend that says what a test tells it to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from undolab.agents.base import Exchange, PublicTool, TaskView, Turn
from undolab.model.calls import Reply
from undolab.model.record import Completion, CompletionRequest
from undolab.model.workflow import Step
from undolab.models.config import ModelConfig, load_models

ROOT = Path(__file__).parents[2]


def tool(
    name: str, properties: dict[str, Any], required: list[str] | None = None, reads: bool = False
) -> PublicTool:
    parameters = {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    return PublicTool(name=name, description="", parameters=parameters, reads=reads)


VIEW = TaskView(
    objective="Set the\nlevel of box b1.",
    steps=[Step(say="Set it.", tool="set_level", arguments={"level": 4, "box": "b1"})],
    tools=[
        tool("get_box", {"box": {"type": "string"}}, reads=True),
        tool("set_level", {"box": {"type": "string"}, "level": {"type": "integer"}}),
    ],
    max_turns=12,
)


class FakeBackend:
    """Says the given lines, one a request, and keeps the requests."""

    def __init__(self, *lines: str, reason: str = "stop") -> None:
        self._lines = list(lines)
        self._reason = reason
        self.asked: list[tuple[CompletionRequest, int]] = []

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.asked.append((request, ordinal))
        text = self._lines[min(len(self.asked), len(self._lines)) - 1]
        return Completion(text=text, finish_reason=self._reason, tokens=[], logprobs=[], prompt_tokens=1)


@pytest.fixture(scope="session")
def model() -> ModelConfig:
    return load_models(ROOT / "config" / "models.yaml")["gemma3-270m"]


@pytest.fixture(scope="session")
def view() -> TaskView:
    return VIEW


@pytest.fixture
def fake() -> type[FakeBackend]:
    return FakeBackend


@pytest.fixture
def make_tool() -> Callable[..., PublicTool]:
    return tool


@pytest.fixture
def exchange() -> Callable[[str, Reply], Exchange]:
    def make(said: str, reply: Reply) -> Exchange:
        return Exchange(turn=Turn(said=said), replies=[reply])

    return make
