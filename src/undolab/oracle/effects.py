"""Which committed calls are the required effects, and what the others are: every call gets exactly one role."""

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from undolab.model.calls import LedgerRow
from undolab.model.match import holds
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
        )
        for attempt, group in groups.items()
    ]


def account(
    required: Sequence[RequiredEffect], forbidden: Sequence[ForbiddenEffect], rows: Sequence[LedgerRow]
) -> Account:
    """Give every committed call its role."""
    calls = committed_calls(rows)
    candidates = [[n for n, call in enumerate(calls) if _matches(effect, call)] for effect in required]
    owner = _assign([(effect.min, effect.max) for effect in required], candidates, len(calls))
    matching = {call for calls_of_effect in candidates for call in calls_of_effect}
    counts = [owner.count(index) for index in range(len(required))]
    return Account(
        calls=calls,
        roles=[_role(call, n in matching, owner[n], forbidden) for n, call in enumerate(calls)],
        missing=[effect.id for effect, count in zip(required, counts, strict=True) if count < effect.min],
        first={
            effect.id: calls[owner.index(index)].seq for index, effect in enumerate(required) if counts[index]
        },
    )


def _matches(effect: RequiredEffect, call: CommittedCall) -> bool:
    return (
        effect.tool == call.tool
        and any(entity == effect.entity or fnmatchcase(entity, effect.entity) for entity in call.entities)
        and holds(effect.arguments, call.arguments)
    )


def _role(
    call: CommittedCall, matching: bool, owner: int | None, forbidden: Sequence[ForbiddenEffect]
) -> Role:
    if owner is not None:
        return Role.REQUIRED
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
