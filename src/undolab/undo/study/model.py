"""The store as a pure model: the kernel over dicts, with owners, permissions, time and audit rows beside it.

It says for every request what a store must answer, which rows the audit must gain and which rows there must be: the
measure that histories of several processes are held against. It shares the kernel with the store and nothing else of it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from undolab.model.canon import digest
from undolab.undo import kernel
from undolab.undo.authority import known_id, label
from undolab.undo.memory import Memory
from undolab.undo.run import SETTLED, plan
from undolab.undo.shell import Listed
from undolab.undo.store import Answer, RunReport
from undolab.undo.study.requests import (
    Op,
    answer_line,
    approve,
    listed_line,
    receipt_line,
    report_line,
    shown_line,
)
from undolab.undo.types import Context, Decision, Effect, Outcome, Put, Receipt, Rejected, Table, agent, peer

# (at, tenant, principal, run, action, receipt, outcome, reason, evidence): an audit row without number and chain.
AuditRow = tuple[int, str, str, str, str, str, str, str, str]
_LISTED = 200


class _Kept(NamedTuple):
    receipt: Receipt
    owner: Context
    resources: tuple[str, ...]
    request: str
    expires: int
    outcome: Outcome | None = None


class Reply(NamedTuple):
    """What a store must answer, and the rows that the audit must gain. `unasked`: refused since nobody was asked in time."""

    answer: str
    audit: tuple[AuditRow, ...] = ()
    unasked: bool = False


class Model:
    """One store; `copy` is cheap enough for a search."""

    def __init__(self) -> None:
        self.rows: dict[str, Memory] = {}
        self.kept: dict[str, _Kept] = {}
        self.rules: dict[tuple[str, str, str, str], str] = {}
        self.events: set[tuple[str, str]] = set()
        self.now = 0

    def copy(self) -> "Model":
        """Return an independent copy."""
        made = Model()
        made.rows = {tenant: memory.copy() for tenant, memory in self.rows.items()}
        made.kept, made.rules, made.events = dict(self.kept), dict(self.rules), set(self.events)
        made.now = self.now
        return made

    def fingerprint(self) -> str:
        """Return a digest of all that later answers depend on."""
        rows = [
            (tenant, table.value, sorted((key, str(row)) for key, row in rows.items()))
            for tenant, memory in sorted(self.rows.items())
            for table, rows in memory.rows.items()
        ]
        kept = [(key, str(item)) for key, item in self.kept.items()]
        return digest([rows, kept, sorted(map(str, self.rules.items())), sorted(self.events), self.now])

    def perform(self, op: Op, *, unasked: bool = False) -> Reply:
        """Do a request as if it were alone. `unasked`: a recovery did its asking before somebody had to be asked."""
        if op.writes:
            self.now = max(self.now, op.at)
        do: Mapping[str, Callable[[Op], Reply]] = {
            "permit": self._permit,
            "seed": self._seed,
            "peer": self._peer,
            "forward": self._forward,
            "show": lambda op: Reply(shown_line(self.visible(op.context.tenant, op.name))),
            "effects": lambda op: Reply(listed_line(self._effects(op.context))),
            "preview": lambda op: Reply(answer_line(self._decided(op, max(self.now, op.at), asked=True)[0])),
            "recover": lambda op: self._recover(op, unasked=unasked),
            "dry_run": lambda op: self._recover_run(op, dry_run=True, unasked=False),
            "recover_run": lambda op: self._recover_run(op, dry_run=False, unasked=unasked),
        }
        return do[op.do](op)

    def _memory(self, tenant: str) -> Memory:
        return self.rows.setdefault(tenant, Memory())

    def _row(self, context: Context, action: str, receipt: str, outcome: str, reason: str = "") -> AuditRow:
        return (self.now, *context, action, receipt, outcome, reason, "")

    def _permit(self, op: Op) -> Reply:
        context, rule = op.context, op.args["rule"]
        self.rules[context.tenant, context.principal, op.kind, op.name] = rule
        reason = f"{rule} {op.kind} {label(op.name)}"
        return Reply("done", (self._row(context._replace(run="-"), "permit", "", "accepted", reason),))

    def _seed(self, op: Op) -> Reply:
        context = Context(op.context.tenant, "-", "-")

        def work(memory: Memory) -> list[Put]:
            return kernel.seed(memory, Effect("create", op.name, op.args), op.generation)

        return self._changed(context, "seed", op.generation, work)

    def _peer(self, op: Op) -> Reply:
        def work(memory: Memory) -> list[Put]:
            if (op.context.tenant, op.ident) in self.events:
                raise Rejected("id_used")
            changes = kernel.event(memory, Effect(op.kind, op.name, op.args), peer(op.ident), op.generation)
            self.events.add((op.context.tenant, op.ident))
            return changes

        return self._changed(op.context, f"peer {label(op.kind)}", op.ident, work)

    def _changed(
        self, context: Context, action: str, ident: str, work: Callable[[Memory], list[Put]]
    ) -> Reply:
        memory = self._memory(context.tenant)
        try:
            memory.apply(work(memory))
        except Rejected as error:
            row = self._row(context, action, label(ident), "rejected", str(error))
            return Reply(f"rejected {error}", (row,))
        return Reply("done", (self._row(context, action, label(ident), "accepted"),))

    def _forward(self, op: Op) -> Reply:
        request = digest([op.kind, op.name, op.args, op.generation])
        known = self.kept.get(op.ident)
        if known is not None:
            if (known.owner, known.request) != (op.context, request):
                row = self._row(op.context, "forward", op.ident, "rejected", "id_used")
                return Reply("rejected id_used", (row,))
            row = self._row(op.context, "forward", op.ident, "accepted", "repeated")
            return Reply(receipt_line(known.receipt), (row,))
        made: list[Receipt] = []

        def work(memory: Memory) -> list[Put]:
            effect = Effect(op.kind, op.name, op.args)
            first, second, changes = kernel.forward(memory, effect, agent(op.ident), op.generation)
            made.append(Receipt(op.ident, op.kind, first, second))
            return changes

        reply = self._changed(op.context, "forward", op.ident, work)
        if made:
            resources = (op.name, op.args["to"]) if op.kind == "transfer" else (op.name,)
            self.kept[op.ident] = _Kept(made[0], op.context, resources, request, self.now + op.ttl)
            return reply._replace(answer=receipt_line(made[0]))
        return reply

    def _rule(self, kept: _Kept) -> str:
        found = {rule for resource in kept.resources for rule in self._rules(kept, resource)}
        return next(rule for rule in ("deny", "approve", "allow") if rule in found)

    def _rules(self, kept: _Kept, resource: str) -> set[str]:
        owner = kept.owner
        found = {
            self.rules.get((owner.tenant, owner.principal, kind, name))
            for kind in ("*", kept.receipt.kind)
            for name in ("*", resource)
        }
        return {rule for rule in found if rule} or {"deny"}

    def _reason(self, context: Context, kept: _Kept, now: int, *, asked: bool) -> str:
        rule = self._rule(kept)
        approved = rule == "allow" or asked
        return kernel.authorise(
            context, kernel.Authority(kept.owner, kept.expires, now, rule != "deny", approved)
        )

    def _says_yes(self, kept: _Kept) -> bool:
        listed = Listed(kept.receipt.id, kept.receipt.kind, kept.resources[0], "live")
        return self._rule(kept) == "approve" and approve(kept.owner, listed)

    def _decided(self, op: Op, now: int, *, asked: bool) -> tuple[Answer, str, Decision | None]:
        kept = self.kept.get(op.ident)
        if kept is None:
            return Answer(Outcome.REFUSED), "unknown_receipt" if known_id(op.ident) else "invalid_id", None
        if kept.owner == op.context and kept.outcome is not None:
            return Answer(kept.outcome, repeated=True), "repeated", None
        reason = self._reason(op.context, kept, now, asked=asked)
        if reason:
            return Answer(Outcome.REFUSED), reason, None
        decision = kernel.recover(self._memory(kept.owner.tenant), kept.receipt)
        return Answer(decision.outcome), decision.reason, decision

    def _recover(self, op: Op, *, unasked: bool) -> Reply:
        kept = self.kept.get(op.ident)
        asked = kept is not None and not unasked and self._says_yes(kept)
        answer, reason, decision = self._decided(op, self.now, asked=asked)
        row = self._settled(op.context, "recover", op.ident, answer, reason, decision)
        return Reply(answer_line(answer), (row,), unasked=reason == "approval")

    def _settled(
        self,
        context: Context,
        action: str,
        ident: str,
        answer: Answer,
        reason: str,
        decision: Decision | None,
    ) -> AuditRow:
        if decision is not None:
            kept = self.kept[ident]
            self._memory(kept.owner.tenant).apply(decision.changes)
            if decision.outcome in SETTLED:
                self.kept[ident] = kept._replace(outcome=decision.outcome)
        evidence = digest(decision.changes)[:16] if decision is not None and decision.changes else ""
        return (*self._row(context, action, label(ident), answer.outcome.value, reason)[:-1], evidence)

    def _recover_run(self, op: Op, *, dry_run: bool, unasked: bool) -> Reply:
        context = op.context
        now = max(self.now, op.at) if dry_run else self.now
        live = [kept for kept in self.kept.values() if kept.owner == context and kept.outcome is None]
        refused: list[tuple[_Kept, str]] = []
        tried: list[Receipt] = []
        for kept in live:
            asked = dry_run or (not unasked and self._says_yes(kept))
            reason = self._reason(context, kept, now, asked=asked)
            if reason:
                refused.append((kept, reason))
            else:
                tried.append(kept.receipt)
        steps = plan(self._memory(context.tenant), tried)
        listed = [
            Listed(receipt.id, receipt.kind, self.kept[receipt.id].resources[0], decision.outcome.value)
            for receipt, decision in steps
        ] + [Listed(kept.receipt.id, kept.receipt.kind, kept.resources[0], "refused") for kept, _ in refused]
        stands = tuple(item.id for item in listed if item.state == "refused")
        answer = report_line(RunReport(dry_run, tuple(listed), stands))
        if dry_run:
            return Reply(answer)
        rows = [
            self._settled(
                context, "recover_run", receipt.id, Answer(decision.outcome), decision.reason, decision
            )
            for receipt, decision in steps
        ]
        rows += [
            self._row(context, "recover_run", kept.receipt.id, "refused", reason) for kept, reason in refused
        ]
        if not rows:
            rows = [self._row(context, "recover_run", "", "nothing", "no_live_effect")]
        return Reply(answer, tuple(rows), unasked=any(reason == "approval" for _, reason in refused))

    def _effects(self, context: Context) -> tuple[Listed, ...]:
        own = [kept for kept in reversed(self.kept.values()) if kept.owner == context]
        return tuple(
            Listed(kept.receipt.id, kept.receipt.kind, kept.resources[0], (kept.outcome or "live"))
            for kept in own[:_LISTED]
        )

    def visible(self, tenant: str, name: str) -> dict[str, Any] | None:
        """Return what `Store.show` must."""
        memory = self._memory(tenant)
        generation = memory.named(name)
        row = None if generation is None else memory.resource(generation)
        if generation is None or row is None:
            return None
        versions, tags = memory.rows[Table.VERSION], memory.rows[Table.TAG]
        return {
            "fields": {
                field: versions[home, field, writer].value
                for (home, field), writer in sorted(memory.rows[Table.HEAD].items())
                if home == generation
            },
            "balance": row.balance,
            "members": sorted({member for (home, _), member in tags.items() if home == generation}),
            "held": row.held,
            "limit": row.limit,
        }
