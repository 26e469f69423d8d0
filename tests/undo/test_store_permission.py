"""Who may recover what: rules by kind and resource, and a person who is asked."""

from pathlib import Path
from typing import Any

import pytest
from tests.undo.conftest import EACH, ME, PEER, REFUSED, UNDONE, Clock, add, last_reason

from undolab.model.errors import UndolabError
from undolab.undo.shell import Found, Listed
from undolab.undo.store import Store
from undolab.undo.types import Context


def test_nothing_is_allowed_until_it_is_said(store: Store) -> None:
    """Opening a resource or writing an effect gives no right to undo."""
    other = ME._replace(principal="newcomer")
    receipt = store.forward(other, add(4))
    assert store.recover(other, receipt.id) == REFUSED
    assert last_reason(store) == "permission"


@pytest.mark.parametrize(
    ("kind", "resource", "stops"),
    [
        ("*", "*", True),
        ("add", "*", True),
        ("*", "ticket", True),
        ("add", "ticket", True),
        ("set", "*", False),
        ("*", "x", False),
    ],
)
def test_the_strictest_matching_rule_holds(store: Store, kind: str, resource: str, stops: bool) -> None:
    """A denial for the kind, the resource or both wins over a general permission; others do not touch it."""
    receipt = store.forward(ME, add(4))
    store.permit("acme", "agent", "deny", kind=kind, resource=resource)
    assert (store.recover(ME, receipt.id) == REFUSED) is stops


def test_a_rule_that_could_never_match_is_an_error(store: Store) -> None:
    """A mistyped kind or rule would only seem to protect."""
    with pytest.raises(UndolabError, match="no kind 'ad'; say"):
        store.permit("acme", "agent", "deny", kind="ad")
    with pytest.raises(UndolabError, match="no rule 'denied'; say"):
        store.permit("acme", "agent", "denied")  # type: ignore[arg-type]
    for name in ("n" * 201, "a\0b"):
        with pytest.raises(UndolabError, match="no resource can have this name; say"):
            store.permit("acme", "agent", "deny", resource=name)


def test_approval_is_asked_outside_the_lock(database: Path | str, store: Store) -> None:
    """The hook hears who and what, may itself use the database, and decides; without a hook the answer is no."""
    store.permit("acme", "agent", "approve", kind="add")
    first, second = store.forward(ME, add(1)), store.forward(ME, add(2))
    assert store.preview(ME, first.id) == store.recover(ME, first.id) == REFUSED
    assert last_reason(store) == "approval"
    assert store.recover_run(ME, dry_run=True).stands == store.recover_run(ME).stands == (first.id, second.id)
    asked: list[tuple[Context, Listed]] = []

    def hook(context: Context, effect: Listed) -> bool:
        asked.append((context, effect))
        other = Store.open(database)
        other.peer(PEER, f"during-{len(asked)}", add(1))
        other.close()
        return effect.id == second.id

    with_hook = Store.open(database, approval=hook)
    assert with_hook.preview(ME, first.id) == UNDONE
    assert asked == []
    assert with_hook.recover(ME, first.id) == REFUSED
    report = with_hook.recover_run(ME)
    assert report.stands == (first.id,)
    assert asked[0] == (ME, Listed(first.id, "add", "ticket", "live"))
    with_hook.close()


def test_a_permission_withdrawn_before_the_lock_counts(database: Path | str, store: Store) -> None:
    """The check is made again under the lock: an approval cannot outlive a denial given meanwhile."""
    store.permit("acme", "agent", "approve", kind="add")
    receipt = store.forward(ME, add(1))

    def hook(_context: Context, _effect: Listed) -> bool:
        store.permit("acme", "agent", "deny", kind="add")
        return True

    with_hook = Store.open(database, approval=hook)
    assert with_hook.recover(ME, receipt.id) == REFUSED
    with_hook.close()
    assert store.show("acme", "ticket")["balance"] == 11


def test_a_rule_to_ask_that_comes_before_the_lock_is_obeyed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was allowed without asking when it was looked at is refused if by now somebody must be asked."""
    receipt = store.forward(ME, add(1))
    look = store._approved

    def then_the_rule_changes(found: Found | None) -> bool:
        answer = look(found)
        store.permit("acme", "agent", "approve", kind="add")
        return answer

    monkeypatch.setattr(store, "_approved", then_the_rule_changes)
    assert store.recover(ME, receipt.id) == REFUSED
    assert store.recover_run(ME).stands == (receipt.id,)


def test_a_transfer_needs_permission_for_both_its_resources(store: Store) -> None:
    """Taking it back takes money from the other ledger too: a rule for either holds, and a gap is a denial."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, EACH[5])
    store.permit("acme", "agent", "deny", resource="till")
    assert store.preview(ME, receipt.id) == store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "permission"
    store.permit("acme", "agent", "approve", resource="till")
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "approval"
    other = ME._replace(principal="clerk")
    store.permit("acme", "clerk", "allow", resource="ticket")
    second = store.forward(other, EACH[5])
    assert store.recover(other, second.id) == REFUSED
    store.permit("acme", "clerk", "allow", resource="till")
    assert store.recover(other, second.id) == UNDONE


async def _asks_later(_context: Context, _effect: Listed) -> bool:
    return False


@pytest.mark.parametrize("hook", [_asks_later, lambda _c, _e: "no", lambda _c, _e: 1, lambda _c, _e: None])
@pytest.mark.filterwarnings("ignore:coroutine")
def test_only_true_is_a_yes(database: Path | str, store: Store, hook: Any) -> None:
    """A hook that answers with a coroutine or with the word no has not approved."""
    store.permit("acme", "agent", "approve")
    receipt = store.forward(ME, add(1))
    with_hook = Store.open(database, approval=hook)
    assert with_hook.recover(ME, receipt.id) == REFUSED
    assert with_hook.recover_run(ME).stands == (receipt.id,)
    with_hook.close()


def test_nobody_is_asked_in_vain(database: Path | str, store: Store, clock: Clock) -> None:
    """A person is asked neither about one effect that has expired nor about a run's."""
    store.permit("acme", "agent", "approve")
    old, new = store.forward(ME, add(1), ttl_ms=5), store.forward(ME, add(2))
    clock.now += 5
    asked: list[str] = []

    def hook(_context: Context, effect: Listed) -> bool:
        asked.append(effect.id)
        return True

    with_hook = Store.open(database, approval=hook, clock=clock)
    assert with_hook.recover(ME, old.id) == REFUSED
    assert with_hook.recover_run(ME).stands == (old.id,)
    assert asked == [new.id]
    with_hook.close()
