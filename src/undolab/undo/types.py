"""The words of the undo layer: rows, changes, receipts and decisions, shared by the pure kernel and by every store.

Rows are kept by *generation*, the incarnation of a name, so that a name used again can never be taken for the old one.
Every row names its *writer*: `a:` and an effect's id, `p:` and a peer event's id, or `o` for what was there at the opening.
The three cannot collide, whatever ids callers choose.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

OPENING = "o"


def agent(effect: str) -> str:
    """Return the writer of an agent's effect, from the effect's id."""
    return f"a:{effect}"


def peer(event: str) -> str:
    """Return the writer of a peer's event, from the event's id."""
    return f"p:{event}"


class Table(StrEnum):
    """The tables of rows; the key of each stands behind it."""

    NAME = "name"  # (name,) -> generation
    RESOURCE = "resource"  # (generation,) -> Resource
    HEAD = "head"  # (generation, field) -> writer of the value that shows
    VERSION = "version"  # (generation, field, writer) -> Version
    CREDIT = "credit"  # (generation, writer) -> int
    TAG = "tag"  # (generation, writer) -> member
    HOLD = "hold"  # (generation, writer) -> Hold


class Resource(NamedTuple):
    """One incarnation of a name.

    `rev` counts accepted writes; `edits` counts those still standing, so that a creation knows whether anybody builds on it.
    `balance` and `held` are the sums of the credits and of the holds, kept up to date. A tombstone has `alive` False.
    """

    name: str
    rev: int = 1
    edits: int = 0
    balance: int = 0
    floor: int = 0
    held: int = 0
    limit: int = 0
    alive: bool = True


class Version(NamedTuple):
    """One value of a field and the writer of the value before it ("" where there was none)."""

    value: str
    prev: str


class Hold(NamedTuple):
    """A reservation against the resource's limit; a settled one has been used and can no longer be given back."""

    amount: int
    settled: bool = False


class Put(NamedTuple):
    """One change: the row at `key` of `table` becomes `row`; None takes it away."""

    table: Table
    key: tuple[str, ...]
    row: Any


class View(Protocol):
    """What the kernel reads: single rows, and three small look-ups that a store answers from an index."""

    def named(self, name: str) -> str | None:
        """Return the generation that has the name now."""

    def resource(self, generation: str) -> Resource | None:
        """Return an incarnation, living or buried."""

    def head(self, generation: str, field: str) -> str | None:
        """Return the writer of the value that a field shows."""

    def version(self, generation: str, field: str, writer: str) -> Version | None:
        """Return what a writer wrote to a field."""

    def written(self, generation: str, writer: str) -> Sequence[str]:
        """Return the fields that hold a version of this writer."""

    def credit(self, generation: str, writer: str) -> int | None:
        """Return a writer's contribution to the balance."""

    def tag(self, generation: str, writer: str) -> str | None:
        """Return the member that a writer's grant names."""

    def tagged(self, generation: str, member: str) -> Sequence[str]:
        """Return the writers of every grant that names this member."""

    def hold(self, generation: str, writer: str) -> Hold | None:
        """Return a writer's reservation."""


class Effect(NamedTuple):
    """A change that somebody asks for: its kind in the registry, the resource's name, and the kind's own arguments."""

    kind: str
    name: str
    args: Mapping[str, Any]


class Receipt(NamedTuple):
    """What recovery needs to know of one effect, of the same size whatever the object's: no values, nobody else's data.

    `generation` is the incarnation it went to; `other` the second one of a transfer, else "".
    """

    id: str
    kind: str
    generation: str
    other: str = ""


class Outcome(StrEnum):
    """What became of a recovery."""

    COMPENSATED = "compensated"  # taken back now
    ALREADY_ABSENT = "already_absent"  # nothing of the effect is left
    SUPERSEDED = "superseded"  # a later write stands in its place; nothing was touched
    REFUSED = "refused"  # it stands, and may not or cannot be taken back


class Decision(NamedTuple):
    """The kernel's answer: an outcome, the reason for the audit ("" when compensated), and the changes to write."""

    outcome: Outcome
    reason: str = ""
    changes: tuple[Put, ...] = ()


class Rejected(Exception):  # noqa: N818 - it is an answer, not a fault
    """A forward effect that the rules do not allow; the argument is one word that names the rule."""


class Context(NamedTuple):
    """On whose behalf a request is made. It comes from the trusted host, never from a model's arguments."""

    tenant: str
    principal: str
    run: str
