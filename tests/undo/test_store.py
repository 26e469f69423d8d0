"""One effect at a time through the store: outcomes, scope, permission, time, ids, audit."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.undo.conftest import EACH, ME, PEER, Clock, add, create, grant, only_sqlite, put, reserve

from undolab.model.errors import UndolabError
from undolab.undo import audit, schema
from undolab.undo.shell import Found, Listed
from undolab.undo.store import Answer, Store
from undolab.undo.types import Context, Effect, Outcome, Rejected

REFUSED = Answer(Outcome.REFUSED)
UNDONE = Answer(Outcome.COMPENSATED)


def last_reason(store: Store) -> str:
    return store.audit_entries()[-1].reason


def everything(store: Store) -> list[tuple[object, ...]]:
    tables = ("incarnations", "versions", "heads", "credits", "tags", "holds", "receipts")
    return [row for table in tables for row in store._db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]


@pytest.mark.parametrize("effect", EACH, ids=lambda effect: effect.kind)
def test_each_kind_is_taken_back_once(store: Store, effect: Effect) -> None:
    """What shows is as before; a repeat answers with the first outcome and changes nothing (B27)."""
    store.seed("acme", "till", {})
    before = store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")
    receipt = store.forward(ME, effect)
    assert (store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")) != before
    assert store.preview(ME, receipt.id) == UNDONE
    assert store.recover(ME, receipt.id) == UNDONE
    assert (store.show("acme", "ticket"), store.show("acme", "till"), store.show("acme", "folder")) == before
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.COMPENSATED, repeated=True)
    assert everything(store) == rows
    assert store.audit_problems() == []


@pytest.mark.parametrize("value", ["triage", "closed", "open"])
def test_a_later_write_supersedes_even_with_the_same_value(store: Store, value: str) -> None:
    """Equal values by another writer are another effect: nothing is touched."""
    receipt = store.forward(ME, put("status", "triage"))
    store.peer(PEER, "1", put("status", value))
    store.peer(PEER, "2", put("status", "triage"))
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.SUPERSEDED)
    assert everything(store) == rows


def test_assignments_come_back_in_order(store: Store) -> None:
    """The first of two assignments waits for the second; then both are undone and the opening value shows."""
    first, second = store.forward(ME, put("status", "triage")), store.forward(ME, put("status", "closed"))
    assert store.recover(ME, first.id) == Answer(Outcome.SUPERSEDED)
    assert store.recover(ME, second.id) == UNDONE
    assert store.recover(ME, first.id) == UNDONE
    assert store.show("acme", "ticket")["fields"]["status"] == "open"


def test_a_peers_equal_grant_stays(store: Store) -> None:
    """Two grants of one member are two effects: the member stays while one is left."""
    receipt = store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", grant("contractor"))
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "ticket")["members"] == ["contractor"]


def test_a_revoked_grant_is_already_absent(store: Store) -> None:
    """Nothing of it is left: no row changes but the receipt's outcome, and the answer says so for ever."""
    receipt = store.forward(ME, grant("contractor"))
    store.peer(PEER, "1", Effect("revoke", "ticket", {"member": "contractor"}))
    rev = store._db.execute("SELECT rev FROM incarnations").fetchone()
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT, repeated=True)
    assert store._db.execute("SELECT rev FROM incarnations").fetchone() == rev


def test_an_invariant_refuses(store: Store) -> None:
    """A contribution that others have spent stays until it is covered again."""
    receipt = store.forward(ME, add(4))
    for number in range(3):
        store.peer(PEER, str(number), add(-4))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "invariant"
    store.peer(PEER, "more", add(2))
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "ticket")["balance"] == 0


