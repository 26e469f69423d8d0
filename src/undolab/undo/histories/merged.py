"""Histories whose states are the same but for the peers' ids share one node, so depth 8 takes less than a second.

An id is opaque: no rule looks inside it, and each event brings a new one. So a state is known up to renaming by what
each id stands for, and all that comes after depends on nothing else. The tests hold this against the direct walk.
"""

from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, count

from undolab.undo.histories.grammar import ALPHABETS, CREATED, GENERATION, IDENT, effect
from undolab.undo.histories.score import Row, score
from undolab.undo.histories.walk import Walk, begin, step
from undolab.undo.policies.resource import INITIAL, Resource
from undolab.undo.policies.table import NOTHING

_NAMED = frozenset({INITIAL, IDENT, GENERATION, CREATED})


class Graph:
    """All states of one kind that words up to a length reach, each with its rows and its four successors."""

    def __init__(self, kind: str, depth: int, omit: AbstractSet[str] = NOTHING) -> None:
        self.kind = kind
        self._omit = omit
        self._receipt = effect(kind)
        self._walks: list[Walk] = []
        self._found: dict[object, int] = {}
        self._next: list[tuple[int, ...]] = []
        self.rows: list[tuple[Row, ...]] = []
        self._levels(depth)

    def _levels(self, depth: int) -> None:
        fresh = count()
        level = [self._node(begin(self.kind))]
        for _ in range(depth):
            for node in level:
                self._next.append(
                    tuple(
                        self._node(step(self._walks[node], event, f"peer-{next(fresh)}"))
                        for event in ALPHABETS[self.kind]
                    )
                )
            level = list(range(len(self._next), len(self._walks)))

    def _node(self, walk: Walk) -> int:
        key = shape(walk)
        node = self._found.setdefault(key, len(self._walks))
        if node == len(self._walks):
            self._walks.append(walk)
            self.rows.append(score(self.kind, walk, self._receipt, self._omit))
        return node

    def nodes(self, depth: int) -> Iterator[list[int]]:
        """Yield, for each length from 0, the node of every word of this length, in the order of the digits."""
        level = [0]
        for length in range(depth + 1):
            yield level
            if length < depth:
                level = list(chain.from_iterable(map(self._next.__getitem__, level)))

    def tally(self, depth: int) -> Counter[int]:
        """Return how many words up to a length end in each node; every word is visited."""
        total: Counter[int] = Counter()
        for level in self.nodes(depth):
            total.update(level)
        return total


def shape(walk: Walk) -> tuple[object, ...]:
    """Return what two histories must share to have the same rows and the same future: all but the peers' ids."""
    roles: dict[str, list[tuple[object, ...]]] = {}
    fixed: list[object] = [walk.length > 0, walk.overwritten, walk.replaced, walk.parted]
    for side, resource in enumerate((walk.actual, walk.replay)):
        fixed.append(resource is not None)
        if resource is not None:
            _roles(side, resource, roles)
            if side == 0:  # nothing reads the counters of the replayed state
                fixed += [resource.rev, tuple(resource.component.values())]
    places = sorted((name if name in _NAMED else "", tuple(sorted(role))) for name, role in roles.items())
    return (*fixed, tuple(places))


def _roles(side: int, resource: Resource, roles: dict[str, list[tuple[object, ...]]]) -> None:
    roles.setdefault(resource.generation, []).append((side, "generation", "", ""))
    for name, cell in resource.fields.items():
        roles.setdefault(cell.head, []).append((side, "field", name, cell.value))
    for name, amount in resource.credits.items():
        roles.setdefault(name, []).append((side, "credit", "", str(amount)))
    for name, member in resource.grants.items():
        roles.setdefault(name, []).append((side, "grant", "", member))
