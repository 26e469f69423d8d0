"""Which committed calls are the required effects, and what the others are: every call gets exactly one role."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import takewhile
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
    """Aims at a required effect that is missing; only some of its parts were committed, and nothing completed or took it back."""
    COMPLETION = "completion"
    """Only some of its parts were committed, and a later call at the same thing left them as they were and went on: the two are
    one, and the later one has the role of both."""
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
    kept: frozenset[str] = frozenset()
    """The entities that its first effects left as they were, up to its first change."""


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
            kept=frozenset(
                row.effect.entity
                for row in takewhile(lambda row: row.effect.before == row.effect.after, group)
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
    settled = _settled(calls, required, half, undone)
    whole = [n for n, call in enumerate(calls) if settled[n] is None and call.attempt not in half]
    candidates = [[n for n in whole if _matches(effect, calls[n])] for effect in required]
    owner = _assign([(effect.min, effect.max) for effect in required], candidates, len(calls))
    matching = {n for column in candidates for n in column}
    counts = [owner.count(index) for index in range(len(required))]
    halves = [n for n, call in enumerate(calls) if settled[n] is None and call.attempt in half]
    settled = _halves(calls, halves, settled, required, forbidden, counts)
    return Account(
        calls=calls,
        roles=[
            _role(call, n in matching, owner[n], forbidden) if role is None else role
            for n, (call, role) in enumerate(zip(calls, settled, strict=True))
        ],
        missing=[effect.id for effect, count in zip(required, counts, strict=True) if count < effect.min],
        first={
            effect.id: calls[owner.index(index)].seq for index, effect in enumerate(required) if counts[index]
        },
    )


def _settled(
    calls: Sequence[CommittedCall],
    required: Sequence[RequiredEffect],
    half: Collection[str],
    undone: Mapping[str, str],
) -> list[Role | None]:
    """Return the roles that follow from how calls belong together, None for a call that stands for itself."""
    roles: list[Role | None] = [None] * len(calls)
    taken = set(undone.values())
    for n, call in enumerate(calls):
        if call.attempt in undone:
            roles[n] = Role.UNDO
        elif call.attempt in taken:
            roles[n] = Role.UNDONE
        elif call.attempt in half:
            roles[n] = _went_on(call, calls[n + 1 :], required, half)
    return roles


def _went_on(
    call: CommittedCall,
    later: Sequence[CommittedCall],
    required: Sequence[RequiredEffect],
    half: Collection[str],
) -> Role | None:
    """Return what a half call is if a later one at the same thing settles it.

    A later one that left the very entities of the half call as they were, and is whole or at least went further, is one call with
    it. If a whole one with the same arguments did those parts again instead, the half call is a harmful duplicate.
    """
    for one in later:
        further = one.attempt not in half or one.changed
        if further and _at_one_thing(call, one, required) and one.kept.issuperset(call.entities):
            return Role.COMPLETION
    if any(one.attempt not in half and _same(call, one) for one in later):
        return Role.DUPLICATE
    return None


def _halves(
    calls: Sequence[CommittedCall],
    halves: Sequence[int],
    settled: Sequence[Role | None],
    required: Sequence[RequiredEffect],
    forbidden: Sequence[ForbiddenEffect],
    counts: Sequence[int],
) -> list[Role | None]:
    """Give a role to each half call that aims at a required effect and that no later call settles.

    The parts that stand hold a place of the effect, if whole calls and earlier halves left one; without a place they are beyond
    the maximum. While the effect is missing, that is what counts; where it is not, the parts are an effect nobody asked for.
    """
    roles = list(settled)
    held = list(counts)
    for n in halves:
        call = calls[n]
        aimed = [index for index, effect in enumerate(required) if _aims(effect, call)]
        place = next((index for index in aimed if held[index] < required[index].min), None)
        if place is None:
            place = next((index for index in aimed if held[index] < required[index].max), None)
        if not aimed:
            continue
        if place is None:
            roles[n] = Role.DUPLICATE if call.changed else Role.REPEAT
        elif _is_forbidden(call, forbidden) and not any(_matches(required[index], call) for index in aimed):
            roles[n] = Role.FORBIDDEN
        elif held[place] < required[place].min:
            roles[n] = Role.HALF
        else:
            roles[n] = Role.ORPHAN if call.changed else Role.IDLE
        if place is not None:
            held[place] += call.changed
    return roles


def _same(a: CommittedCall, b: CommittedCall) -> bool:
    return a.tool == b.tool and same_value(a.arguments, b.arguments)


def _at_one_thing(a: CommittedCall, b: CommittedCall, required: Sequence[RequiredEffect]) -> bool:
    """Return True if two calls are the same, or both aim at one required effect: other words make no other thing."""
    return _same(a, b) or any(_aims(effect, a) and _aims(effect, b) for effect in required)


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
    if _is_forbidden(call, forbidden):
        return Role.FORBIDDEN
    return Role.ORPHAN if call.changed else Role.IDLE


def _is_forbidden(call: CommittedCall, forbidden: Sequence[ForbiddenEffect]) -> bool:
    return any(
        rule.tool == call.tool and any(fnmatchcase(entity, rule.entity) for entity in call.entities)
        for rule in forbidden
    )


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
