"""Worlds for tests: every tool of the repository, and a fixture with a few rows in each domain."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from undolab.model.load import load_tools
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Row
from undolab.world import World

_ROOT = Path(__file__).parents[2]

FIXTURE: dict[str, list[Row]] = {
    "accounts": [
        {"account_id": "acc_1", "name": "Ann", "balance": 100, "status": "ACTIVE"},
        {"account_id": "acc_2", "name": "Bo", "balance": 5, "status": "ACTIVE"},
    ],
    "schemas": [{"schema": "billing", "version": 1}],
    "subscriptions": [
        {"sub_id": "sub_1", "customer": "Ann", "plan_id": "annual", "paid_periods": 1, "status": "DUE"}
    ],
    "treasury": [{"currency": "USD", "balance_cents": 1000}],
    "incidents": [
        {
            "incident_id": "INC-1",
            "title": "Login fails",
            "severity": "SEV2",
            "status": "OPEN",
            "sla_tier": "STANDARD",
            "team": "web",
        }
    ],
    "services": [{"service_name": "api", "version": "v1", "color": "blue", "replicas": 3}],
    "routes": [{"service_name": "api", "active_color": "blue"}],
    "crm_accounts": [{"account_id": "cust_1", "name": "Elm", "status": "ACTIVE", "sla_tier": "STANDARD"}],
    "oncall": [{"service": "payments", "engineer": "Kim"}],
    "buckets": [
        {"bucket_name": "east", "access": "private"},
        {"bucket_name": "west", "access": "private"},
    ],
    "objects": [{"bucket_name": "east", "key": "data/a.txt", "content": "hällo"}],
    "git_commits": [
        {"branch": "main", "message": "start", "files": {"app": "1\n", "doc": "a\n"}},
        {"branch": "release", "from": "main", "message": "release 2", "files": {"VERSION": "2\n"}},
        {"branch": "main", "message": "fix", "files": {"app": "2\n"}},
        {"branch": "stable", "from": "main"},
        {"branch": "stable", "message": "own way", "files": {"app": "3\n"}},
    ],
}


@pytest.fixture(scope="session")
def rows() -> dict[str, list[Row]]:
    """The fixture of these worlds."""
    return FIXTURE


@pytest.fixture(scope="session")
def tools() -> dict[str, ToolSpec]:
    """Every tool of `data/tools`."""
    return load_tools(_ROOT / "data" / "tools")


@pytest.fixture
def new_world(tools: dict[str, ToolSpec]) -> Iterator[Callable[..., World]]:
    """Make worlds that are closed after the test; `fixture` and `tools` may be given."""
    made: list[World] = []

    def make(seed: int = 7, **changed: Any) -> World:
        made.append(World(changed.pop("fixture", FIXTURE), changed.pop("tools", tools), seed=seed, **changed))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(new_world: Callable[..., World]) -> World:
    """A fresh world."""
    return new_world()
