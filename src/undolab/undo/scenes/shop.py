"""The production store in a folder, driven by the events of the histories: scenes and study meet it, and no model of it."""

from pathlib import Path

from undolab.undo import schema
from undolab.undo.histories.mechanism import BLANK, change_of, ident_of
from undolab.undo.policies.receipt import Context
from undolab.undo.policies.resource import KINDS, Cell, Event, Resource
from undolab.undo.store import RunReport, Store
from undolab.undo.types import Context as Caller
from undolab.undo.types import Effect, Rejected

_NOW, _LIFE = 101_000, 1_000_000  # milliseconds: the histories' own times
_PEER = Caller("acme", "colleague", "-")


class Shop:
    """A store of its own, in which every principal may recover; its clock stands still."""

    def __init__(self, folder: Path) -> None:
        path = folder / "undo.db"
        schema.create(path)
        self._store = Store.open(path, clock=lambda: _NOW)
        self._db = schema.connect(path)

    def close(self) -> None:
        """Close the store."""
        self._store.close()
        self._db.close()

    def permit(self, owner: Context) -> None:
        """Let a principal recover its own effects."""
        self._store.permit(owner.tenant, owner.principal, "allow")

    def seed(self, name: str, generation: str) -> None:
        """Open a blank resource that no agent made."""
        self._store.seed("acme", name, BLANK, generation=generation)

    def act(self, name: str, event: Event, ident: str, owner: Context, generation: str = "") -> None:
        """Write an agent's effect; `generation` is that of a creation.

        Raises:
            Rejected: it is not allowed.
        """
        effect = change_of(event, name)
        self._store.forward(Caller(*owner), effect, effect_id=ident, generation=generation, ttl_ms=_LIFE)

    def peer(self, name: str, event: Event, ident: str) -> None:
        """Write a peer's event; one that is not allowed changes nothing, as in the histories."""
        try:
            if event.op == "recreate" and self._store.show("acme", name) is not None:
                self._store.peer(_PEER, f"{ident}-delete", Effect("delete", name, {}))
            generation = ident if event.op == "recreate" else ""
            self._store.peer(_PEER, ident, change_of(event, name), generation=generation)
        except Rejected:
            pass

    def recover(self, caller: Context, ident: str) -> str:
        """Return what the store answers to a caller who asks for one effect."""
        return self._store.recover(Caller(*caller), ident).outcome.value

    def recover_run(self, caller: Context) -> RunReport:
        """Take back every live effect of the caller's run."""
        return self._store.recover_run(Caller(*caller))

    def audit_problems(self) -> list[str]:
        """Return what is wrong with the audit's chain."""
        return self._store.audit_problems()

    def project(self, name: str) -> Resource | None:
        """Return a resource in the words that the oracles compare, read row by row from the tables; None where none is."""
        sql = "SELECT id, generation, rev FROM incarnations WHERE tenant = 'acme' AND name = ? AND alive"
        found = self._db.execute(sql, (name,)).fetchone()
        if found is None:
            return None
        home, generation, rev = found
        cells = """SELECT h.field, v.value, h.writer FROM heads h JOIN versions v USING (incarnation, field, writer)
        WHERE h.incarnation = ? ORDER BY h.field"""
        ledger = self._db.execute("SELECT writer, amount FROM credits WHERE incarnation = ?", (home,))
        tags = self._db.execute("SELECT writer, member FROM tags WHERE incarnation = ?", (home,))
        return Resource(
            generation,
            rev,
            {
                field: Cell(value, ident_of(writer))
                for field, value, writer in self._db.execute(cells, (home,))
            },
            {ident_of(writer): amount for writer, amount in ledger},
            {ident_of(writer): member for writer, member in tags},
            dict.fromkeys(KINDS, 0),
        )
