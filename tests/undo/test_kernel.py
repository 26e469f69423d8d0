"""The kernel's rules one by one, over rows in memory: what each effect and event may not be, and receipts out of their time."""

import pytest
from tests.undo.conftest import EACH, add, create, grant, put, reserve

from undolab.undo.effects import MAX_AMOUNT, MAX_FIELDS
from undolab.undo.kernel import event, forward, recover, seed
from undolab.undo.memory import Memory
from undolab.undo.types import Effect, Outcome, Put, Receipt, Rejected, Table, agent, peer

BLANK = {"fields": {"status": "open", "note": "original"}, "opening": 10, "limit": 10}


def world() -> Memory:
    rows = Memory()
    for name in ("ticket", "till"):
        rows.apply(seed(rows, Effect("create", name, BLANK), f"g-{name}"))
    return rows


def transfer(amount: object, to: object = "till") -> Effect:
    return Effect("transfer", "ticket", {"to": to, "amount": amount})


def opening(**args: object) -> Effect:
    return Effect("create", "folder", args)


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (Effect("paint", "ticket", {}), "unsupported"),
        (put("status", "x", "nobody"), "missing"),
        (put("colour", "x"), "unknown_field"),
        (Effect("set", "ticket", {"field": "status"}), "arguments"),
        (Effect("set", "ticket", {"field": "status", "value": "v" * 65_537}), "text_required"),
        (Effect("add", "ticket", {"delta": True}), "integer_required"),
        (add(MAX_AMOUNT + 1), "integer_required"),
        (add(MAX_AMOUNT), "integer_required"),
        (add(-11), "invariant"),
        (Effect("update", "ticket", {"fields": {}}), "arguments"),
        (Effect("update", "ticket", {"fields": ["status"]}), "arguments"),
        (Effect("update", "ticket", {"fields": {str(n): "" for n in range(MAX_FIELDS + 1)}}), "arguments"),
        (transfer(1, "ticket"), "arguments"),
        (transfer(0), "arguments"),
        (transfer(11), "invariant"),
        (transfer(1, "nobody"), "missing"),
        (reserve(0), "arguments"),
        (reserve(11), "invariant"),
        (create("ticket"), "exists"),
        (create("*"), "reserved"),
        (opening(colour="red"), "arguments"),
        (opening(opening=-1), "invariant"),
        (opening(limit=-1), "invariant"),
        (opening(fields=["status"]), "arguments"),
        (opening(fields={str(n): "" for n in range(MAX_FIELDS + 1)}), "arguments"),
        (Effect("settle", "ticket", {"effect": "e"}), "no_reservation"),
        (Effect("delete", "nobody", {}), "missing"),
        (Effect("revoke", "ticket", {}), "text_required"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind} {str(value.args)[:30]}",
)
def test_what_the_rules_do_not_allow_is_named(effect: Effect, reason: str) -> None:
    """One word says which rule, and nothing of the rows changes."""
    rows = world()
    before = rows.copy()
    with pytest.raises(Rejected, match=f"^{reason}$"):
        event(rows, effect, peer("1"), "g-new")
    assert rows.rows == before.rows


@pytest.mark.parametrize(("generation", "reason"), [("", "text_required"), ("g-ticket", "generation_used")])
def test_a_creation_needs_a_generation_of_its_own(generation: str, reason: str) -> None:
    """None, or one that was used before, opens nothing."""
    with pytest.raises(Rejected, match=reason):
        forward(world(), create("folder"), agent("e"), generation)


def test_a_settled_reservation_is_not_settled_again() -> None:
    """It can be used once."""
    rows = world()
    rows.apply(forward(rows, reserve(4), agent("e"))[2])
    settle = Effect("settle", "ticket", {"effect": "e"})
    rows.apply(event(rows, settle, peer("1")))
    with pytest.raises(Rejected, match="no_reservation"):
        event(rows, settle, peer("2"))


@pytest.mark.parametrize("effect", EACH, ids=lambda effect: effect.kind)
def test_a_receipt_whose_effect_is_gone_changes_nothing_that_shows(effect: Effect) -> None:
    """Taken back a second time behind the store's back, nothing is taken twice: absent, superseded or half gone."""
    rows = world()
    generation, other, changes = forward(rows, effect, agent("e"), "g-new")
    rows.apply(changes)
    receipt = Receipt("e", effect.kind, generation, other)
    rows.apply(recover(rows, receipt).changes)
    if effect.kind in ("add", "reserve"):  # others' edits stand, or there would be none to take off
        rows.apply(event(rows, grant("peer"), peer("1")))
    again = recover(rows, receipt)
    assert again.outcome is not Outcome.COMPENSATED
    assert [put for put in again.changes if put.table is not Table.RESOURCE] == []
    if effect.kind in ("add", "reserve"):
        assert (again.outcome, again.reason) == (Outcome.ALREADY_ABSENT, "effect_absent")


@pytest.mark.parametrize(
    "receipt",
    [Receipt("e", "add", "g-never"), Receipt("e", "paint", "g-ticket")],
    ids=lambda receipt: receipt.kind,
)
def test_a_receipt_of_nothing_known_is_refused(receipt: Receipt) -> None:
    """A generation or a kind that this version does not know is left alone."""
    assert recover(world(), receipt).reason == "unsupported"


def test_a_transfer_with_both_ledgers_gone_is_already_absent() -> None:
    """With one of them gone it stands."""
    rows = world()
    generation, other, changes = forward(rows, transfer(4), agent("e"))
    rows.apply(changes)
    receipt = Receipt("e", "transfer", generation, other)
    for name, outcome in (("ticket", Outcome.REFUSED), ("till", Outcome.ALREADY_ABSENT)):
        rows.apply(event(rows, Effect("delete", name, {}), peer(name)))
        assert recover(rows, receipt).outcome is outcome


def test_a_name_without_a_living_incarnation_has_nothing_to_write_to() -> None:
    """The kernel asks the row itself, whatever a view says of the name."""
    rows = world()
    rows.apply([Put(Table.NAME, ("ghost",), "g-none")])
    with pytest.raises(Rejected, match="missing"):
        forward(rows, add(1, "ghost"), agent("e"))


def test_a_full_ledger_takes_no_more_back() -> None:
    """A sum beyond 2**53 is refused like one below the floor, for an amount and for a transfer."""
    for effect in (add(-4), transfer(4)):
        rows = world()
        generation, other, changes = forward(rows, effect, agent("e"))
        rows.apply(changes)
        rows.apply(event(rows, add(MAX_AMOUNT - 8), peer("1")))
        assert recover(rows, Receipt("e", effect.kind, generation, other)).reason == "invariant"
