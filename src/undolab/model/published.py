"""JSON Schemas of everything that is written to disk, made from the types so that the two cannot drift apart."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from undolab.model.calls import LedgerRow
from undolab.model.config import Config
from undolab.model.record import Record, StoreHeader
from undolab.model.tools import ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import WireLine
from undolab.model.workflow import Workflow

TYPES: Mapping[str, Any] = MappingProxyType(
    {
        "config": Config,
        "ledger-row": LedgerRow,
        "record": Record,
        "store-header": StoreHeader,
        "tool": ToolSpec,
        "verdict": Verdict,
        "wire-line": WireLine,
        "workflow": Workflow,
    }
)
"""Name of the schema to the type it describes."""


def schema_text(name: str) -> str:
    """Return one schema (JSON Schema 2020-12) as text."""
    return type_schema(TYPES[name])


def type_schema(kind: Any) -> str:
    """Return the schema of a type as text."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(kind)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
