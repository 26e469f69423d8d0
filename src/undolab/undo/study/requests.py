"""Requests to a store as data, so that a child process, a crash image and the pure model are all asked the same."""

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from undolab.model.canon import short_digest
from undolab.undo.authority import Rule
from undolab.undo.host import HOUR_MS
from undolab.undo.shell import Listed
from undolab.undo.store import Answer, RunReport, Store
from undolab.undo.types import Context, Effect, Receipt, Rejected

TENANT = "acme"
NOW = 4_102_444_800_000  # 2100: ahead of every real clock
ME = Context(TENANT, "agent", "run-1")
PEER = Context(TENANT, "colleague", "-")
BLANK: Mapping[str, Any] = {"fields": {"status": "open", "note": "original"}, "opening": 10, "limit": 10}


class Op(NamedTuple):
    """One request; `do` names the method of the store. `at` is what the caller's clock shows, in milliseconds."""

    do: str
    context: Context = ME
    ident: str = ""
    kind: str = ""
    name: str = ""
    args: dict[str, Any] = {}  # noqa: RUF012 - never changed
    generation: str = ""
    ttl: int = HOUR_MS
    at: int = NOW

    @property
    def writes(self) -> bool:
        """Return whether the request leaves a row in the audit."""
        return self.do not in {"preview", "show", "dry_run", "effects"}


def opening(rule: Rule = "allow") -> list[Op]:
    """Return the requests that open the world of the study: a ticket, a till, and what the agent may recover."""
    return [
        Op("permit", kind="*", name="*", args={"rule": rule}),
        Op("seed", name="ticket", args=dict(BLANK), generation="g-ticket"),
        Op("seed", name="till", generation="g-till"),
    ]


EFFECTS: Mapping[str, Op] = {
    "set": Op("forward", ME, "e-set", "set", "ticket", {"field": "status", "value": "triage"}),
    "add": Op("forward", ME, "e-add", "add", "ticket", {"delta": 4}),
    "grant": Op("forward", ME, "e-grant", "grant", "ticket", {"member": "contractor"}),
    "create": Op("forward", ME, "e-create", "create", "folder", {"opening": 3}, "g-folder"),
    "update": Op(
        "forward", ME, "e-update", "update", "ticket", {"fields": {"status": "triage", "note": "mine"}}
    ),
    "transfer": Op("forward", ME, "e-transfer", "transfer", "ticket", {"to": "till", "amount": 4}),
    "reserve": Op("forward", ME, "e-reserve", "reserve", "ticket", {"amount": 4}),
}
"""One effect of each kind in the registry."""


def approve(_context: Context, effect: Listed) -> bool:
    """Answer as the study's approver does: always the same for the same receipt, yes for two in three."""
    return zlib.crc32(effect.id.encode()) % 3 != 0


def perform(store: Store, op: Op) -> str:
    """Make a request and return its answer as one line of text."""
    try:
        return _call(store, op)
    except Rejected as error:
        return f"rejected {error}"


def _call(store: Store, op: Op) -> str:
    effect = Effect(op.kind, op.name, op.args)
    match op.do:
        case "permit":
            rule = cast("Rule", op.args["rule"])
            store.permit(op.context.tenant, op.context.principal, rule, kind=op.kind, resource=op.name)
        case "seed":
            store.seed(op.context.tenant, op.name, op.args, generation=op.generation)
        case "peer":
            store.peer(op.context, op.ident, effect, generation=op.generation)
        case "forward":
            made = store.forward(
                op.context, effect, effect_id=op.ident, generation=op.generation, ttl_ms=op.ttl
            )
            return receipt_line(made)
        case "recover":
            return answer_line(store.recover(op.context, op.ident))
        case "preview":
            return answer_line(store.preview(op.context, op.ident))
        case "recover_run" | "dry_run":
            return report_line(store.recover_run(op.context, dry_run=op.do == "dry_run"))
        case "effects":
            return listed_line(store.effects(op.context)[0])
        case "show":
            return shown_line(store.show(op.context.tenant, op.name))
        case _:
            raise ValueError(op.do)
    return "done"


def receipt_line(receipt: Receipt) -> str:
    """Return a receipt as text."""
    return "receipt " + " ".join(part or "-" for part in receipt)


def answer_line(answer: Answer) -> str:
    """Return the answer to one recovery as text."""
    return answer.outcome.value + (" repeated" if answer.repeated else "")


def listed_line(listed: tuple[Listed, ...]) -> str:
    """Return a list of effects as text."""
    return " ".join(f"{item.id}:{item.state}" for item in listed)


def report_line(report: RunReport) -> str:
    """Return the report of a run's recovery as text."""
    return f"{listed_line(report.effects)} | {' '.join(report.stands)}"


def shown_line(shown: Mapping[str, Any] | None) -> str:
    """Return what shows of a resource as text: a digest, or `nothing`."""
    return "nothing" if shown is None else short_digest(shown)
