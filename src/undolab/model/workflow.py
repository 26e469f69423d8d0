"""A workflow: a task as data, with its fixture, its plan, what must hold at the end, and where faults aim."""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from undolab.model.tools import Reversibility

Row: TypeAlias = dict[str, Any]
"""One row of the world: column to JSON value."""
State: TypeAlias = dict[str, dict[str, Row]]
"""The world as data: table to row id to row; what a snapshot returns and predicates read."""


class Split(StrEnum):
    """Where a workflow may be used."""

    DEV = "dev"
    VALIDATION = "validation"
    TEST = "test"


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of the plan; the runbook shows `say` and the call."""

    say: str
    tool: str
    arguments: dict[str, Any]


class RequiredEffect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An effect that must be committed, matched by tool, entity and argument values."""

    id: str
    tool: str
    entity: str
    """Entity id, `*` matches within it (fnmatch)."""
    arguments: dict[str, Any] = {}
    """Argument values that must be equal; a string that parses as JSON object or array is compared parsed."""
    min: int = 1
    max: int = 1


class ForbiddenEffect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An effect that must never be committed."""

    tool: str
    entity: str = "*"
    reason: str


class Predicate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that must hold in the final state: of one column, of one row, or of a number of rows."""

    say: str
    """The predicate in words, for reports."""
    table: str
    row: str | None = None
    """Row id; None: the predicate counts rows."""
    column: str | None = None
    check: Literal["equals", "json_equals", "absent", "present", "count"]
    """equals: the column has `value`. json_equals: the column's text parses to `value`. absent, present: the row is not
    there, is there. count: the number of rows that match `where` is `value`."""
    value: Any = None
    where: dict[str, Any] = {}


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a fault aims: the nth call of `tool` whose arguments hold `match`."""

    id: str
    tool: str
    match: dict[str, Any] = {}
    nth: int = 1
    effect: str
    """Id of the required effect that the target call makes."""


class Workflow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task of the benchmark."""

    id: str
    version: int
    name: str
    domain: str
    split: Split
    complexity: Literal["C1", "C2", "C3", "C4"]
    reversibility: Reversibility
    objective: str
    tools: list[str]
    """Every tool the agent may call: those of the plan, readers, and at least one distractor."""
    fixture: dict[str, list[Row]]
    """Initial rows of each table. Git is the table `git_commits`: see `docs/reference/workflows.md`."""
    plan: list[Step]
    """The gold plan; also the runbook."""
    effects: list[RequiredEffect]
    forbidden: list[ForbiddenEffect] = []
    order: list[tuple[str, str]] = []
    """Pairs of effect ids: the first must be committed before the second."""
    goal: list[Predicate]
    scenarios: list[Scenario]
    max_turns: int = 12
