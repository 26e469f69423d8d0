"""B7's own undo store: a receipt for each write it sends, what was there before it, and what became of it.

The service has no receipts to give, so the client keeps its own books, in the undo layer's store. What a write is going to do
stands there before it is sent; what the readers show of somebody else, and what the service says is not there, is entered as
a peer's event; and the kernel then says whether the write may still be taken back. The database is kept on the method's disk
at each point from which a new process may have to go on, so a death loses nothing that was sent.
"""

import sqlite3
import weakref
from functools import cache

import msgspec

from undolab.model.calls import Call, Phase, Reply
from undolab.model.canon import digest
from undolab.recovery.base import Disk, step
from undolab.undo import Context, Effect, Outcome, Store, schema
from undolab.undo.effects import MAX_VALUE

DATABASE = "undo.db"
"""Name of the database on the method's disk."""
_TENANT, _PRINCIPAL = "client", "B7"
_SHOWN, _JSON = "shown", "json"


class Kept(msgspec.Struct, frozen=True):
    """What the books say of one call of the agent."""

    receipt: str
    """Receipt of its newest attempt; empty where it was never sent."""
    before: Reply | None
    """What the reader showed before it was sent."""
    answer: Reply | None
    """What the agent was answered; None while the outcome is unknown."""


class Receipts:
    """The receipts of one run.

    A write that brings something into being (nothing was there, or nobody can read it) is a `create`; one that changes what
    was there is a `set`. So what somebody else built on our thing keeps it standing, and what somebody else wrote over our
    value supersedes it.
    """

    def __init__(self, disk: Disk, task: str, run: str) -> None:
        """Open the books on `disk`; a first start finds them empty."""
        self._disk = disk
        self._context = Context(_TENANT, _PRINCIPAL, digest([task, run])[:32])
        self._db = _loaded(disk.get(DATABASE) or _empty())
        self._store = Store(self._db, clock=_no_time)
        weakref.finalize(self, self._db.close)

    def find(self, call: Call) -> Kept:
        """Return what is known of a call at its place in the run, in this life of the process or an earlier one."""
        place = _place(call)
        receipt = self._newest(place)
        return Kept(receipt, self._read(f"{receipt}.before"), self._read(f"{place}.answer"))

    def intend(self, call: Call, before: Reply | None) -> str:
        """Write down what is about to be sent, and return its receipt: the last one, unless that is settled."""
        place = _place(call)
        newest = self._newest(place)
        if newest and not self._store.preview(self._context, newest).repeated:
            return newest
        receipt = f"{place}.{_number(newest) + 1}"
        wanted = digest([call.tool, call.arguments])
        self._keep(f"{receipt}.before", before)
        if before is not None and before.phase is Phase.OK:
            self._store.seed(
                _TENANT, receipt, {"fields": {_SHOWN: digest(before.output)}}, generation=receipt
            )
            effect = Effect("set", receipt, {"field": _SHOWN, "value": wanted})
        else:
            effect = Effect("create", receipt, {"fields": {_SHOWN: wanted}})
        self._store.forward(self._context, effect, effect_id=receipt, generation=f"{receipt}.own")
        self._save()
        return receipt

    def answered(self, call: Call, reply: Reply) -> None:
        """Write down what the agent is answered; a new process must do without an answer too long to keep."""
        if _text(reply) is not None:
            self._keep(f"{_place(call)}.answer", reply)
            self._save()

    def foreign(self, receipt: str, shown: Reply) -> None:
        """Write down that a reader showed somebody else's work in the place of this write; from now on it stands."""
        if self.ours(receipt):
            change = Effect("set", receipt, {"field": _SHOWN, "value": digest(shown.output)})
            self._store.peer(self._context, f"{receipt}.foreign", change)
            self._save()

    def ours(self, receipt: str) -> bool:
        """Return True while nothing speaks against taking this write back, and nobody has done so."""
        return self._store.preview(self._context, receipt) == (Outcome.COMPENSATED, False)

    def settle(self, receipt: str, *, absent: bool) -> Outcome:
        """Settle a write that the service has taken back, or (`absent`) of which it says that nothing is there."""
        if absent:
            self._store.peer(self._context, f"{receipt}.absent", Effect("delete", receipt, {}))
        outcome = self._store.recover(self._context, receipt).outcome
        self._save()
        return outcome

    def outcomes(self) -> dict[str, str]:
        """Return every receipt, oldest first, with `live` or what its recovery came to."""
        listed, _ = self._store.effects(self._context)
        return {item.id: item.state for item in reversed(listed)}

    def _newest(self, place: str) -> str:
        number = 0
        while self._store.show(_TENANT, f"{place}.{number + 1}.before") is not None:
            number += 1
        return f"{place}.{number}" if number else ""

    def _keep(self, name: str, reply: Reply | None) -> None:
        self._store.seed(_TENANT, name, {"fields": {_JSON: _text(reply) or "null"}}, generation=name)

    def _read(self, name: str) -> Reply | None:
        found = self._store.show(_TENANT, name)
        return None if found is None else msgspec.json.decode(found["fields"][_JSON], type=Reply | None)

    def _save(self) -> None:
        self._disk[DATABASE] = self._db.serialize()


def _no_time() -> int:
    """Stand for a clock: no receipt of a run expires while the run goes on."""
    return 0


def _text(reply: Reply | None) -> str | None:
    text = msgspec.json.encode(reply).decode()
    return text if len(text) <= MAX_VALUE else None


def _number(receipt: str) -> int:
    return int(receipt.rpartition(".")[2] or 0)


def _place(call: Call) -> str:
    return digest([step(call), call.tool, call.arguments])[:32]


@cache
def _empty() -> bytes:
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        schema.build(db)
        Store(db, clock=_no_time).permit(_TENANT, _PRINCIPAL, "allow")
        return db.serialize()
    finally:
        db.close()


def _loaded(image: bytes) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.deserialize(image)
    schema.prepare(db)
    return db
