"""The compared policies and our own kernel behind one interface, so that the same histories drive all of them.

A state is a value of its own; every method answers a new one, so that histories can share their beginnings.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol

from undolab.undo import kernel, types
from undolab.undo.histories.grammar import GENERATION
from undolab.undo.memory import Memory
from undolab.undo.policies.receipt import Context, Receipt, forward
from undolab.undo.policies.resource import INITIAL, KINDS, Cell, Event, Resource, blank, write
from undolab.undo.policies.table import COMPENSATED, NOTHING, Authority, Policy, authorise, transform

_NAME = "resource"
_FIELDS = ("note", "status")
BLANK = {"opening": 10, "fields": {"status": "open", "note": "original"}}


class Asked(NamedTuple):
    """A request to take an effect back: which one, by whom, whose it is, and what else decides.

    `rebuilt` is what the log gives without the effect. Times are seconds of the history's clock.
    """

    ident: str
    caller: Context
    owner: Context
    allowed: bool
    now: int
    expires: int
    consumed: bool
    rebuilt: Resource | None


class Answer(NamedTuple):
    """What a mechanism says and does; `consumed`: the receipt cannot act again."""

    status: str
    state: Any
    consumed: bool


class Mechanism(Protocol):
    """One way to keep resources and to take effects back."""

    def start(self, *, seeded: bool) -> Any:
        """Return the first state: the seeded resource, or nothing."""

    def act(self, state: Any, event: Event, ident: str, owner: Context, expires: int) -> tuple[Any, bool]:
        """Return the state after an agent's effect, and whether it was accepted (and so has a receipt)."""

    def peer(self, state: Any, event: Event, ident: str) -> tuple[Any, bool]:
        """Return the state after a peer's write, and whether it was accepted."""

    def recover(self, state: Any, asked: Asked) -> Answer:
        """Answer a request that names a receipt which exists."""

    def project(self, state: Any) -> Resource | None:
        """Return the state in the words that the oracles compare."""


class _Held(NamedTuple):
    resource: Resource | None
    receipts: Mapping[str, Receipt]


class Compared:
    """A policy of the comparison, perhaps without some of its guards."""

    def __init__(self, policy: Policy, omit: AbstractSet[str] = NOTHING) -> None:
        self._policy = policy
        self._omit = omit

    def start(self, *, seeded: bool) -> _Held:
        """See `Mechanism`."""
        return _Held(blank(GENERATION) if seeded else None, {})

    def act(self, state: _Held, event: Event, ident: str, owner: Context, expires: int) -> tuple[_Held, bool]:
        """See `Mechanism`."""
        receipt = forward(state.resource, event, ident, f"generation-{ident}", owner, expires)
        if receipt is None:
            return state, False
        return _Held(receipt.after, {**state.receipts, ident: receipt}), True

    def peer(self, state: _Held, event: Event, ident: str) -> tuple[_Held, bool]:
        """See `Mechanism`."""
        resource, accepted = write(state.resource, event, ident)
        return state._replace(resource=resource), accepted

    def recover(self, state: _Held, asked: Asked) -> Answer:
        """See `Mechanism`."""
        receipt = state.receipts[asked.ident]
        facts = Authority(asked.caller, asked.allowed, asked.now, asked.consumed)
        reason = authorise(facts, receipt, self._omit)
        if reason:
            return Answer(reason, state, asked.consumed)
        status, resource = transform(self._policy, state.resource, receipt, asked.rebuilt, self._omit)
        if status != COMPENSATED:
            return Answer(status, state, asked.consumed)
        return Answer(status, state._replace(resource=resource), consumed=True)

    def project(self, state: _Held) -> Resource | None:
        """See `Mechanism`."""
        return state.resource


class _Rows(NamedTuple):
    memory: Memory
    receipts: Mapping[str, types.Receipt]


class Kernel:
    """The production kernel over rows in memory; a receipt is used up once its effect is gone."""

    def start(self, *, seeded: bool) -> _Rows:
        """See `Mechanism`."""
        memory = Memory()
        if seeded:
            memory.apply(kernel.seed(memory, types.Effect("create", _NAME, BLANK), GENERATION))
        return _Rows(memory, {})

    def act(self, state: _Rows, event: Event, ident: str, owner: Context, expires: int) -> tuple[_Rows, bool]:
        """See `Mechanism`."""
        del owner, expires  # they come back with the request
        memory = state.memory.copy()
        try:
            generation, _, changes = kernel.forward(
                memory, change_of(event), types.agent(ident), f"generation-{ident}"
            )
        except types.Rejected:
            return state, False
        memory.apply(changes)
        receipt = types.Receipt(ident, event.op, generation)
        return _Rows(memory, {**state.receipts, ident: receipt}), True

    def peer(self, state: _Rows, event: Event, ident: str) -> tuple[_Rows, bool]:
        """See `Mechanism`."""
        memory = state.memory.copy()
        try:
            if event.op == "recreate" and memory.named(_NAME) is not None:
                memory.apply(kernel.delete(memory, _NAME))
            memory.apply(kernel.event(memory, change_of(event), types.peer(ident), ident))
        except types.Rejected:
            return state, False
        return state._replace(memory=memory), True

    def recover(self, state: _Rows, asked: Asked) -> Answer:
        """See `Mechanism`."""
        facts = kernel.Authority(
            types.Context(*asked.owner), asked.expires * 1000, asked.now * 1000, asked.allowed
        )
        if kernel.authorise(types.Context(*asked.caller), facts):
            return Answer(types.Outcome.REFUSED, state, asked.consumed)
        if asked.consumed:
            return Answer(types.Outcome.ALREADY_ABSENT, state, consumed=True)
        decision = kernel.recover(state.memory, state.receipts[asked.ident])
        gone = decision.outcome in {types.Outcome.COMPENSATED, types.Outcome.ALREADY_ABSENT}
        if not decision.changes:
            return Answer(decision.outcome, state, gone)
        memory = state.memory.copy()
        memory.apply(decision.changes)
        return Answer(decision.outcome, state._replace(memory=memory), gone)

    def project(self, state: _Rows) -> Resource | None:
        """See `Mechanism`."""
        memory = state.memory
        generation = memory.named(_NAME)
        row = None if generation is None else memory.resource(generation)
        if generation is None or row is None:
            return None
        fields = {}
        for field in _FIELDS:
            head = memory.head(generation, field) or ""
            version = memory.version(generation, field, head)
            fields[field] = Cell("" if version is None else version.value, ident_of(head))
        tables = memory.rows
        ledger, tags = tables[types.Table.CREDIT], tables[types.Table.TAG]
        return Resource(
            generation,
            row.rev,
            fields,
            {ident_of(writer): n for (home, writer), n in ledger.items() if home == generation},
            {ident_of(writer): who for (home, writer), who in tags.items() if home == generation},
            dict.fromkeys(KINDS, 0),
        )


def ident_of(writer: str) -> str:
    """Return the id that a writer of the store stands for; the opening is `initial`, as in the published state."""
    return INITIAL if writer == types.OPENING else writer.partition(":")[2]


def change_of(event: Event, name: str = _NAME) -> types.Effect:
    """Return a write of the histories as the kernel takes it; a new incarnation is a creation like any other."""
    if event.op == "set":
        return types.Effect("set", name, {"field": event.field, "value": event.text})
    if event.op == "add":
        return types.Effect("add", name, {"delta": event.delta})
    if event.op in {"grant", "revoke"}:
        return types.Effect(event.op, name, {"member": event.text})
    if event.op == "delete":
        return types.Effect("delete", name, {})
    return types.Effect("create", name, BLANK)
