"""Histories past the published grammar: two agents with receipts, several effects, recoveries as events, permission, time.

Eight symbols a kind: `a` and `b` (agent A or B takes an effect of its own), `p` (a peer writes), `A` and `B` (the agent
recovers its newest effect that still stands, else its newest), `c` (B asks for A's newest: another's receipt), `x`
(A's permission is taken away, or given back), `t` (every receipt given so far expires).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from undolab.undo.histories.grammar import GENERATION
from undolab.undo.histories.mechanism import Answer, Asked, Mechanism
from undolab.undo.histories.oracles import Truth
from undolab.undo.histories.score import Damage, damage
from undolab.undo.histories.signature import signature
from undolab.undo.policies.receipt import Context, forward
from undolab.undo.policies.resource import Event, Resource, balance, blank, write

SYMBOLS: Final = "abpABcxt"
DEPTH: Final = 4
OWNERS: Mapping[str, Context] = {
    "a": Context("acme", "agent-a", "run-a"),
    "b": Context("acme", "agent-b", "run-b"),
}
_LIFE = 1000  # seconds from an effect to its receipt's end


def _status(text: str) -> Event:
    return Event("set", field="status", text=text)


# For each kind: A's effect, B's effect, the peer's write. They are picked to meet: B edits what A creates, grants
# the same member, and the peer's debit of 12 is possible only while A's credit stands.
EVENTS: Mapping[str, Mapping[str, Event]] = {
    "set": {"a": _status("triage"), "b": _status("closed"), "p": _status("triage")},
    "add": {"a": Event("add", delta=4), "b": Event("add", delta=-4), "p": Event("add", delta=-12)},
    "grant": {
        "a": Event("grant", text="contractor"),
        "b": Event("grant", text="contractor"),
        "p": Event("revoke", text="contractor"),
    },
    "create": {
        "a": Event("create"),
        "b": _status("closed"),
        "p": Event("set", field="note", text="peer-note"),
    },
}


class Entry(NamedTuple):
    """One write of the log: its id, the write, and whether it was accepted when it happened."""

    ident: str
    event: Event
    accepted: bool


class Given(NamedTuple):
    """A receipt as its holder knows it."""

    ident: str
    expires: int
    consumed: bool = False


class Scene(NamedTuple):
    """Where a history stands under one mechanism."""

    state: Any
    log: tuple[Entry, ...]
    given: Mapping[str, tuple[Given, ...]]
    undone: frozenset[str]
    allowed: bool
    now: int


class Verdict(NamedTuple):
    """One recovery at the end of a history: what was right, what the mechanism said, and what it did."""

    outcome: str
    status: str
    right: bool
    damage: Damage


def opening(kind: str, machine: Mechanism) -> Scene:
    """Return the empty history."""
    start = machine.start(seeded=kind != "create")
    return Scene(start, (), {"a": (), "b": ()}, frozenset(), allowed=True, now=100)


def follow(kind: str, machine: Mechanism, scene: Scene, symbol: str) -> tuple[Scene, Verdict | None]:
    """Return the history with one more symbol, and the verdict where the symbol is a recovery of some receipt."""
    ident = f"{symbol}{len(scene.log)}"
    scene = scene._replace(now=scene.now + 1)
    if symbol == "p":
        event = EVENTS[kind]["p"]
        state, accepted = machine.peer(scene.state, event, ident)
        return scene._replace(state=state, log=(*scene.log, Entry(ident, event, accepted))), None
    if symbol in OWNERS:
        return _act(kind, machine, scene, symbol, ident), None
    if symbol == "x":
        return scene._replace(allowed=not scene.allowed), None
    if symbol == "t":
        return scene._replace(now=scene.now + _LIFE), None
    return _recover(kind, machine, scene, symbol)


def _act(kind: str, machine: Mechanism, scene: Scene, agent: str, ident: str) -> Scene:
    event, expires = EVENTS[kind][agent], scene.now + _LIFE
    state, accepted = machine.act(scene.state, event, ident, OWNERS[agent], expires)
    given = scene.given
    if accepted:
        given = {**given, agent: (*given[agent], Given(ident, expires))}
    return scene._replace(state=state, log=(*scene.log, Entry(ident, event, accepted)), given=given)


def _recover(kind: str, machine: Mechanism, scene: Scene, symbol: str) -> tuple[Scene, Verdict | None]:
    holder = "b" if symbol == "B" else "a"
    caller = "a" if symbol == "A" else "b"
    place = _newest(scene.given[holder])
    if place is None:
        return scene, None
    receipt = scene.given[holder][place]
    rebuilt, parted = replay(kind, scene, receipt.ident)
    allowed = scene.allowed or holder == "b"
    asked = Asked(
        receipt.ident, OWNERS[caller], OWNERS[holder], allowed, scene.now, receipt.expires, receipt.consumed,
        rebuilt,
    )  # fmt: skip
    answer = machine.recover(scene.state, asked)
    current = machine.project(scene.state)
    verdict = _judge(scene, asked, current, answer, machine.project(answer.state), kind, parted=parted)
    receipts = list(scene.given[holder])
    receipts[place] = receipt._replace(consumed=answer.consumed)
    undone = scene.undone | {receipt.ident} if answer.consumed else scene.undone
    return scene._replace(
        state=answer.state, given={**scene.given, holder: tuple(receipts)}, undone=undone
    ), verdict


def _newest(receipts: tuple[Given, ...]) -> int | None:
    """Return the place of the newest receipt that can still act, else of the newest; None where there is none."""
    for place in range(len(receipts) - 1, -1, -1):
        if not receipts[place].consumed:
            return place
    return len(receipts) - 1 if receipts else None


def replay(kind: str, scene: Scene, without: str) -> tuple[Resource | None, bool]:
    """Return what the log gives without one more effect, and whether some other accepted write then fails.

    Effects that have been taken back are left out as well, and so are writes that failed: whoever made one was told.
    This is the second oracle: it looks at no receipt.
    """
    state = None if kind == "create" else blank(GENERATION)
    parted = False
    for entry in scene.log:
        if not entry.accepted or entry.ident == without or entry.ident in scene.undone:
            continue
        if entry.event.op == "create":
            receipt = forward(
                state, entry.event, entry.ident, f"generation-{entry.ident}", OWNERS["a"], expires=0
            )
            accepted = receipt is not None
            state = state if receipt is None else receipt.after
        else:
            state, accepted = write(state, entry.event, entry.ident)
        parted = parted or not accepted
    return state, parted


def _judge(
    scene: Scene,
    asked: Asked,
    before: Resource | None,
    answer: Answer,
    after: Resource | None,
    kind: str,
    *,
    parted: bool,
) -> Verdict:
    own = {given.ident for receipts in scene.given.values() for given in receipts}
    truth = _truth(kind, asked, before, own, parted=parted)
    return Verdict(
        truth.outcome,
        answer.status,
        signature(after, own) == signature(truth.expected, own),
        damage(before, after, truth.expected, own),
    )


def _truth(kind: str, asked: Asked, before: Resource | None, own: set[str], *, parted: bool) -> Truth:
    if asked.caller != asked.owner or not asked.allowed or asked.now >= asked.expires:
        return Truth("refused", eligible=False, expected=before)
    if asked.consumed:
        return Truth("already_absent", eligible=False, expected=before)
    if signature(before, own) == signature(asked.rebuilt, own):
        outcome = "superseded" if kind == "set" else "already_absent"
        return Truth(outcome, eligible=False, expected=before)
    if parted or (asked.rebuilt is not None and balance(asked.rebuilt) < 0):
        return Truth("refused", eligible=False, expected=before)
    return Truth("compensated", eligible=True, expected=asked.rebuilt)


def verdicts(kind: str, machine: Mechanism, depth: int = DEPTH) -> Iterator[tuple[str, Verdict]]:
    """Yield every history up to a length that ends in a recovery, with its verdict.

    A history is not followed past damage: what comes later would be judged against a state already wrong.
    """
    stack = [("", opening(kind, machine))]
    while stack:
        word, scene = stack.pop()
        for symbol in SYMBOLS:
            changed, verdict = follow(kind, machine, scene, symbol)
            if verdict is not None:
                yield word + symbol, verdict
                if any(verdict.damage):
                    continue
            if len(word) + 1 < depth:
                stack.append((word + symbol, changed))
