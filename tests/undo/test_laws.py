"""The laws of every entry of the registry, on the kernel alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.undo.effects import alive
from undolab.undo.kernel import event, forward, recover, seed
from undolab.undo.memory import Memory
from undolab.undo.registry import EFFECTS
from undolab.undo.types import Decision, Effect, Outcome, Receipt, Rejected, Table, agent, peer

_texts = st.sampled_from(["open", "triage", "closed"])
_fields = st.sampled_from(["status", "note"])
_amounts = st.integers(1, 6)
_ARGS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "set": st.fixed_dictionaries({"field": _fields, "value": _texts}),
    "add": st.fixed_dictionaries({"delta": st.integers(-6, 6)}),
    "grant": st.fixed_dictionaries({"member": st.sampled_from(["ann", "bob"])}),
    "create": st.fixed_dictionaries({"opening": st.integers(0, 3), "fields": st.just({"status": "new"})}),
    "update": st.fixed_dictionaries({"fields": st.dictionaries(_fields, _texts, min_size=1)}),
    "transfer": st.fixed_dictionaries({"to": st.just("b"), "amount": _amounts}),
    "reserve": st.fixed_dictionaries({"amount": _amounts}),
}
effects = st.sampled_from(sorted(_ARGS)).flatmap(
    lambda kind: st.builds(Effect, st.just(kind), st.just("c" if kind == "create" else "a"), _ARGS[kind])
)
events = st.one_of(
    effects.filter(lambda effect: effect.kind != "create"),
    st.builds(
        Effect,
        st.just("revoke"),
        st.just("a"),
        st.fixed_dictionaries({"member": st.sampled_from(["ann", "bob"])}),
    ),
)


def world() -> Memory:
    made = Memory()
    args = {"fields": {"status": "open", "note": "original"}, "opening": 10, "limit": 10}
    for name in "ab":
        made.apply(seed(made, Effect("create", name, args), f"g-{name}"))
    return made


def play(rows: Memory, change: Effect, ident: str) -> Receipt | None:
    try:
        first, second, changes = forward(rows, change, agent(ident), "g-new")
    except Rejected:
        return None
    rows.apply(changes)
    return Receipt(ident, change.kind, first, second)


def play_peers(rows: Memory, word: list[Effect], prefix: str = "") -> None:
    for number, change in enumerate(word):
        try:
            rows.apply(event(rows, change, peer(f"{prefix}{number}"), f"g-{prefix}{number}"))
        except Rejected:
            continue


def shows(rows: Memory, *, revisions: bool = False) -> dict[Table, dict[Any, Any]]:
    """Every row; without revisions, which count writes and therefore never come back. Tombstones do not show."""
    found = {table: dict(items) for table, items in rows.rows.items()}
    living = {key: row for key, row in found[Table.RESOURCE].items() if row.alive}
    found[Table.RESOURCE] = living if revisions else {key: row._replace(rev=0) for key, row in living.items()}
    return found


def check_invariants(rows: Memory) -> None:
    for (generation,), row in rows.rows[Table.RESOURCE].items():
        if not row.alive:
            continue
        credits_ = [amount for (g, _), amount in rows.rows[Table.CREDIT].items() if g == generation]
        holds = [hold.amount for (g, _), hold in rows.rows[Table.HOLD].items() if g == generation]
        assert row.balance == sum(credits_) >= row.floor
        assert row.held == sum(holds) <= row.limit
        assert row.edits >= 0


def test_every_entry_of_the_registry_is_under_these_laws() -> None:
    """A new effect type cannot be added without arguments for the laws."""
    assert set(_ARGS) == set(EFFECTS)


@given(effects)
def test_inverse(effect: Effect) -> None:
    """Forward and back leaves every row as it was, but for the count of revisions."""
    rows = world()
    before = shows(rows)
    receipt = play(rows, effect, "e")
    if receipt is None:
        assert shows(rows) == before
        return
    decision = recover(rows, receipt)
    rows.apply(decision.changes)
    assert decision.outcome is Outcome.COMPENSATED
    assert shows(rows) == before


@given(effects, st.lists(events, max_size=5), st.lists(events, max_size=5))
def test_recovery_leaves_the_peers_rows_alone(
    effect: Effect, before: list[Effect], after: list[Effect]
) -> None:
    """No row of another writer changes, whatever came before and after; only the pointer to the shown value may move."""
    rows = world()
    play_peers(rows, before, "b")
    receipt = play(rows, effect, "e")
    if receipt is None:
        return
    play_peers(rows, after, "a")
    was = shows(rows)
    decision = recover(rows, receipt)
    rows.apply(decision.changes)
    now = shows(rows)
    own = agent("e")
    for table in (Table.VERSION, Table.CREDIT, Table.TAG, Table.HOLD):
        if effect.kind == "create":
            continue
        others = {key: row for key, row in was[table].items() if key[-1] != own}
        assert {key: row for key, row in now[table].items() if key[-1] != own} == others
    for key, writer in was[Table.HEAD].items():
        if writer != own and effect.kind != "create":
            assert now[Table.HEAD][key] == writer
    check_invariants(rows)


@given(effects, st.lists(events, max_size=6))
def test_recovery_commutes_with_independent_effects(effect: Effect, word: list[Effect]) -> None:
    """Where it succeeds, and every event of the peers was possible without the effect, it is as if it never was."""
    rows, without = world(), world()
    receipt = play(rows, effect, "e")
    if receipt is None:
        return
    for number, change in enumerate(word):
        results = []
        for side in (rows, without):
            try:
                changes = event(side, change, peer(str(number)), f"g{number}")
            except Rejected as error:
                results.append(str(error))
            else:
                results.append("")
                side.apply(changes)
        if results[0] != results[1]:
            return  # the effect decided what the peer could do: not independent
    decision = recover(rows, receipt)
    rows.apply(decision.changes)
    if decision.outcome is Outcome.COMPENSATED:
        assert shows(rows) == shows(without)


@given(
    st.lists(
        st.one_of(
            effects.map(lambda e: ("do", e)), events.map(lambda e: ("peer", e)), st.just(("undo", None))
        )
    )
)
def test_no_sequence_breaks_an_invariant(steps: list[tuple[str, Effect | None]]) -> None:
    """Sums equal their rows, balances stay above the floor and holds within the limit, after every step."""
    rows = world()
    live: list[Receipt] = []
    for number, (what, change) in enumerate(steps):
        if what == "undo" and live:
            receipt = live.pop(0)
            decision = recover(rows, receipt)
            rows.apply(decision.changes)
        elif what == "do" and change is not None:
            live += [found for found in [play(rows, change, f"e{number}")] if found]
        elif what == "peer" and change is not None:
            play_peers(rows, [change], f"p{number}-")
        check_invariants(rows)


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("set", {"field": "status"}),
        ("set", {"field": "no such field", "value": "x"}),
        ("set", {"field": "status", "value": "\ud800"}),
        ("set", {"field": "status", "value": "x" * 65_537}),
        ("add", {"delta": True}),
        ("add", {"delta": 1.0}),
        ("add", {"delta": 2**53}),
        ("add", {"delta": -11}),
        ("add", {"delta": 2**53 - 1}),
        ("grant", {"member": 7}),
        ("grant", {"member": "ann", "more": 1}),
        ("create", {}),
        ("update", {"fields": {}}),
        ("update", {"fields": ["status"]}),
        ("transfer", {"to": "nowhere", "amount": 1}),
        ("transfer", {"to": "a", "amount": 1}),
        ("transfer", {"to": "b", "amount": 0}),
        ("transfer", {"to": "b", "amount": 11}),
        ("reserve", {"amount": 0}),
        ("reserve", {"amount": 11}),
        ("rename", {}),
    ],
)
def test_what_the_rules_do_not_allow_is_rejected(kind: str, args: dict[str, Any]) -> None:
    """Wrong arguments, broken invariants and unknown kinds change nothing and say which rule it was."""
    rows = world()
    with pytest.raises(Rejected, match=r"^[a-z_]+$"):
        forward(rows, Effect(kind, "a", args), agent("e"), "g-new")


@pytest.mark.parametrize(
    ("args", "generation", "rule"),
    [
        ({"opening": -1}, "g", "invariant"),
        ({"limit": -1}, "g", "invariant"),
        ({"colour": "red"}, "g", "arguments"),
        ({"fields": "status"}, "g", "arguments"),
        ({"fields": {"status": 1}}, "g", "text_required"),
        ({}, "g-a", "generation_used"),
        ({}, "", "text_required"),
        ({}, "g" * 65, "text_required"),
    ],
)
def test_a_creation_is_checked(args: dict[str, Any], generation: str, rule: str) -> None:
    """A creation keeps its own invariants, and no generation comes back, even another tenant's or a buried one."""
    with pytest.raises(Rejected, match=rule):
        forward(world(), Effect("create", "new", args), agent("e"), generation)


