"""Undoing a whole run: a pure plan over the run's receipts, newest first, which the store writes in one transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from undolab.undo.kernel import recover
from undolab.undo.types import Decision, Hold, Outcome, Put, Receipt, Resource, Table, Version, View

SETTLED = (Outcome.COMPENSATED, Outcome.ALREADY_ABSENT)
_NOTHING = object()


class Overlay:
    """A `View` that shows changes not yet written on top of another view."""

    def __init__(self, base: View) -> None:
        self._base = base
        self._rows: dict[tuple[Table, tuple[str, ...]], Any] = {}

    def apply(self, changes: Iterable[Put]) -> None:
        """Show these changes from now on."""
        for table, key, row in changes:
            self._rows[table, key] = row

    def _get(self, table: Table, key: tuple[str, ...], below: Any) -> Any:
        found = self._rows.get((table, key), _NOTHING)
        return below(*key) if found is _NOTHING else found

    def named(self, name: str) -> str | None:
        """Return the generation that has the name now."""
        return cast("str | None", self._get(Table.NAME, (name,), self._base.named))

    def resource(self, generation: str) -> Resource | None:
        """Return an incarnation, living or buried."""
        return cast("Resource | None", self._get(Table.RESOURCE, (generation,), self._base.resource))

    def head(self, generation: str, field: str) -> str | None:
        """Return the writer of the value that a field shows."""
        return cast("str | None", self._get(Table.HEAD, (generation, field), self._base.head))

    def version(self, generation: str, field: str, writer: str) -> Version | None:
        """Return what a writer wrote to a field."""
        key = (generation, field, writer)
        return cast("Version | None", self._get(Table.VERSION, key, self._base.version))

    def written(self, generation: str, writer: str) -> list[str]:
        """Return the fields that hold a version of this writer."""
        fields = self._base.written(generation, writer)
        return [field for field in fields if self.version(generation, field, writer) is not None]

    def credit(self, generation: str, writer: str) -> int | None:
        """Return a writer's contribution to the balance."""
        return cast("int | None", self._get(Table.CREDIT, (generation, writer), self._base.credit))

    def tag(self, generation: str, writer: str) -> str | None:
        """Return the member that a writer's grant names."""
        return cast("str | None", self._get(Table.TAG, (generation, writer), self._base.tag))

    def tagged(self, generation: str, member: str) -> list[str]:
        """Return the writers of every grant that names this member."""
        writers = self._base.tagged(generation, member)
        return [writer for writer in writers if self.tag(generation, writer) == member]

    def hold(self, generation: str, writer: str) -> Hold | None:
        """Return a writer's reservation."""
        return cast("Hold | None", self._get(Table.HOLD, (generation, writer), self._base.hold))


class Planned(NamedTuple):
    """What the plan does with one effect."""

    receipt: Receipt
    decision: Decision


def plan(view: View, receipts: Sequence[Receipt]) -> list[Planned]:
    """Return a decision for each receipt, in the order in which their changes are to be written.

    `receipts` are those of the effects that may be undone, oldest first. An effect rests only on earlier ones, so the newest
    goes first: a set goes before the creation under it. What is refused or superseded is tried again while anything
    moves, because a debit taken back later may pay for a credit taken back before.
    """
    overlay = Overlay(view)
    done: list[Planned] = []
    left = [Planned(receipt, Decision(Outcome.REFUSED)) for receipt in reversed(receipts)]
    moved = True
    while moved:
        moved, tried = False, left
        left = []
        for item in tried:
            decision = recover(overlay, item.receipt)
            if decision.outcome in SETTLED:
                overlay.apply(decision.changes)
                done.append(Planned(item.receipt, decision))
                moved = True
            else:
                left.append(Planned(item.receipt, decision))
    return done + left
