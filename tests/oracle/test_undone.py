"""Half calls, their completion, and calls that a method took back."""

from typing import Any

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
