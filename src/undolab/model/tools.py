"""What a tool is to an agent, to a recovery method and to the judge; read from `data/tools/*.yaml`."""

from enum import StrEnum
from typing import Any, Literal

import msgspec


class Op(StrEnum):
    """What a tool does to its entity."""

    READ = "READ"
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    EXECUTE = "EXECUTE"


class Reversibility(StrEnum):
    """What can be done about an effect once it stands."""

    REVERSIBLE = "REVERSIBLE"
    COMPENSATABLE = "COMPENSATABLE"
    IRREVERSIBLE = "IRREVERSIBLE"


class Observe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a public reader shows whether a write took effect.

    A value in `arguments`, `by` or `fields` that is just `{name}` stands for the write's argument of that name, with its
    type; `{name}` within a longer text is replaced by its text (`{service_name}-green`; `by: "-{amount}"` is a number again).
    """

    tool: str
    """The reader to call."""
    arguments: dict[str, Any]
    """Its arguments."""
    rule: Literal["set", "added", "exists", "gone", "listed"]
    """set: `fields` have the wanted values. added: numeric `field` rose by `by` since before the call.
    exists: the reader finds the thing, and `fields` match. gone: the reader answers code `not_found`.
    listed: the items under `field` whose values equal `fields` grew by one since before the call."""
    field: str = ""
    """Path in the reader's output, dots between levels."""
    by: Any = None
    """For `added`: the signed step, an integer."""
    fields: dict[str, Any] = {}
    """Wanted values: path in the output (or in an item, for `listed`) to value."""
    partial: dict[str, Any] = {}
    """For `listed`: values of an item that stands for half a call; where such items grew, the effect is neither there nor not."""


class Inverse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a public tool takes a committed write back.

    A value in `arguments` is a constant or one placeholder: `{name}` is the write's argument, `-{name}` its negative,
    `{output.name}` a member of the write's answer, `{before.name}` a member of what the observer's reader answered before the
    write. Without the answer, or without that read, there is no such call: see `undolab.model.observe.inverse_call`.
    """

    tool: str
    """The tool to call."""
    arguments: dict[str, Any]
    """Its arguments."""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool."""

    name: str
    domain: str
    description: str
    """What the agent is told. No word of recovery or of faults."""
    parameters: dict[str, Any]
    """JSON Schema (2020-12) of the arguments: an object, `additionalProperties: false`."""
    op: Op
    entity: str = ""
    """Pattern of the entity that a write changes first, or that a reader shows: `table/{argument}`, or `table/*` where the
    world chooses the id or a reader lists."""
    idempotency_key: bool = False
    """True where the service honours an Idempotency-Key (IETF draft-ietf-httpapi-idempotency-key-header)."""
    observe: Observe | None = None
    """None: no public reader shows the effect."""
    reversibility: Reversibility | None = None
    """None for readers."""
    inverse: Inverse | None = None
    """How the effect is taken back; None where no public tool can."""
    sub_writes: int = 1
    """How many separately committed writes the tool is made of; more than one: composite by nature."""

    @property
    def writes(self) -> bool:
        """True if the tool may change the world."""
        return self.op is not Op.READ
