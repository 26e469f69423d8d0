"""Which committed calls are the required effects, and what the others are: every call gets exactly one role."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

import msgspec

from undolab.model.calls import LedgerRow
from undolab.model.match import holds, same_value
from undolab.model.workflow import ForbiddenEffect, RequiredEffect


class Role(StrEnum):
    """What one committed call is to the task."""

    REQUIRED = "required"
    DUPLICATE = "duplicate"
    """Matches a required effect beyond its maximum, and changed something: harmful."""
    REPEAT = "repeat"
    """Matches a required effect beyond its maximum, and changed nothing: harmless."""
    FORBIDDEN = "forbidden"
    ORPHAN = "orphan"
    """Matches nothing, and changed something."""
    IDLE = "idle"
    """Matches nothing, and changed nothing."""
    HALF = "half"
    """Matches a required effect, but only some of its parts were committed, and nothing completed or took it back."""
    COMPLETION = "completion"
    """Only some of its parts were committed, and a later call of the same kind left them and did the rest: the two are one, and
    the later one has the role of both."""
    UNDONE = "undone"
    """A method took it back."""
    UNDO = "undo"
    """A method's call that took another one back."""


class CommittedCall(msgspec.Struct, frozen=True, kw_only=True):
    """All ledger rows of one attempt: one call, however many entities it wrote."""

    seq: int
    """Ledger number of its first effect: the order of commits in the arm."""
    attempt: str
    tool: str
    arguments: dict[str, Any]
    entities: list[str]
    changed: bool
    """False if every effect left its entity as it was."""
    kept: int = 0
    """How many of its first effects left their entity as it was."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """The roles of all committed calls of an arm, and what the required effects got."""

    calls: list[CommittedCall]
    roles: list[Role]
    """Of each call."""
    missing: list[str]
    """Ids of the required effects below their minimum."""
    first: dict[str, int]
    """Required effect id to the ledger number of its first commit."""

    def count(self, role: Role) -> int:
        """Return how many calls have the role."""
        return self.roles.count(role)


def committed_calls(rows: Sequence[LedgerRow]) -> list[CommittedCall]:
    """Group ledger rows by attempt, in the order of their first effects."""
    groups: dict[str, list[LedgerRow]] = {}
    for row in rows:
        groups.setdefault(row.attempt, []).append(row)
    return [
        CommittedCall(
            seq=group[0].seq,
            attempt=attempt,
            tool=group[0].tool,
            arguments=group[0].arguments,
            entities=[row.effect.entity for row in group],
            changed=any(row.effect.before != row.effect.after for row in group),
            kept=next(
                (n for n, row in enumerate(group) if row.effect.before != row.effect.after), len(group)
            ),
        )
        for attempt, group in groups.items()
    ]


def account(
    required: Sequence[RequiredEffect],
    forbidden: Sequence[ForbiddenEffect],
    rows: Sequence[LedgerRow],
    half: Collection[str] = (),
    undone: Mapping[str, str] = MappingProxyType({}),
) -> Account:
    """Give every committed call its role.

    Args:
        required: the effects that the task wants.
        forbidden: the effects that it must not have.
        rows: what was committed.
        half: attempts of which only some parts were committed.
        undone: each undo call, as attempt, with the attempt that it took back.
    """
    calls = committed_calls(rows)
    settled = _settled(calls, half, undone)
    candidates = [
        [n for n, call in enumerate(calls) if settled[n] is None and _matches(effect, call)]
        for effect in required
    ]
    owner = _assign([(effect.min, effect.max) for effect in required], candidates, len(calls))
    matching = {
        n
        for n, call in enumerate(calls)
        if any((_aims if settled[n] is Role.HALF else _matches)(effect, call) for effect in required)
    }
    counts = [owner.count(index) for index in range(len(required))]
    return Account(
        calls=calls,
        roles=[
            _role(call, n in matching, owner[n], forbidden)
            if role is None or (role is Role.HALF and n not in matching)
            else role
            for n, (call, role) in enumerate(zip(calls, settled, strict=True))
        ],
        missing=[effect.id for effect, count in zip(required, counts, strict=True) if count < effect.min],
        first={
            effect.id: calls[owner.index(index)].seq for index, effect in enumerate(required) if counts[index]
        },
    )


def _settled(
    calls: Sequence[CommittedCall], half: Collection[str], undone: Mapping[str, str]
) -> list[Role | None]:
    """Return the role of each call that is not one whole call for itself, None for the others.

    A half call that a later whole one of the same tool and arguments completes, without touching the parts that stood, is one
    call with it; the later one stands for both. If the later one did those parts again, the half call is a harmful duplicate.
    """
    roles: list[Role | None] = [None] * len(calls)
    taken = set(undone.values())
    for n, call in enumerate(calls):
        if call.attempt in undone:
            roles[n] = Role.UNDO
        elif call.attempt in taken:
            roles[n] = Role.UNDONE
        elif call.attempt in half:
            again = next(
                (one for one in calls[n + 1 :] if one.attempt not in half and _same(call, one)), None
            )
            if again is None:
                roles[n] = Role.HALF
            else:
                roles[n] = Role.COMPLETION if again.kept >= len(call.entities) else Role.DUPLICATE
    return roles


def _same(a: CommittedCall, b: CommittedCall) -> bool:
    return a.tool == b.tool and same_value(a.arguments, b.arguments)


def _matches(effect: RequiredEffect, call: CommittedCall) -> bool:
    return _aims(effect, call) and any(
        entity == effect.entity or fnmatchcase(entity, effect.entity) for entity in call.entities
    )


def _aims(effect: RequiredEffect, call: CommittedCall) -> bool:
    """Return True if the call was to make the effect, whether or not it came to the entity that counts."""
    return effect.tool == call.tool and holds(effect.arguments, call.arguments)


def _role(
    call: CommittedCall, matching: bool, owner: int | None, forbidden: Sequence[ForbiddenEffect]
) -> Role:
    if owner is not None:
        return Role.REQUIRED
    if call.attempt.endswith("m") and not call.changed:
        return Role.IDLE
    if matching:
        return Role.DUPLICATE if call.changed else Role.REPEAT
    for rule in forbidden:
        if rule.tool == call.tool and any(fnmatchcase(entity, rule.entity) for entity in call.entities):
            return Role.FORBIDDEN
    return Role.ORPHAN if call.changed else Role.IDLE


def _assign(bounds: list[tuple[int, int]], candidates: list[list[int]], calls: int) -> list[int | None]:
    """Return for each call the index of the required effect it is counted for.

    A maximum flow by augmenting paths, one unit for each place that an effect has. The minimum places of all effects come
    first and keep their call through every later augmentation, so as many minima as possible are met, and then as many calls
    as possible are placed. Earlier commits are tried first: what is left over is the later repeat.
    """
    places = [index for index, (low, _) in enumerate(bounds) for _ in range(min(low, len(candidates[index])))]
    places += [
        index
        for index, (low, high) in enumerate(bounds)
        for _ in range(min(high, len(candidates[index])) - min(low, len(candidates[index])))
    ]
    holder: list[int | None] = [None] * calls

    def seat(place: int, tried: set[int]) -> bool:
        for call in candidates[places[place]]:
            if call in tried:
                continue
            tried.add(call)
            held = holder[call]
            if held is None or seat(held, tried):
                holder[call] = place
                return True
        return False

    for place in range(len(places)):
        seat(place, set())
    return [None if held is None else places[held] for held in holder]
