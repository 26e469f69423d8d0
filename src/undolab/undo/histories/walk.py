"""One history, step by step: the state with the effect, the state without it, and what the oracles must remember."""

from typing import NamedTuple

from undolab.undo.histories.grammar import ALPHABETS, effect, start
from undolab.undo.policies.resource import Event, Resource, write


class Walk(NamedTuple):
    """Where a history stands before recovery.

    `replay` is what the accepted peer events give when the effect never happened; `parted`: one of them was skipped
    there, so a peer's work rests on the effect. An event that was skipped in fact left nothing to keep.
    """

    actual: Resource | None
    replay: Resource | None
    length: int
    overwritten: bool
    replaced: bool
    parted: bool


def begin(kind: str) -> Walk:
    """Return the empty history: the effect has happened, no peer has acted."""
    return Walk(effect(kind).after, start(kind), 0, overwritten=False, replaced=False, parted=False)


def step(walk: Walk, event: Event, ident: str) -> Walk:
    """Return the history with one more peer event."""
    actual, accepted = write(walk.actual, event, ident)
    replay, again = write(walk.replay, event, ident) if accepted else (walk.replay, False)
    return Walk(
        actual,
        replay,
        walk.length + 1,
        walk.overwritten or (event.op == "set" and event.field == "status"),
        walk.replaced or event.op in {"recreate", "delete"},
        walk.parted or accepted != again,
    )


def follow(kind: str, word: str) -> Walk:
    """Return the end of a history given as digits; the nth peer event has the id `peer-n`, from 0."""
    walk = begin(kind)
    for place, digit in enumerate(word):
        walk = step(walk, ALPHABETS[kind][int(digit)], f"peer-{place}")
    return walk
