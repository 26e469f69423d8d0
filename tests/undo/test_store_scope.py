"""Whose effect it is, and what may name it: contexts, ids and names, whatever a hostile caller puts there."""

from typing import Any

import pytest
from tests.undo.conftest import EACH, ME, PEER, REFUSED, UNDONE, add, create, everything, put

from undolab.model.errors import UndolabError
from undolab.undo.store import Store
from undolab.undo.types import Context, Effect, Rejected


@pytest.mark.parametrize("part", Context._fields)
@pytest.mark.parametrize("effect", EACH, ids=lambda effect: effect.kind)
def test_only_the_whole_context_opens_a_receipt(store: Store, effect: Effect, part: str) -> None:
    """One part that differs is enough; the answer is that of an id that does not exist, and the audit has the reason."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, effect)
    stranger = ME._replace(**{part: "other"})
    store.permit(stranger.tenant, stranger.principal, "allow")
    rows = everything(store)
    assert store.recover(stranger, receipt.id) == store.recover(stranger, "no-such-receipt") == REFUSED
    assert store.preview(stranger, receipt.id) == store.preview(stranger, "no-such-receipt") == REFUSED
    assert [entry.reason for entry in store.audit_entries()[-2:]] == ["scope", "unknown_receipt"]
    assert everything(store) == rows
    assert store.recover_run(stranger).effects == ()


@pytest.mark.parametrize(
    "ident",
    [
        "",
        "x" * 10_000,
        "' OR 1=1 --",
        "a\0b",
        "\ud800",
        "é",
        "..",
        "%",
        "a b",
        'x"; DROP TABLE receipts; --',
        "id\n",
    ],
)
def test_malformed_ids_are_refused_like_unknown_ones(store: Store, ident: str) -> None:
    """No id is put into a statement, and the audit keeps a short digest of a malformed one, whatever its length."""
    store.forward(ME, add(4))
    rows = everything(store)
    assert store.recover(ME, ident) == store.preview(ME, ident) == REFUSED
    entry = store.audit_entries()[-1]
    assert (entry.reason, len(entry.receipt)) == ("invalid_id", 17)
    assert everything(store) == rows


def test_something_that_is_no_text_is_no_id(store: Store) -> None:
    """A number or a list in the place of an id is refused, not an error."""
    assert store.recover(ME, 7) == store.recover(ME, ["x"]) == REFUSED  # type: ignore[arg-type]


def test_values_are_parameters(store: Store) -> None:
    """Names and values that look like SQL are only text."""
    name = "x'); DROP TABLE receipts; --"
    store.seed("acme", name, {"fields": {name: name}})
    receipt = store.forward(ME, put(name, name + name, name))
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", name)["fields"] == {name: name}


def test_a_malformed_context_is_the_hosts_fault(store: Store) -> None:
    """An empty or endless tenant stops the host with a sentence; it is no refusal to an agent."""
    for part in ("", "x" * 201, "a\nb"):
        with pytest.raises(UndolabError, match="the tenant must be"):
            store.recover(ME._replace(tenant=part), "x")


@pytest.mark.parametrize("name", [7, "\ud800", "a\0b", "n" * 201, None])
def test_a_name_that_no_store_can_hold_is_rejected(store: Store, name: Any) -> None:
    """Host, agent and peer alike hear the rule; nothing reaches the database."""
    with pytest.raises(Rejected):
        store.seed("acme", name, {})
    for effect in (Effect("set", name, {"field": "status", "value": "x"}), Effect("create", name, {})):
        with pytest.raises(Rejected):
            store.forward(ME, effect)
        with pytest.raises(Rejected):
            store.peer(PEER, "1", effect)


def test_no_resource_is_called_like_the_rule_for_all(store: Store) -> None:
    """Else a permission for the one thing named * would be one for everything."""
    for call in (lambda: store.seed("acme", "*", {}), lambda: store.forward(ME, create("*"))):
        with pytest.raises(Rejected, match="reserved"):
            call()


def test_ids_of_effects_peers_and_the_opening_never_meet(store: Store) -> None:
    """An effect, a peer's event and the opening may carry the same id and stay three rows."""
    for ident in ("o", "initial", "x"):
        receipt = store.forward(ME, add(4), effect_id=ident)
        store.peer(PEER, ident, add(1))
        assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "ticket")["balance"] == 13
    with pytest.raises(Rejected, match="id_used"):
        store.peer(PEER, "x", add(1))
    with pytest.raises(Rejected, match=r"^id$"):
        store.peer(PEER, "a b", add(1))
    with pytest.raises(Rejected, match=r"^id$"):
        store.forward(ME, add(1), effect_id="a:b")


