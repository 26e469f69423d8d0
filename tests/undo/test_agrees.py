"""The store does what the kernel says, in any order of effects, peers, recoveries, permissions and time."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.undo.cluster import Cluster
from tests.undo.conftest import Clock, empty

from undolab.undo import database
from undolab.undo.kernel import Authority, authorise, event, forward, recover, seed
from undolab.undo.memory import Memory
from undolab.undo.run import SETTLED, plan
from undolab.undo.store import Answer, Store
from undolab.undo.types import Context, Effect, Outcome, Receipt, Rejected, Table, agent, peer

CONTEXTS = [
    Context("t", "ann", "r1"),
    Context("t", "ann", "r2"),
    Context("t", "bob", "r1"),
    Context("u", "ann", "r1"),
]
contexts = st.sampled_from(CONTEXTS)
names = st.sampled_from(["a", "b", "c"])
fields = st.sampled_from(["status", "note"])
values = st.sampled_from(["x", "y"])
BLANK = {"fields": {"status": "open", "note": "none"}, "opening": 5, "limit": 5}
effects = st.one_of(
    st.builds(lambda n, f, v: Effect("set", n, {"field": f, "value": v}), names, fields, values),
    st.builds(lambda n, d: Effect("add", n, {"delta": d}), names, st.integers(-4, 4)),
    st.builds(lambda n, m: Effect("grant", n, {"member": m}), names, values),
    st.builds(lambda n: Effect("create", n, BLANK), names),
    st.builds(lambda n, v: Effect("update", n, {"fields": {"status": v, "note": v}}), names, values),
    st.builds(lambda n, o, d: Effect("transfer", n, {"to": o, "amount": d}), names, names, st.integers(1, 4)),
    st.builds(lambda n, d: Effect("reserve", n, {"amount": d}), names, st.integers(1, 4)),
)
events = st.one_of(
    effects,
    st.builds(lambda n, m: Effect("revoke", n, {"member": m}), names, values),
    st.builds(lambda n: Effect("delete", n, {}), names),
    st.builds(lambda n, i: Effect("settle", n, {"effect": f"e{i}"}), names, st.integers(0, 8)),
)


class Agreement(RuleBasedStateMachine):
    """The model: one Memory a tenant, and plain dicts for owners, outcomes, permissions and expiry."""

    def __init__(self, url: str = "") -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        target = url or Path(self.folder.name) / "u.db"
        self.clock = Clock()
        self.time = 0
        if not url:
            database.create(target)
        self.store = Store.open(target, clock=self.clock)
        self.sqlite = not url
        if self.sqlite:
            self.store._db.execute("PRAGMA synchronous=OFF")
        self.rows = {"t": Memory(), "u": Memory()}
        self.receipts: dict[str, tuple[Receipt, Context, int]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.allowed: dict[tuple[str, str, str], str] = {}
        self.resources: dict[str, str] = {}
        self.count = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @initialize()
    def open_two(self) -> None:
        for tenant, rows in self.rows.items():
            for name in "ab":
                self.store.seed(tenant, name, BLANK, generation=f"g-{tenant}-{name}")
                rows.apply(seed(rows, Effect("create", name, BLANK), f"g-{tenant}-{name}"))

    def ident(self) -> str:
        self.count += 1
        return f"e{self.count - 1}"

    @rule(context=contexts, effect=effects, ttl=st.integers(1, 50))
    def do(self, context: Context, effect: Effect, ttl: int) -> None:
        ident, rows = self.ident(), self.rows[context.tenant]
        self.time = max(self.time, self.clock.now)
        try:
            first, second, changes = forward(rows, effect, agent(ident), f"g-{ident}")
        except Rejected as error:
            self.same_rejection(
                error, lambda: self.store.forward(context, effect, effect_id=ident, generation=f"g-{ident}")
            )
            return
        rows.apply(changes)
        made = self.store.forward(context, effect, effect_id=ident, generation=f"g-{ident}", ttl_ms=ttl)
        assert made == Receipt(ident, effect.kind, first, second)
        self.receipts[ident] = made, context, self.time + ttl
        self.resources[ident] = effect.name

    @rule(context=contexts, change=events)
    def peer(self, context: Context, change: Effect) -> None:
        ident, rows = self.ident(), self.rows[context.tenant]
        self.time = max(self.time, self.clock.now)
        try:
            changes = event(rows, change, peer(ident), f"g-{ident}")
        except Rejected as error:
            self.same_rejection(
                error, lambda: self.store.peer(context, ident, change, generation=f"g-{ident}")
            )
            return
        rows.apply(changes)
        self.store.peer(context, ident, change, generation=f"g-{ident}")

    def same_rejection(self, expected: Rejected, call: Any) -> None:
        with pytest.raises(Rejected) as found:
            call()
        assert str(found.value) == str(expected)

    @rule(
        context=contexts, rule_=st.sampled_from(["allow", "deny"]), kind=st.sampled_from(["*", "set", "add"])
    )
    def permit(self, context: Context, rule_: Any, kind: str) -> None:
        self.time = max(self.time, self.clock.now)
        self.store.permit(context.tenant, context.principal, rule_, kind=kind)
        self.allowed[context.tenant, context.principal, kind] = rule_

    @rule(move=st.integers(-30, 30))
    def tick(self, move: int) -> None:
        self.clock.now = max(0, self.clock.now + move)

    def reason(self, context: Context, ident: str, now: int) -> str:
        if ident not in self.receipts:
            return authorise(context, None)
        receipt, owner, expires = self.receipts[ident]
        rules = {self.allowed.get((owner.tenant, owner.principal, kind)) for kind in ("*", receipt.kind)} - {
            None
        }
        return authorise(context, Authority(owner, expires, now, rules == {"allow"}))

    def decide(self, context: Context, ident: str) -> tuple[Answer, tuple[Any, ...]]:
        if ident in self.outcomes and self.receipts[ident][1] == context:
            return Answer(self.outcomes[ident], repeated=True), ()
        if self.reason(context, ident, max(self.time, self.clock.now)):
            return Answer(Outcome.REFUSED), ()
        decision = recover(self.rows[context.tenant], self.receipts[ident][0])
        return Answer(decision.outcome), decision.changes

    @rule(context=contexts, number=st.integers(0, 12))
    def preview(self, context: Context, number: int) -> None:
        assert self.store.preview(context, f"e{number}") == self.decide(context, f"e{number}")[0]

    @rule(context=contexts, number=st.integers(0, 12))
    def undo(self, context: Context, number: int) -> None:
        ident = f"e{number}"
        self.time = max(self.time, self.clock.now)
        expected, changes = self.decide(context, ident)
        assert self.store.recover(context, ident) == expected
        self.rows[context.tenant].apply(changes)
        if expected.outcome in SETTLED and not expected.repeated:
            self.outcomes[ident] = expected.outcome

    @rule(context=contexts)
    def undo_run(self, context: Context) -> None:
        self.time = max(self.time, self.clock.now)
        live = [
            i for i, (_, owner, _) in self.receipts.items() if owner == context and i not in self.outcomes
        ]
        open_ones = [i for i in live if not self.reason(context, i, self.time)]
        expected = plan(self.rows[context.tenant], [self.receipts[i][0] for i in open_ones])
        dry = self.store.recover_run(context, dry_run=True)
        done = self.store.recover_run(context)
        assert done.effects == dry.effects
        assert [(x.id, x.state) for x in done.effects[: len(expected)]] == [
            (item.receipt.id, item.decision.outcome.value) for item in expected
        ]
        assert {x.id for x in done.effects[len(expected) :]} == set(live) - set(open_ones)
        for item in expected:
            self.rows[context.tenant].apply(item.decision.changes)
            if item.decision.outcome in SETTLED:
                self.outcomes[item.receipt.id] = item.decision.outcome

    @invariant()
    def rows_agree(self) -> None:
        for tenant, rows in self.rows.items():
            assert stored(self.store, tenant) == {
                table: found for table, found in rows.rows.items() if table is not Table.NAME
            }

    @invariant()
    def chain_holds(self) -> None:
        assert self.store.audit_problems() == []
        if self.sqlite:
            assert self.store._db.execute("PRAGMA foreign_key_check").fetchall() == []


def stored(store: Store, tenant: str) -> dict[Table, dict[Any, Any]]:
    """Read every row of a tenant straight from the tables, without the class under test."""
    db = store._db
    generations = dict(
        db.execute("SELECT id, generation FROM incarnations WHERE tenant = ?", (tenant,)).fetchall()
    )
    found: dict[Table, dict[Any, Any]] = {}
    for table, name, keys in (
        (Table.HEAD, "heads", 2),
        (Table.VERSION, "versions", 3),
        (Table.CREDIT, "credits", 2),
        (Table.TAG, "tags", 2),
        (Table.HOLD, "holds", 2),
    ):
        rows = [row for row in db.execute(f"SELECT * FROM {name}") if row[0] in generations]
        found[table] = {
            (generations[row[0]], *row[1:keys]): row[keys:] if len(row) - keys > 1 else row[keys]
            for row in rows
        }
    sql = 'SELECT generation, name, rev, edits, balance, floor, held, "limit", alive FROM incarnations WHERE tenant = ?'
    found[Table.RESOURCE] = {(row[0],): row[1:] for row in db.execute(sql, (tenant,))}
    return found


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


def test_the_store_in_postgresql_agrees_too(cluster: Cluster) -> None:
    """The same machine over the other back end."""
    run_state_machine_as_test(
        lambda: Agreement(empty(cluster)),
        settings=settings(max_examples=6, stateful_step_count=30, deadline=None),
    )
