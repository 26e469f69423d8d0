"""What the trusted host does: open resources, write effects and peers' events, set permissions, read the audit."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from undolab.model.canon import digest
from undolab.undo import audit, kernel
from undolab.undo.authority import Rule, checked_context, known_id, label
from undolab.undo.effects import checked_text
from undolab.undo.rows import Rows
from undolab.undo.shell import Shell
from undolab.undo.types import Context, Effect, Put, Receipt, Rejected, agent, peer

HOUR_MS = 3_600_000
MAX_TTL_MS = 10 * 365 * 24 * HOUR_MS


class Host(Shell):
    """The host's side of a store. Nothing here may be put within an agent's reach."""

    def permit(
        self, tenant: str, principal: str, rule: Rule, *, kind: str = "*", resource: str = "*"
    ) -> None:
        """Set what a principal may recover, for one kind and resource or (`*`) for all; nothing is allowed until then."""
        context = checked_context(Context(tenant, principal, "-"))
        with self._writing() as now:
            self._permissions.put(tenant, principal, rule, kind, resource)
            reason = f"{rule} {kind} {label(resource)}"
            audit.append(
                self._db, now, context, action="permit", receipt="", outcome="accepted", reason=reason
            )

    def seed(self, tenant: str, name: str, args: Mapping[str, Any], *, generation: str = "") -> str:
        """Open a resource that no agent made; return its generation.

        Raises:
            Rejected: the name is in use, or the generation was used before.
        """
        generation = generation or secrets.token_hex(16)
        context = checked_context(Context(tenant, "-", "-"))

        def change(rows: Rows, _now: int) -> list[Put]:
            return kernel.seed(rows, Effect("create", name, args), generation)

        self._change(context, "seed", generation, change)
        return generation

    def peer(self, context: Context, event: str, change: Effect, *, generation: str = "") -> None:
        """Write a change of somebody who takes no receipt: an effect, or `revoke`, `settle`, `delete`.

        Raises:
            Rejected: it is not allowed, or the event's id was used before in this tenant.
        """
        checked_context(context)
        generation = generation or secrets.token_hex(16)

        def write(rows: Rows, _now: int) -> list[Put]:
            values = (context.tenant, event, context.principal)
            if not self._db.execute(
                "INSERT INTO events VALUES (?,?,?) ON CONFLICT DO NOTHING RETURNING 1", values
            ).fetchall():
                raise Rejected("id_used")
            return kernel.event(rows, change, peer(event), generation)

        self._change(context, f"peer {label(change.kind)}", event, write)

    def forward(
        self,
        context: Context,
        effect: Effect,
        *,
        effect_id: str = "",
        generation: str = "",
        ttl_ms: int = HOUR_MS,
    ) -> Receipt:
        """Write an agent's effect and return its receipt.

        The same id with the same request answers with the receipt that exists and changes nothing, so that a host whose
        answer was lost may ask again.

        Raises:
            Rejected: it is not allowed, or the id belongs to another request.
        """
        checked_context(context)
        ident = effect_id or secrets.token_hex(16)
        made: list[Receipt] = []

        def write(rows: Rows, now: int) -> list[Put] | None:
            if type(ttl_ms) is not int or not 0 < ttl_ms <= MAX_TTL_MS:
                raise Rejected("lifetime")
            try:
                request = digest([effect.kind, effect.name, effect.args, generation])[:32]
            except (TypeError, ValueError, RecursionError) as error:
                raise Rejected("arguments") from error
            known = self._find(ident)
            if known is not None:
                if known.owner != context or known.request != request:
                    raise Rejected("id_used")
                made.append(known.receipt)
                return None
            own = generation or secrets.token_hex(16)
            writer = agent(ident)
            first, second, changes = kernel.forward(rows, effect, writer, own)
            rows.apply(changes)
            self._db.execute(
                "INSERT INTO receipts (id, context, kind, incarnation, other, request, expires) VALUES (?,?,?,"
                "(SELECT id FROM incarnations WHERE generation = ?),(SELECT id FROM incarnations WHERE generation = ?),?,?)",
                (ident, self._context(context), effect.kind, first, second, request, now + ttl_ms),
            )
            made.append(Receipt(ident, effect.kind, first, second))
            return []

        self._change(context, "forward", ident, write)
        return made[0]

    def _change(
        self, context: Context, action: str, ident: str, work: Callable[[Rows, int], list[Put] | None]
    ) -> None:
        """Do the work in a transaction of its own; None from it says that the request was answered before."""
        rejected: Rejected | None = None
        reason = ""
        with self._writing() as now:
            self._db.execute("SAVEPOINT work")
            try:
                if not known_id(ident):
                    raise Rejected("id")  # noqa: TRY301 - the audit row below is the same for every rejection
                rows = Rows(self._db, context.tenant)
                changes = work(rows, now)
                if changes is None:
                    reason = "repeated"
                else:
                    rows.apply(changes)
            except Rejected as error:
                self._db.execute("ROLLBACK TO work")
                rejected, reason = error, str(error)
            outcome = "rejected" if rejected else "accepted"
            audit.append(
                self._db,
                now,
                context,
                action=action,
                receipt=label(ident),
                outcome=outcome,
                reason=reason,
            )
        if rejected:
            raise rejected

    def _context(self, context: Context) -> int:
        sql = "INSERT INTO contexts (tenant, principal, run) VALUES (?,?,?) ON CONFLICT DO NOTHING"
        self._db.execute(sql, context)
        sql = "SELECT id FROM contexts WHERE tenant = ? AND principal = ? AND run = ?"
        found: int = self._db.execute(sql, context).fetchone()[0]
        return found

    def show(self, tenant: str, name: str) -> dict[str, Any] | None:
        """Return what shows of a resource: fields, balance, members, held, limit; None where there is none. For the host.

        Raises:
            Rejected: no store can hold such a name.
        """
        with self._reading():
            return Rows(self._db, checked_text(tenant)).visible(checked_text(name))

    def audit_entries(self) -> list[audit.Entry]:
        """Return every row of the audit, oldest first. For the host."""
        with self._reading():
            return list(audit.entries(self._db))

    def audit_problems(self, head: str | None = None) -> list[str]:
        """Return what is wrong with the audit's chain; `head` is a digest kept elsewhere that must still be in it."""
        with self._reading():
            return audit.problems(self._db, head)

    def audit_head(self) -> str:
        """Return the digest of the audit's last row, to be kept elsewhere."""
        with self._reading():
            return audit.head(self._db)
