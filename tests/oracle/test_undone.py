"""Half calls, their completion, and calls that a method took back."""

from typing import Any

import msgspec

from undolab.model.workflow import ForbiddenEffect, RequiredEffect
from undolab.oracle.effects import account

DEPLOY = RequiredEffect(id="deploy", tool="deploy", entity="services/green", arguments={"v": 2})
FORBIDDEN = ForbiddenEffect(tool="remove", reason="nothing was to be removed")


def roles(rows: list[Any], **known: Any) -> list[str]:
    return [str(role) for role in account([DEPLOY], [FORBIDDEN], rows, **known).roles]


def test_a_half_call_is_not_the_effect(row: Any) -> None:
    """Some parts are not the whole: the effect is missing, and nothing is an orphan."""
    rows = [row(1, "1.1.1", "deploy", "services/green", "", "1", v=2)]

    found = account([DEPLOY], [], rows, half={"1.1.1"})

    assert ([str(role) for role in found.roles], found.missing) == (["half"], ["deploy"])


def test_a_half_call_that_only_reached_another_entity_is_still_half(row: Any) -> None:
    """The first part may write a lock, and the entity that counts comes later."""
    rows = [row(1, "1.1.1", "deploy", "locks/green", "", "1", v=2)]

    assert roles(rows, half={"1.1.1"}) == ["half"]


def test_a_repeat_that_completes_a_half_call_is_no_duplicate(row: Any) -> None:
    """The published data count the completing retry as a second effect; here the two are one."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "1.1.2", "deploy", "services/green", "1", "1", v=2),
        row(3, "1.1.2", "deploy", "catalog/green", "", "9", v=2),
    ]

    found = account([DEPLOY], [], rows, half={"1.1.1"})

    assert ([str(role) for role in found.roles], found.missing) == (["completion", "required"], [])
    assert found.first == {"deploy": 2}


def test_a_repeat_that_does_the_first_part_again_leaves_a_duplicate(row: Any) -> None:
    """Half of a bulk call stands twice."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "1.1.2", "deploy", "services/green", "1", "2", v=2),
    ]

    assert roles(rows, half={"1.1.1"}) == ["duplicate", "required"]


def test_what_a_method_took_back_is_neither_effect_nor_harm(row: Any) -> None:
    """The undone call holds no place, and the undo call is not forbidden; what came after is the effect."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "1.1.1m", "remove", "services/green", "1", ""),
        row(3, "1.1.2", "deploy", "services/green", "", "1", v=2),
    ]

    assert roles(rows, undone={"1.1.1m": "1.1.1"}) == ["undone", "undo", "required"]


def test_the_agents_own_removal_stays_forbidden(row: Any) -> None:
    """Only a method's undo of a call of ours is an undo."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "2.1.1", "remove", "services/green", "1", ""),
    ]

    assert roles(rows) == ["required", "forbidden"]


def test_a_methods_undo_that_found_nothing_is_idle(row: Any) -> None:
    """Removing what is not there changes nothing, also where removal is forbidden."""
    assert roles([row(1, "1.1.1m", "remove", "services/green", "", "")]) == ["idle"]


def test_a_second_undo_of_the_same_call_is_harm(row: Any) -> None:
    """Compensating twice is an effect nobody wanted (field case B27)."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "1.1.1m", "refund", "accounts/a", "1", "2"),
        row(3, "1.1.2m", "refund", "accounts/a", "2", "3"),
    ]

    assert roles(rows, undone={"1.1.1m": "1.1.1"}) == ["undone", "undo", "orphan"]


def test_a_half_call_after_the_whole_one_is_a_duplicate(row: Any) -> None:
    """The place is held: what a second call did before it died was done twice."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "2.1.1", "deploy", "services/green", "1", "2", v=2),
    ]

    assert roles(rows, half={"2.1.1"}) == ["required", "duplicate"]


