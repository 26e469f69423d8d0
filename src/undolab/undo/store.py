"""Recovery: what an agent may ask of a store, for the context that its host has fixed.

There is one path for everybody and no switch for research: read and check without the write lock, ask for approval, then
check again under the lock, ask the kernel, and write changes, outcome and audit row together.
"""

from typing import NamedTuple

from undolab.model.canon import digest
from undolab.undo import audit, kernel
from undolab.undo.authority import Rule, checked_context, known_id, label
from undolab.undo.host import Host
from undolab.undo.rows import Rows
from undolab.undo.run import SETTLED, plan
from undolab.undo.shell import Found, Listed
from undolab.undo.types import Context, Decision, Outcome

# Reasons that no later state of the store can change: under the lock they cost one audit row and no more.
_STRANGER = ("invalid_id", "scope")


class Answer(NamedTuple):
    """What an agent hears of one recovery; a refusal says no more than that. `repeated`: the outcome of an earlier call."""

    outcome: Outcome
    repeated: bool = False


class RunReport(NamedTuple):
    """What `recover_run` did, or would do: every live effect in the order tried, and the ids of those that still stand."""

    dry_run: bool
    effects: tuple[Listed, ...]
    stands: tuple[str, ...]


class _Step(NamedTuple):
    found: Found
    answer: Answer
    reason: str
    decision: Decision | None


class Store(Host):
    """A whole store: the host's side and, below, the agent's."""

    def preview(self, context: Context, receipt: str) -> Answer:
        """Say what `recover` would answer now; an approval that could be asked for is taken as given."""
        with self._reading() as now:
            found = self._find(receipt)
            reason = self._reason(context, receipt, found, now, approved=self._approval is not None)
            return self._answer(found, reason)[0]

    def recover(self, context: Context, receipt: str) -> Answer:
        """Take one's own effect back; a repeat answers with the first outcome and changes nothing."""
        checked_context(context)
        with self._reading() as now:
            found = self._find(receipt)
            reason = self._reason(context, receipt, found, now, approved=True)
        approved = not reason and self._approved(found)
        with self._writing() as now:
            if reason not in _STRANGER:
                found = self._find(receipt)
                reason = self._reason(context, receipt, found, now, approved=approved)
            answer, decision = self._answer(found, reason)
            if found is not None and decision is not None:
                self._settle(found, decision)
                reason = decision.reason
            self._record(now, context, "recover", receipt, answer, reason, decision)
        return answer

    def recover_run(self, context: Context, *, dry_run: bool = False) -> RunReport:
        """Take back every live effect of the run in one transaction, newest first; say honestly what still stands."""
        checked_context(context)
        with self._reading() as now:
            live = self._live(context)
            if dry_run:
                allowed = {item.receipt.id for item in live} if self._approval is not None else set()
                return _report(self._planned(context, now, live, allowed), dry_run=True)
            may = [
                item for item in live if not self._reason(context, item.receipt.id, item, now, approved=True)
            ]
        allowed = {item.receipt.id for item in may if self._approved(item)}
        with self._writing() as now:
            planned = self._planned(context, now, self._live(context), allowed)
            for found, answer, reason, decision in planned:
                if decision is not None:
                    self._settle(found, decision)
                self._record(now, context, "recover_run", found.receipt.id, answer, reason, decision)
            if not planned:
                said = {
                    "action": "recover_run",
                    "receipt": "",
                    "outcome": "nothing",
                    "reason": "no_live_effect",
                }
                audit.append(self._db, now, context, **said)
        return _report(planned, dry_run=False)

    def effects(self, context: Context, limit: int = 200) -> tuple[tuple[Listed, ...], bool]:
        """Return the run's newest effects, newest first, and whether there are more."""
        with self._reading():
            rows = self._of_run(checked_context(context), "ORDER BY r.seq DESC LIMIT ?", limit + 1)
        return tuple(_listed(found, found.outcome or "live") for found in rows[:limit]), len(rows) > limit

    def _live(self, context: Context) -> list[Found]:
        return self._of_run(context, "AND r.outcome IS NULL ORDER BY r.seq")

    def _rule(self, found: Found) -> Rule:
        owner = found.owner
        resources = {found.resource, found.other or found.resource}
        return self._permissions.rule(owner.tenant, owner.principal, found.receipt.kind, resources)

    def _asks(self, found: Found) -> bool:
        with self._lock:
            return self._rule(found) == "approve"

    def _approved(self, found: Found | None) -> bool:
        """Return True only where the hook was asked and said yes: a rule that asks may come before the lock does."""
        if found is None or found.outcome is not None or self._approval is None or not self._asks(found):
            return False
        # Nothing else counts as a yes: a coroutine, the word "no" and a list with an apology are all true.
        return self._approval(found.owner, _listed(found, "live")) is True

    def _reason(
        self, context: Context, receipt: object, found: Found | None, now: int, *, approved: bool
    ) -> str:
        if found is None:
            return kernel.authorise(context, None) if known_id(receipt) else "invalid_id"
        if found.owner == context and found.outcome is not None:
            return ""  # a repeat: it changes nothing, and its truth outlives permission and expiry
        rule = self._rule(found)
        facts = kernel.Authority(found.owner, found.expires, now, rule != "deny", rule == "allow" or approved)
        return kernel.authorise(context, facts)

    def _answer(self, found: Found | None, reason: str) -> tuple[Answer, Decision | None]:
        if found is None or reason:
            return Answer(Outcome.REFUSED), None
        if found.outcome is not None:
            return Answer(Outcome(found.outcome), repeated=True), None
        decision = kernel.recover(Rows(self._db, found.owner.tenant), found.receipt)
        return Answer(decision.outcome), decision

    def _settle(self, found: Found, decision: Decision) -> None:
        Rows(self._db, found.owner.tenant).apply(decision.changes)
        if decision.outcome in SETTLED:
            values = (decision.outcome.value, found.receipt.id)
            self._db.execute("UPDATE receipts SET outcome = ? WHERE id = ?", values)

    def _planned(self, context: Context, now: int, live: list[Found], allowed: set[str]) -> list[_Step]:
        steps: list[_Step] = []
        open_ones: dict[str, Found] = {}
        for found in live:
            ident = found.receipt.id
            reason = self._reason(context, ident, found, now, approved=ident in allowed)
            if reason:
                steps.append(_Step(found, Answer(Outcome.REFUSED), reason, None))
            else:
                open_ones[ident] = found
        planned = plan(Rows(self._db, context.tenant), [found.receipt for found in open_ones.values()])
        return [
            _Step(open_ones[receipt.id], Answer(decision.outcome), decision.reason, decision)
            for receipt, decision in planned
        ] + steps

    def _record(
        self,
        now: int,
        context: Context,
        action: str,
        receipt: object,
        answer: Answer,
        reason: str,
        decision: Decision | None,
    ) -> None:
        evidence = digest(decision.changes)[:16] if decision is not None and decision.changes else ""
        audit.append(
            self._db,
            now,
            context,
            action=action,
            receipt=label(receipt),
            outcome=answer.outcome.value,
            reason="repeated" if answer.repeated else reason,
            evidence=evidence,
        )


def _listed(found: Found, state: str) -> Listed:
    return Listed(found.receipt.id, found.receipt.kind, found.resource, state)


def _report(steps: list[_Step], *, dry_run: bool) -> RunReport:
    listed = tuple(_listed(step.found, step.answer.outcome.value) for step in steps)
    return RunReport(dry_run, listed, tuple(item.id for item in listed if item.state == Outcome.REFUSED))