def test_what_shows_of_nothing_is_none(store: Store) -> None:
    """A name that nobody has shows nothing, in this tenant or another."""
    assert store.show("acme", "none") is None
    assert store.show("other", "ticket") is None


def test_a_long_list_says_that_there_is_more(store: Store) -> None:
    """The newest effects come first, and what was left off is said."""
    receipts = [store.forward(ME, add(1)) for _ in range(3)]
    listed, more = store.effects(ME, limit=2)
    assert ([item.id for item in listed], more) == ([receipts[2].id, receipts[1].id], True)
    assert store.effects(ME)[1] is False


@pytest.mark.parametrize(
    "odd",
    [
        Effect(["add"], "ticket", {"delta": 1}),  # type: ignore[arg-type]
        Effect(7, "ticket", {}),  # type: ignore[arg-type]
        Effect("\ud800", "ticket", {}),
        Effect("add", "ticket", None),  # type: ignore[arg-type]
        Effect("create", "folder", ["fields"]),  # type: ignore[arg-type]
        Effect("revoke", "ticket", None),  # type: ignore[arg-type]
        Effect("update", "ticket", {"fields": {7: "x"}}),
        Effect("update", "ticket", {"fields": {"a\0b": "x"}}),
        Effect("update", "ticket", {"fields": {"\ud800": "x"}}),
        Effect("update", "ticket", {"fields": {"f" * 201: "x"}}),
    ],
    ids=lambda effect: ascii(effect)[:40],
)
def test_an_odd_request_is_rejected_and_never_an_error(store: Store, odd: Effect) -> None:
    """Whatever a model put into a request: agent and peer hear the rule, both leave a row, and nothing is written."""
    store.seed("acme", "numbers", {"fields": {"7": "x"}})
    rows = everything(store)
    with pytest.raises(Rejected):
        store.forward(ME, odd)
    with pytest.raises(Rejected):
        store.peer(PEER, "1", odd)
    assert [entry.outcome for entry in store.audit_entries()[-2:]] == ["rejected", "rejected"]
    assert everything(store) == rows


def test_a_field_is_never_another_because_a_number_reads_like_it(store: Store) -> None:
    """The number 7 is not the field called 7, whatever the database would make of it."""
    store.seed("acme", "numbers", {"fields": {"7": "x"}})
    with pytest.raises(Rejected, match="text_required"):
        store.peer(PEER, "1", Effect("update", "numbers", {"fields": {7: "y"}}))
    assert store.show("acme", "numbers")["fields"] == {"7": "x"}


def test_arguments_nested_without_end_are_rejected(store: Store) -> None:
    """They have no digest, and the stack's end is no error of the host's."""
    nested: list[Any] = []
    nested.append(nested)
    with pytest.raises(Rejected, match="arguments"):
        store.forward(ME, Effect("add", "ticket", {"delta": nested}))


@pytest.mark.parametrize("name", [7, "\ud800", "a\0b"])
def test_a_name_that_no_store_can_hold_shows_nothing(store: Store, name: Any) -> None:
    """Both back ends say the same."""
    with pytest.raises(Rejected, match="text_required"):
        store.show("acme", name)
    with pytest.raises(Rejected, match="text_required"):
        store.show(name, "ticket")
