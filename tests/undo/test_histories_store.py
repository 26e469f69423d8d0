"""The SQLite store agrees with the pure kernel on every bounded history, and on random ones of two agents."""

import random
from itertools import count

import pytest

from undolab.undo import schema
from undolab.undo.histories import agents
from undolab.undo.histories.grammar import ALPHABETS, CONTEXT, EFFECTS, EXPIRES, IDENT, NOW, words
from undolab.undo.histories.mechanism import Asked, Kernel
from undolab.undo.policies.resource import KINDS, visible
from undolab.undo.store import Store
from undolab.undo.types import Context, Effect, Rejected

_BLANK = {"opening": 10, "fields": {"status": "open", "note": "original"}}
_PEER = Context("acme", "peer", "run-0")


class _Shop:
    """A store with a clock of its own, driven by the events of the histories; each history has a resource of its own."""

    def __init__(self, path):
        schema.create(path)
        self.now = 100
        self.store = Store.open(path, clock=lambda: self.now * 1000)
        self.store._db.execute("PRAGMA synchronous=OFF")
        self._fresh = count()

    def do(self, work):
        try:
            work()
        except Rejected:
            return False
        return True

    def write(self, name, event, *, owner=None, ident="", ttl=1000):
        """Write a peer's event, or an owner's effect under its id; say whether it was accepted."""
        number = f"{name}-{next(self._fresh)}"
        if event.op == "recreate":
            self.do(lambda: self.store.peer(_PEER, number + "d", Effect("delete", name, {})))
        effect = _effect(name, event)
        if owner is None:
            return self.do(lambda: self.store.peer(_PEER, number, effect))
        return self.do(
            lambda: self.store.forward(Context(*owner), effect, effect_id=ident, ttl_ms=ttl * 1000)
        )

    def shows(self, name):
        found = self.store.show("acme", name)
        if found is None:
            return ()
        return (sorted(found["fields"].items()), found["balance"], sorted(set(found["members"])))


def _effect(name, event):
    if event.op == "set":
        return Effect("set", name, {"field": event.field, "value": event.text})
    if event.op == "add":
        return Effect("add", name, {"delta": event.delta})
    if event.op in ("grant", "revoke"):
        return Effect(event.op, name, {"member": event.text})
    if event.op == "delete":
        return Effect("delete", name, {})
    return Effect("create", name, _BLANK)


@pytest.fixture
def shop(tmp_path):
    found = _Shop(tmp_path / "store.db")
    yield found
    found.store.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_bounded_history(shop, kind):
    """On each of the 341 words of a kind, outcome and visible state are the kernel's."""
    machine = Kernel()
    shop.store.permit("acme", "agent", "allow")
    for word in words(4):
        name = f"{kind}-{word}"
        state, _ = machine.act(machine.start(seeded=kind != "create"), EFFECTS[kind], IDENT, CONTEXT, EXPIRES)
        if kind != "create":
            shop.store.seed("acme", name, _BLANK)
        assert shop.write(name, EFFECTS[kind], owner=CONTEXT, ident=f"effect-{name}")
        for place, digit in enumerate(word):
            event = ALPHABETS[kind][int(digit)]
            state, accepted = machine.peer(state, event, f"peer-{place}")
            assert shop.write(name, event) == accepted, word
        asked = Asked(IDENT, CONTEXT, CONTEXT, True, NOW, EXPIRES, False, None)
        answer = machine.recover(state, asked)
        assert shop.store.recover(Context(*CONTEXT), f"effect-{name}").outcome == answer.status, word
        assert shop.shows(name) == visible(machine.project(answer.state)), word
    assert shop.store.audit_problems() == []


@pytest.mark.parametrize("kind", KINDS)
def test_random_histories_of_two_agents(shop, kind):
    """On random words of the agents' alphabet, each recovery's outcome and the state after it are the kernel's."""
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    for number in range(60):
        word = "".join(dice.choices(agents.SYMBOLS, k=dice.randint(2, 8)))
        _drive(shop, kind, f"{kind}-{number}", word, f"seed {seed} word {word}")


def _drive(shop, kind, name, word, said):
    machine = Kernel()
    scene = agents.opening(kind, machine)
    shop.now += 10_000
    offset = shop.now - scene.now
    if kind != "create":
        shop.store.seed("acme", name, _BLANK)
    for owner in agents.OWNERS.values():
        shop.store.permit("acme", owner.principal, "allow", resource=name)
    for symbol in word:
        before = scene
        scene, verdict = agents.follow(kind, machine, scene, symbol)
        shop.now = offset + scene.now
        if symbol in "abp":
            entry = scene.log[-1]
            owner = agents.OWNERS.get(symbol)
            ident = f"{name}-{entry.ident}"
            assert shop.write(name, entry.event, owner=owner, ident=ident) == entry.accepted, said
        elif symbol == "x":
            rule = "allow" if scene.allowed else "deny"
            shop.store.permit("acme", agents.OWNERS["a"].principal, rule, resource=name)
        elif verdict is not None:
            _recover(shop, name, before, symbol, verdict, said)
        assert shop.shows(name) == visible(machine.project(scene.state)), said


def _recover(shop, name, scene, symbol, verdict, said):
    holder, caller = ("b" if symbol == "B" else "a"), ("a" if symbol == "A" else "b")
    given = scene.given[holder]
    newest = next((one for one in reversed(given) if not one.consumed), given[-1])
    answer = shop.store.recover(Context(*agents.OWNERS[caller]), f"{name}-{newest.ident}")
    if newest.consumed and holder == caller:
        assert answer.repeated, said  # the store tells a repeat what the first call was told
    else:
        assert (answer.outcome, answer.repeated) == (verdict.status, False), said
