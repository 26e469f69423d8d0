"""The published system's test cases, for its policy as restated here and for our kernel (docs/reference/undo-tests.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.undo.histories.grammar import ALPHABETS, CONTEXT, EFFECTS, EXPIRES, GENERATION, IDENT, NOW
from undolab.undo.histories.mechanism import Asked, Compared, Kernel
from undolab.undo.histories.signature import signature
from undolab.undo.policies.receipt import Context
from undolab.undo.policies.resource import INITIAL, KINDS, Cell, Event, balance
from undolab.undo.policies.table import PUBLISHED, Authority, authorise

_ASK = Asked(IDENT, CONTEXT, CONTEXT, True, NOW, EXPIRES, False, None)
_MACHINES = {"published": Compared(PUBLISHED["undoscope"]), "kernel": Kernel()}
# What our kernel calls the published statuses.
_OURS = {
    "conflict": "superseded",
    "invariant_conflict": "refused",
    "incarnation_conflict": "already_absent",
    "scope_denied": "refused",
    "policy_denied": "refused",
    "expired": "refused",
    "already_compensated": "already_absent",
    "compensated": "compensated",
}


class _Play:
    """One mechanism over the fixture: the agent's effect, then peers, then recoveries."""

    def __init__(self, name, kind):
        self.name, self.machine = name, _MACHINES[name]
        self.state, accepted = self.machine.act(
            self.machine.start(seeded=kind != "create"), EFFECTS[kind], IDENT, CONTEXT, EXPIRES
        )
        assert accepted
        self.peers = 0

    def peer(self, *events):
        for event in events:
            self.state, _ = self.machine.peer(self.state, event, f"peer-{self.peers}")
            self.peers += 1
        return self

    def ask(self, status, asked=_ASK):
        """Recover; the answer is the published status, or what our kernel calls it. Say whether the state changed."""
        answer = self.machine.recover(self.state, asked)
        assert answer.status == (status if self.name == "published" else _OURS[status])
        before, self.state = self.seen(), answer.state
        return before != self.seen()

    def now(self):
        return self.machine.project(self.state)

    def seen(self):
        return signature(self.now(), {IDENT})


def _status(value):
    return Event("set", field="status", text=value)


machines = pytest.mark.parametrize("name", _MACHINES)
kinds = pytest.mark.parametrize("kind", KINDS)


@machines
@kinds
def test_clean_and_retry(name, kind):
    """With no peer about, the effect comes off; asking again changes nothing."""
    play = _Play(name, kind)
    start = play.machine.project(play.machine.start(seeded=kind != "create"))
    assert play.ask("compensated")
    assert play.seen() == signature(start, {IDENT})
    assert not play.ask("already_compensated", _ASK._replace(consumed=True))


@machines
@pytest.mark.parametrize("first", ["triage", "closed", "open"])
def test_same_value_and_aba_are_conflicts(name, first):
    """A peer who wrote the agent's own value last keeps it, whatever was there in between."""
    assert not _Play(name, "set").peer(_status(first), _status("triage")).ask("conflict")


@machines
@pytest.mark.parametrize("part", ["tenant", "principal", "run"])
def test_scope_is_trusted_context(name, part):
    """Another tenant, principal or run may not use the receipt."""
    caller = CONTEXT._replace(**{part: "other"})
    assert not _Play(name, "add").ask("scope_denied", _ASK._replace(caller=caller))


@machines
@kinds
def test_revocation_and_expiry(name, kind):
    """At the moment of expiry, or without permission now, nothing happens."""
    play = _Play(name, kind)
    assert not play.ask("expired", _ASK._replace(now=EXPIRES))
    assert not play.ask("policy_denied", _ASK._replace(allowed=False))
    assert play.ask("compensated", _ASK._replace(now=EXPIRES - 1))


@machines
def test_counter_business_invariant(name):
    """A credit that peers have spent stays: balance 2 would become -2."""
    play = _Play(name, "add").peer(*[Event("add", delta=-4)] * 3)
    assert balance(play.now()) == 2
    assert not play.ask("invariant_conflict")


@machines
def test_same_member_independent_grant_preserved(name):
    """Two grants of one member: only the agent's own tag goes."""
    play = _Play(name, "grant").peer(Event("grant", text="contractor"))
    assert play.ask("compensated")
    assert play.now().grants == {"peer-0": "contractor"}


@machines
def test_lifo_register_provenance_chain(name):
    """Two own writes of a field: the first cannot go under the second; then both go, newest first."""
    play = _Play(name, "set")
    play.state, _ = play.machine.act(play.state, _status("closed"), "effect-1", CONTEXT, EXPIRES)
    assert not play.ask("conflict")
    assert play.ask("compensated", _ASK._replace(ident="effect-1"))
    assert play.now().fields["status"] == Cell("triage", IDENT)
    assert play.ask("compensated")
    assert play.now().fields["status"] == Cell("open", INITIAL)