def test_a_half_call_after_the_whole_one_that_changed_nothing_is_a_repeat(row: Any) -> None:
    """The same call, but its first part left everything as it was."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "2.1.1", "deploy", "services/green", "1", "1", v=2),
    ]

    assert roles(rows, half={"2.1.1"}) == ["required", "repeat"]


def test_a_half_call_before_the_whole_one_in_other_words_is_a_duplicate(row: Any) -> None:
    """Rewording a free argument hides nothing: some parts were done twice."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2, note="a"),
        row(2, "2.1.1", "deploy", "services/green", "1", "2", v=2, note="b"),
    ]

    assert roles(rows, half={"1.1.1"}) == ["duplicate", "required"]


def test_a_completion_in_other_words_is_a_completion(row: Any) -> None:
    """Where the later call left the parts that stood, nothing was done twice, whatever it was called with."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2, note="a"),
        row(2, "2.1.1", "deploy", "services/green", "1", "1", v=2, note="b"),
        row(3, "2.1.1", "deploy", "catalog/green", "", "9", v=2, note="b"),
    ]

    assert roles(rows, half={"1.1.1"}) == ["completion", "required"]


def test_a_call_that_left_other_entities_completes_nothing(row: Any) -> None:
    """Two half calls and a whole one whose kept row is a third entity: both halves stand beside it."""
    rows = [
        row(1, "1.1.1", "deploy", "parts/1", "", "1", v=2),
        row(2, "1.1.2", "deploy", "parts/2", "", "1", v=2),
        row(3, "1.1.3", "deploy", "parts/9", "1", "1", v=2),
        row(4, "1.1.3", "deploy", "services/green", "", "1", v=2),
    ]

    assert roles(rows, half={"1.1.1", "1.1.2"}) == ["duplicate", "duplicate", "required"]


def test_a_second_half_call_of_a_missing_effect_is_a_duplicate(row: Any) -> None:
    """One place, two calls that each did a part of their own: the second is one too many, though neither is whole."""
    rows = [
        row(1, "1.1.1", "deploy", "parts/1", "", "1", v=2),
        row(2, "1.1.2", "deploy", "parts/2", "", "1", v=2),
    ]

    assert roles(rows, half={"1.1.1", "1.1.2"}) == ["half", "duplicate"]


def test_a_second_half_call_that_went_further_is_one_with_the_first(row: Any) -> None:
    """Two thirds of a call are made of the first third and the second."""
    rows = [
        row(1, "1.1.1", "deploy", "parts/1", "", "1", v=2),
        row(2, "1.1.2", "deploy", "parts/1", "1", "1", v=2),
        row(3, "1.1.2", "deploy", "parts/2", "", "1", v=2),
    ]

    assert roles(rows, half={"1.1.1", "1.1.2"}) == ["completion", "half"]


def test_a_half_call_where_nothing_is_missing_is_an_orphan(row: Any) -> None:
    """A second effect was allowed, but half of one is nothing that anybody asked for."""
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1", v=2),
        row(2, "2.1.1", "deploy", "services/green", "1", "2", v=2),
    ]
    two = msgspec.structs.replace(DEPLOY, max=2)

    found = account([two], [], rows, half={"2.1.1"})

    assert [str(role) for role in found.roles] == ["required", "orphan"]


def test_a_half_call_at_a_forbidden_entity_is_forbidden(row: Any) -> None:
    """That it did not come to the entity that counts excuses nothing."""
    rule = ForbiddenEffect(tool="deploy", entity="services/blue", reason="blue stays")
    rows = [row(1, "1.1.1", "deploy", "services/blue", "1", "2", v=2)]

    found = account([DEPLOY], [rule], rows, half={"1.1.1"})

    assert [str(role) for role in found.roles] == ["forbidden"]


def test_half_of_a_wrong_call_is_an_orphan(row: Any) -> None:
    """It aims at nothing that was asked for."""
    assert roles([row(1, "1.1.1", "deploy", "services/green", "", "1", v=3)], half={"1.1.1"}) == ["orphan"]
