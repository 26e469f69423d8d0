"""The store as an MCP server: an agent may take back its own run's effects, and nothing else is within its reach.

Whose run it is, the host says when it starts the server; no argument of a tool can say otherwise. The SDK runs each
tool in a worker thread, so that a wait for the database's lock never stops the server, and the store itself is safe for threads.
"""

from collections.abc import Callable
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from undolab.undo.authority import checked_context
from undolab.undo.shell import Listed
from undolab.undo.store import Answer, Store
from undolab.undo.types import Context

_ReceiptId = Annotated[str, Field(description="The id of the receipt, as list_effects gives it.")]
_OutcomeName = Literal["compensated", "already_absent", "superseded", "refused"]
_READ = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_UNDO_ONE = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
# Asked again it may take back what was refused before, or what the run has done since.
_UNDO_RUN = _UNDO_ONE.model_copy(update={"idempotent_hint": False})


class Recovery(BaseModel):
    """What became of one effect. A refusal gives no reason; the operator finds it in the audit."""

    receipt_id: str
    outcome: _OutcomeName
    repeated: bool


class EffectLine(BaseModel):
    """One effect of the run: `live`, or what its recovery came to."""

    receipt_id: str
    kind: str
    resource: str
    state: Literal["live", "compensated", "already_absent"]


class EffectList(BaseModel):
    """The newest effects of the run, newest first; `more` says that older ones were left off."""

    effects: list[EffectLine]
    more: bool


class RunLine(BaseModel):
    """What the recovery of a run did with one effect."""

    receipt_id: str
    kind: str
    resource: str
    outcome: _OutcomeName


class RunRecovery(BaseModel):
    """Every effect that was live, in the order tried, and the receipts of those that still stand."""

    dry_run: bool
    effects: list[RunLine]
    stands: list[str]


def serve(store: Store, context: Context) -> None:
    """Answer one client over stdin and stdout until it goes away."""
    server(store, context).run("stdio")


def server(store: Store, context: Context) -> MCPServer:
    """Return the server for one store and one context, which it keeps for life."""
    checked_context(context)

    def recover_effect(receipt_id: _ReceiptId) -> Recovery:
        """Take back one effect of this run, and nothing that anybody else did."""
        return _recovery(receipt_id, store.recover(context, receipt_id))

    def preview_recovery(receipt_id: _ReceiptId) -> Recovery:
        """Say what recover_effect would answer now; changes nothing."""
        return _recovery(receipt_id, store.preview(context, receipt_id))

    def recover_run(
        dry_run: Annotated[bool, Field(description="True: only say what would happen.")] = False,
    ) -> RunRecovery:
        """Take back every live effect of this run in one step, newest first, and list what still stands."""
        report = store.recover_run(context, dry_run=dry_run)
        return RunRecovery.model_validate(
            {
                "dry_run": report.dry_run,
                "effects": [{**_line(item), "outcome": item.state} for item in report.effects],
                "stands": report.stands,
            }
        )

    def list_effects() -> EffectList:
        """List this run's effects, newest first, with what became of each; changes nothing."""
        listed, more = store.effects(context)
        lines = [{**_line(item), "state": item.state} for item in listed]
        return EffectList.model_validate({"effects": lines, "more": more})

    return MCPServer(
        "undolab-undo",
        instructions="Take back effects of this run alone. A refused recovery changed nothing: report it to a person.",
        log_level="WARNING",
        tools=[
            _tool(recover_effect, _UNDO_ONE),
            _tool(preview_recovery, _READ),
            _tool(recover_run, _UNDO_RUN),
            _tool(list_effects, _READ),
        ],
    )


def _tool(call: Callable[..., BaseModel], hints: ToolAnnotations) -> Tool:
    """Return a tool that takes no argument but its own: a mistyped `dry_run` must not take a whole run back."""
    made = Tool.from_function(call, annotations=hints, structured_output=True)
    arguments = made.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    made.parameters = arguments.model_json_schema(by_alias=True)
    return made


def _recovery(receipt_id: str, answer: Answer) -> Recovery:
    return Recovery.model_validate(
        {"receipt_id": receipt_id, "outcome": answer.outcome.value, "repeated": answer.repeated}
    )


def _line(item: Listed) -> dict[str, str]:
    return {"receipt_id": item.id, "kind": item.kind, "resource": item.resource}