@pytest.mark.parametrize("kind", ["add", "grant", "reserve", "set"])
def test_an_effect_without_rows_is_not_taken_back_again(kind: str) -> None:
    """The kernel itself finds nothing to take back a second time, even if a store forgot the first."""
    args: dict[str, dict[str, Any]] = {
        "add": {"delta": 1},
        "grant": {"member": "ann"},
        "reserve": {"amount": 1},
        "set": {"field": "note", "value": "x"},
    }
    rows = world()
    receipt = play(rows, Effect(kind, "a", args[kind]), "e")
    assert receipt is not None
    rows.apply(recover(rows, receipt).changes)
    again = recover(rows, receipt).outcome
    assert again is (Outcome.SUPERSEDED if kind == "set" else Outcome.ALREADY_ABSENT)


def test_a_receipt_of_nothing_known_is_refused() -> None:
    """A kind that the registry lacks, or a generation never seen, is refused and not guessed at."""
    for receipt in (Receipt("e", "rename", "g-a"), Receipt("e", "set", "g-never")):
        assert recover(world(), receipt) == Decision(Outcome.REFUSED, "unsupported")


def test_a_buried_incarnation_takes_no_more_writes() -> None:
    """A writer that still holds the old generation is rejected."""
    rows = world()
    play_peers(rows, [Effect("delete", "a", {})])
    for generation in ("g-a", "g-never"):
        with pytest.raises(Rejected, match="missing"):
            alive(rows, generation)


def test_a_balance_beyond_53_bits_is_rejected() -> None:
    """A sum stays exact in every reader of JSON."""
    with pytest.raises(Rejected, match="integer_required"):
        forward(world(), Effect("add", "a", {"delta": 2**53 - 1}), agent("e"))