def test_a_created_thing_that_others_edited_stays(store: Store) -> None:
    """Any standing edit keeps it, even one that changed no value; once it is taken back the creation can be too."""
    receipt = store.forward(ME, create("folder"))
    other = store.forward(ME._replace(run="run-2"), put("status", "open", "folder"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "in_use"
    assert store.recover(ME._replace(run="run-2"), other.id) == UNDONE
    assert store.recover(ME, receipt.id) == UNDONE
    assert store.show("acme", "folder") is None


@pytest.mark.parametrize("effect", EACH[:5] + EACH[6:], ids=lambda effect: effect.kind)
def test_a_name_used_again_is_another_thing(store: Store, effect: Effect) -> None:
    """The old incarnation is gone, with all that was on it: already absent, and the new one untouched."""
    receipt = store.forward(ME, effect)
    store.peer(PEER, "1", Effect("delete", effect.name, {}))
    store.peer(PEER, "2", Effect("create", effect.name, {"fields": {"status": "open"}, "limit": 10}))
    rows = everything(store)
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)
    assert everything(store)[: len(rows) - 1] == rows[:-1]


def test_a_generation_never_comes_back(store: Store) -> None:
    """A buried generation is a tombstone, and another tenant cannot take it either."""
    store.seed("acme", "box", {}, generation="g-1")
    store.peer(PEER, "1", Effect("delete", "box", {}))
    for tenant in ("acme", "other"):
        with pytest.raises(Rejected, match="generation_used"):
            store.seed(tenant, "box", {}, generation="g-1")


def test_half_a_transfer_is_never_taken_back(store: Store) -> None:
    """Where one of the ledgers is gone the other half stays; where both are, nothing is left."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, EACH[5])
    store.peer(PEER, "1", Effect("delete", "till", {}))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "half_gone"
    assert store.show("acme", "ticket")["balance"] == 6
    store.peer(PEER, "2", Effect("delete", "ticket", {}))
    assert store.recover(ME, receipt.id) == Answer(Outcome.ALREADY_ABSENT)


def test_a_transfer_that_was_spent_stays(store: Store) -> None:
    """The target's floor holds for the inverse too."""
    store.seed("acme", "till", {})
    receipt = store.forward(ME, EACH[5])
    store.peer(PEER, "1", add(-1, "till"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "invariant"


def test_a_settled_reservation_stays(store: Store) -> None:
    """What a peer has used of a reservation cannot be given back, and can be used once."""
    receipt = store.forward(ME, reserve(4))
    settle = Effect("settle", "ticket", {"effect": receipt.id})
    store.peer(PEER, "1", settle)
    with pytest.raises(Rejected, match="no_reservation"):
        store.peer(PEER, "2", settle)
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "settled"


def test_a_partly_superseded_update_stays_whole(store: Store) -> None:
    """Several fields come back together or not at all."""
    receipt = store.forward(ME, EACH[4])
    store.peer(PEER, "1", put("note", "theirs"))
    assert store.recover(ME, receipt.id) == REFUSED
    assert last_reason(store) == "partly_superseded"
    assert store.show("acme", "ticket")["fields"] == {"note": "theirs", "status": "triage"}


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


def test_expiry_and_a_clock_set_back(store: Store, clock: Clock) -> None:
    """At the moment of expiry it is over, setting the clock back revives nothing, and a repeat still tells the truth."""
    first, second = store.forward(ME, add(1), ttl_ms=100), store.forward(ME, add(2), ttl_ms=100)
    clock.now += 99
    assert store.recover(ME, first.id) == UNDONE
    clock.now += 1
    assert store.recover(ME, second.id) == REFUSED
    assert last_reason(store) == "expired"
    clock.now = 0
    assert store.preview(ME, second.id) == store.recover(ME, second.id) == REFUSED
    assert store.recover(ME, first.id) == Answer(Outcome.COMPENSATED, repeated=True)
    times = [entry.at for entry in store.audit_entries()]
    assert times == sorted(times)


@pytest.mark.parametrize("ttl", [0, -1, 2**62])
def test_a_life_must_be_bounded(store: Store, ttl: int) -> None:
    """A receipt lives for at least a millisecond and at most ten years."""
    with pytest.raises(Rejected, match="lifetime"):
        store.forward(ME, add(1), ttl_ms=ttl)


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


def test_no_resource_is_called_like_the_rule_for_all(store: Store) -> None:
    """Else a permission for the one thing named * would be one for everything."""
    for call in (lambda: store.seed("acme", "*", {}), lambda: store.forward(ME, create("*"))):
        with pytest.raises(Rejected, match="reserved"):
            call()


def test_a_compensation_that_the_model_repeats_is_done_once(store: Store) -> None:
    """Credit, failed withdrawal, undo, withdrawal again, undo again: one undo, and the repeat tells of the first (B27)."""
    credit = store.forward(ME, add(4))
    for turn in range(3):
        with pytest.raises(Rejected, match="invariant"):
            store.forward(ME, add(-100))
        assert store.recover(ME, credit.id) == Answer(Outcome.COMPENSATED, repeated=turn > 0)
        assert store.show("acme", "ticket")["balance"] == 10
    done = [entry for entry in store.audit_entries() if entry.action == "recover"]
    assert [entry.reason for entry in done] == ["", "repeated", "repeated"]
    assert [bool(entry.evidence) for entry in done] == [True, False, False]


def test_an_id_outlives_the_receipts_life(store: Store, clock: Clock) -> None:
    """No lease runs out: long after expiry the same request still answers with its receipt and writes nothing (B29)."""
    receipt = store.forward(ME, add(4), effect_id="e-1", ttl_ms=1)
    clock.now += 10**9
    assert store.forward(ME, add(4), effect_id="e-1", ttl_ms=1) == receipt
    assert store.show("acme", "ticket")["balance"] == 14
    assert [entry.reason for entry in store.audit_entries()[-2:]] == ["", "repeated"]


def test_two_stores_never_say_repeated_for_each_other(tmp_path: Path, store: Store) -> None:
    """One id between two instances with a store each is two effects, and each audit says what its own store did (B29)."""
    schema.create(tmp_path / "second.db")
    second = Store.open(tmp_path / "second.db")
    second.seed("acme", "ticket", {"opening": 10})
    for _ in range(2):
        for instance in (store, second):
            instance.forward(ME, add(4), effect_id="e-1")
    for instance in (store, second):
        made = [entry.reason for entry in instance.audit_entries() if entry.action == "forward"]
        assert made == ["", "repeated"]
        assert instance.show("acme", "ticket")["balance"] == 14
    second.close()


def test_an_id_made_known_before_the_lock_is_known(
    database: Path | str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id unknown when looked at is looked for again under the lock, so that the audit's order is the true one."""
    other = Store.open(database)
    look = store._find

    def too_early(ident: object) -> Found | None:
        found = look(ident)
        if not made:
            made.append(other.forward(ME, add(4), effect_id="late"))
        return found

    made: list[object] = []
    monkeypatch.setattr(store, "_find", too_early)
    assert store.recover(ME, "late") == UNDONE
    assert [entry.action for entry in store.audit_entries()[-2:]] == ["forward", "recover"]
    other.close()


@only_sqlite
def test_an_old_copy_put_back_shows_against_the_kept_head(tmp_path: Path, store: Store, clock: Clock) -> None:
    """A copy from before a recovery would do it again: the one thing that tells is a head kept elsewhere."""
    receipt = store.forward(ME, add(4))
    with sqlite3.connect(tmp_path / "old.db") as copy:
        store._db.backup(copy)
    copy.close()
    assert store.recover(ME, receipt.id) == UNDONE
    head = store.audit_head()
    clock.now += 1  # no chain is made twice: each row has its time
    old = Store.open(tmp_path / "old.db", clock=clock)
    assert "its tail was cut" in old.audit_problems(head)[0]
    assert old.recover(ME, receipt.id) == UNDONE
    assert "its tail was cut" in old.audit_problems(head)[0]
    old.close()


def test_a_forward_whose_answer_was_lost_may_be_asked_again(store: Store) -> None:
    """The same id and request give the same receipt and one effect; another request or run under the id is rejected."""
    receipt = store.forward(ME, add(4), effect_id="e-1")
    assert store.forward(ME, add(4), effect_id="e-1") == receipt
    for context, effect in ((ME, add(5)), (ME._replace(run="run-2"), add(4))):
        with pytest.raises(Rejected, match="id_used"):
            store.forward(context, effect, effect_id="e-1")
    assert store.show("acme", "ticket")["balance"] == 14


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


def test_a_rejected_effect_leaves_only_its_audit_row(store: Store) -> None:
    """The effect, the receipt and the peer's id are undone together; the reason is kept."""
    rows = everything(store)
    with pytest.raises(Rejected, match="invariant"):
        store.forward(ME, add(-11))
    with pytest.raises(Rejected, match="arguments"):
        store.forward(ME, Effect("add", "ticket", {"delta": object()}))
    with pytest.raises(Rejected, match="lifetime"):
        store.forward(ME, add(1), ttl_ms=0)
    assert [entry.reason for entry in store.audit_entries()[-3:]] == ["invariant", "arguments", "lifetime"]
    with pytest.raises(Rejected, match="invariant"):
        store.peer(PEER, "1", add(-11))
    store.peer(PEER, "1", add(-10))
    entry = store.audit_entries()[-2]
    assert (entry.action, entry.outcome, entry.reason) == ("peer add", "rejected", "invariant")
    assert [row for row in everything(store) if row not in rows] != []


def test_a_missing_or_foreign_database_is_an_error(tmp_path: Path) -> None:
    """Opening never makes a file, and never takes another program's database or another version for its own."""
    with pytest.raises(UndolabError, match="is not a file"):
        Store.open(tmp_path / "typo.db")
    assert list(tmp_path.iterdir()) == []
    text = tmp_path / "text.db"
    text.write_text("hello, this is no database at all, only a text that is long enough" * 20)
    with pytest.raises(UndolabError, match="no undo store"):
        Store.open(text)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(UndolabError, match="no undo store of version"):
        Store.open(tmp_path / "other.db")
    schema.create(tmp_path / "mine.db")
    with pytest.raises(UndolabError, match="exists already"):
        schema.create(tmp_path / "mine.db")
    with pytest.raises(UndolabError, match="cannot be made"):
        schema.create(tmp_path / "no" / "folder.db")


@only_sqlite
def test_the_database_holds_the_rules_too(store: Store) -> None:
    """Strict types, foreign keys, checks, WAL and FULL are on, so that a slip elsewhere cannot corrupt it quietly."""
    db = store._db
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
    strict = {
        name: bool(flag) for _, name, kind, _, _, flag in db.execute("PRAGMA table_list") if kind == "table"
    }
    assert all(flag for name, flag in strict.items() if not name.startswith("sqlite_"))
    for statement in (
        "UPDATE incarnations SET balance = floor - 1",
        "UPDATE incarnations SET balance = 'much'",
        "INSERT INTO credits VALUES (999, 'a:x', 1)",
        "UPDATE heads SET writer = 'nobody'",
        "UPDATE receipts SET outcome = 'done'",
    ):
        store.forward(ME, add(1))
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement)


@only_sqlite
def test_recovering_a_run_does_not_read_its_past(store: Store) -> None:
    """The live effects have an index of their own: what is settled costs a later recovery nothing."""
    seen: list[str] = []
    store.forward(ME, add(1))
    store._db.set_trace_callback(seen.append)
    store.recover_run(ME, dry_run=True)
    store._db.set_trace_callback(None)
    listing = next(statement for statement in seen if "outcome IS NULL" in statement)
    plan = [row[-1] for row in store._db.execute(f"EXPLAIN QUERY PLAN {listing}")]
    assert any("receipts_live" in step for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


@only_sqlite
def test_every_look_up_uses_an_index(store: Store) -> None:
    """No statement of forward or recovery scans a table, so that the cost does not grow with history or object."""
    seen: set[str] = set()
    store._db.set_trace_callback(seen.add)
    store.seed("acme", "till", {})
    receipts = [store.forward(ME, effect) for effect in EACH]
    store.peer(PEER, "1", Effect("revoke", "ticket", {"member": "contractor"}))
    for receipt in receipts:
        store.recover(ME, receipt.id)
    store._db.set_trace_callback(None)
    for statement in sorted(seen):
        if statement.split()[0] not in {"SELECT", "UPDATE", "DELETE"}:
            continue
        for *_, detail in store._db.execute(f"EXPLAIN QUERY PLAN {statement}"):
            allowed = "SCAN clock" in detail or "ORDER BY seq DESC LIMIT 1" in statement
            assert allowed or not detail.startswith("SCAN"), (statement, detail)


def test_a_receipt_is_small_whatever_the_objects_size(store: Store) -> None:
    """Under 300 bytes a receipt, none of it anybody's data, the same for a value of one letter and of 60,000."""

    def size(receipt: str) -> int:
        row = store._db.execute("SELECT * FROM receipts WHERE id = ?", (receipt,)).fetchone()
        return sum(8 if isinstance(cell, int) else len(cell or "") for cell in row)

    small = store.forward(ME, put("status", "s"))
    for number in range(300):
        store.peer(PEER, str(number), add(1))
    store.peer(PEER, "long", put("note", "n" * 60_000))
    large = store.forward(ME, put("note", "m" * 60_000))
    longest = store.forward(ME, add(1), effect_id="e" * 64)
    assert size(small.id) == size(large.id)
    assert max(map(size, (small.id, longest.id))) < 300


def test_the_audit_shows_a_row_changed_removed_or_cut(store: Store) -> None:
    """Any change breaks the chain at its row; a cut tail shows against a head kept elsewhere."""
    receipt = store.forward(ME, add(4))
    store.recover(ME, receipt.id)
    head = store.audit_head()
    store.recover(ME, "unknown")
    assert store.audit_problems() == store.audit_problems(head) == []
    db = store._db
    for statement, says in (
        ("UPDATE audit SET reason = 'fine' WHERE seq = 2", "row 2 does not follow"),
        ("DELETE FROM audit WHERE seq = 3", "row 3 is missing"),
        ("DELETE FROM audit WHERE seq >= 3", "its tail was cut"),
    ):
        db.execute("BEGIN IMMEDIATE")
        db.execute(statement)
        assert says in audit.problems(db, head)[0]
        db.execute("ROLLBACK")


def test_an_empty_audit_has_the_first_head(database: Path | str) -> None:
    """A new store's chain starts from zeros."""
    made = Store.open(database)
    assert made.audit_head() == "0" * 64
    assert made.audit_problems(made.audit_head()) == []
    made.close()


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


def test_a_transaction_that_the_database_ended_itself_is_no_second_error(store: Store) -> None:
    """Where the database has rolled back already (a full disk), the first error is the one that is told."""
    with pytest.raises(ValueError, match="first"), store._writing():  # noqa: PT012
        store._db.execute("ROLLBACK")
        raise ValueError("first")
    assert store._db.in_transaction is False