def test_unknown_receipt():
    """No receipt, no authority; what malformed ids do is tested on the store."""
    facts = Authority(CONTEXT, allowed=True, now=NOW, consumed=False)
    assert authorise(facts, None) == "unknown_receipt"


@machines
def test_incarnation_even_when_revision_repeats(name):
    """A name made anew is not the agent's creation, though its revision is the same."""
    play = _Play(name, "create")
    first = play.now()
    play.peer(Event("recreate"))
    assert play.now().rev == first.rev
    assert not play.ask("incarnation_conflict")


_VALUES = ("triage", "closed", "open")


@machines
@given(st.lists(st.tuples(st.sampled_from(("status", "note")), st.sampled_from(_VALUES)), max_size=30))
def test_register_independent_last_writer_oracle(name, writes):
    """After any peer writes, each field shows its last writer's value, the agent's own gone if it showed."""
    play = _Play(name, "set")
    expected = {"status": Cell("open", INITIAL), "note": Cell("original", INITIAL)}
    for place, (field, value) in enumerate(writes):
        play.peer(Event("set", field=field, text=value))
        expected[field] = Cell(value, f"peer-{place}")
    touched = any(field == "status" for field, _ in writes)
    assert play.ask("conflict" if touched else "compensated") == (not touched)
    assert play.now().fields == expected


@machines
@given(st.lists(st.integers(-5, 7), max_size=30))
def test_counter_independent_arithmetic_oracle(name, deltas):
    """After any peer amounts, the credit comes off exactly when the balance can bear it; peers' entries stay."""
    play = _Play(name, "add")
    total, entries = 14, {INITIAL: 10}
    for place, delta in enumerate(deltas):
        play.peer(Event("add", delta=delta))
        if total + delta >= 0:
            total += delta
            entries[f"peer-{place}"] = delta
    enough = total >= 4
    play.ask("compensated" if enough else "invariant_conflict")
    assert balance(play.now()) == (total - 4 if enough else total)
    assert {key: n for key, n in play.now().credits.items() if key != IDENT} == entries


@machines
@given(st.lists(st.sampled_from(("same", "other", "revoke")), max_size=30))
def test_grant_independent_tag_oracle(name, moves):
    """After any peer grants and revocations, every peer's tag stays and the agent's is gone."""
    play = _Play(name, "grant")
    events = {
        "same": Event("grant", text="contractor"),
        "other": Event("grant", text="peer"),
        "revoke": Event("revoke", text="contractor"),
    }
    expected = {}
    for place, move in enumerate(moves):
        play.peer(events[move])
        if move == "revoke":
            expected = {tag: who for tag, who in expected.items() if who != "contractor"}
        else:
            expected[f"peer-{place}"] = events[move].text
    answer = play.machine.recover(play.state, _ASK)
    gone_before = name == "kernel" and "revoke" in moves
    assert answer.status == ("already_absent" if gone_before else "compensated")
    assert play.machine.project(answer.state).grants == expected


def test_fixture_is_the_published_one():
    """The fixture's names and times are the published ones."""
    assert Context("acme", "agent", "run-1") == CONTEXT
    assert (IDENT, GENERATION, NOW, EXPIRES) == ("effect-0", "generation-original", 101, 1100)
    assert all(len(alphabet) == 4 for alphabet in ALPHABETS.values())


_SCENES = {
    # Each scene's event, then who compensates; the others find a conflict.
    "same value": ("set", _status("triage"), ("snapshot", "mapped", "value")),
    "shared grant": ("grant", Event("grant", text="contractor"), ("snapshot", "mapped", "value", "undoscope")),
    "disjoint change": (
        "set",
        Event("set", field="note", text="peer-note"),
        ("snapshot", "mapped", "value", "field", "undoscope"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("scene", _SCENES)
def test_scenes(scene):
    """In each published scene, each policy answers as published."""
    kind, event, acting = _SCENES[scene]
    for policy in ("snapshot", "mapped", "value", "object", "field", "undoscope"):
        machine = Compared(PUBLISHED[policy])
        state, _ = machine.act(machine.start(seeded=True), EFFECTS[kind], IDENT, CONTEXT, EXPIRES)
        state, _ = machine.peer(state, event, "peer-0")
        status = machine.recover(state, _ASK).status
        assert status == ("compensated" if policy in acting else "conflict"), policy


def test_scene_of_the_reused_name():
    """With the shared incarnation check, a reused name stops every published policy."""
    for policy in ("snapshot", "mapped", "value", "object", "field", "undoscope"):
        machine = Compared(PUBLISHED[policy])
        state, _ = machine.act(machine.start(seeded=False), EFFECTS["create"], IDENT, CONTEXT, EXPIRES)
        state, _ = machine.peer(state, Event("recreate"), "peer-0")
        assert machine.recover(state, _ASK).status == "incarnation_conflict", policy
