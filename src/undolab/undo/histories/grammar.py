"""The published grammar: four kinds of effect, four peer events each, all words up to a length."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from undolab.undo.policies.receipt import Context, Receipt, forward
from undolab.undo.policies.resource import KINDS, Event, Resource, blank

CONTEXT: Final = Context("acme", "agent", "run-1")
IDENT: Final = "effect-0"
GENERATION: Final = "generation-original"  # of the seeded resource
CREATED: Final = f"generation-{IDENT}"  # of the one that the effect creates
NOW, EXPIRES = 101, 1100  # the effect was at 100 with 1,000 seconds to live; recovery comes one second later
DEPTH: Final = 4

_NOTE = Event("set", field="note", text="peer-note")


def _status(text: str) -> Event:
    return Event("set", field="status", text=text)


EFFECTS: Mapping[str, Event] = {
    "set": _status("triage"),
    "add": Event("add", delta=4),
    "grant": Event("grant", text="contractor"),
    "create": Event("create"),
}
ALPHABETS: Mapping[str, tuple[Event, ...]] = {
    "set": (_status("triage"), _status("closed"), _status("open"), _NOTE),
    "add": (Event("add", delta=2), Event("add", delta=-4), _NOTE, Event("grant", text="peer")),
    "grant": (
        Event("grant", text="contractor"),
        Event("grant", text="peer"),
        Event("revoke", text="contractor"),
        _NOTE,
    ),
    "create": (_NOTE, _status("open"), Event("recreate"), Event("delete")),
}


def start(kind: str) -> Resource | None:
    """Return the state before the agent's effect: nothing for a creation, else the seeded resource."""
    return None if kind == "create" else blank(GENERATION)


def effect(kind: str) -> Receipt:
    """Return the receipt of the agent's one effect of this kind; its `after` is the state to go on from."""
    receipt = forward(start(kind), EFFECTS[kind], IDENT, CREATED, CONTEXT, EXPIRES)
    if receipt is None:
        raise AssertionError(kind)
    return receipt


def words(depth: int) -> Iterator[str]:
    """Yield every word up to this length as digits, shorter first, then in the order of the digits."""
    for length in range(depth + 1):
        for digits in product("0123", repeat=length):
            yield "".join(digits)


def histories(depth: int) -> int:
    """Return how many histories there are over all kinds: 1,364 at depth 4, 349,524 at depth 8."""
    return len(KINDS) * sum(1 << 2 * length for length in range(depth + 1))  # four symbols
