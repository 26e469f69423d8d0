"""Back-off schedules wait on the virtual clock only, and a seed decides the jitter."""

from typing import Any

import pytest

from undolab.model.calls import Call, Phase, Reply
from undolab.recovery import SCHEDULES, Backoff, Retry, make_method

CALL = Call(tool="add", arguments={}, turn=1)


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("none", [0, 0, 0, 0]),
        ("fixed", [1_000, 1_000, 1_000, 1_000]),
        ("exponential", [1_000, 2_000, 4_000, 8_000]),
        ("langgraph", [500, 1_000, 2_000, 4_000]),
    ],
)
def test_a_schedule_gives_its_waits(name: str, waits: list[int]) -> None:
    """The waits before attempts 2 to 5."""
    assert [SCHEDULES[name].wait_ms(attempt) for attempt in range(2, 6)] == waits


def test_jitter_is_seeded_and_stays_within_the_whole_wait() -> None:
    """The same seed waits the same, another seed otherwise, none longer than without jitter."""
    one, two = (Backoff(first_ms=1_000, factor=2, jitter_seed=seed) for seed in (1, 2))
    waits = [one.wait_ms(attempt) for attempt in range(2, 6)]

    assert waits == [one.wait_ms(attempt) for attempt in range(2, 6)]
    assert waits != [two.wait_ms(attempt) for attempt in range(2, 6)]
    assert all(0 <= wait < 1_000 << n for n, wait in enumerate(waits))


def test_a_wait_has_a_ceiling() -> None:
    """An exponential wait stops growing."""
    assert Backoff(first_ms=1_000, factor=2, cap_ms=5_000).wait_ms(9) == 5_000


def test_b4_waits_as_langgraph_does(port: Any, lost: Reply) -> None:
    """B4 differs from B0 in its waits alone."""
    world = port(lost, lost, lost)
    make_method("B4", world, {}, task="T", run="r").call(CALL)

    assert (len(world.sent), world.waits) == (3, [500, 1_000])


@pytest.mark.parametrize("code", ["B0", "B1", "B2", "B4", "B5"])
def test_the_budget_is_the_same_for_all_and_can_be_set(port: Any, lost: Reply, code: str, keyed: Any) -> None:
    """Three attempts, or as many as the sweep gives."""
    for attempts in (3, 5):
        world = port(*[lost] * attempts)
        retry = Retry(attempts=attempts, backoff=SCHEDULES["fixed"])
        make_method(code, world, keyed, task="T", run="r", retry=retry).call(CALL)
        assert len(world.sent) == attempts


def test_a_key_in_flight_is_waited_for(port: Any, lost: Reply, keyed: Any) -> None:
    """B2 takes 409 for a call that still runs, not for an answer."""
    running = Reply(phase=Phase.FAIL, output={"code": "key_in_flight", "message": "in progress"})
    done = Reply(phase=Phase.OK, output={"count": 1})
    world = port(lost, running, done)

    assert make_method("B2", world, keyed, task="T", run="r").call(CALL) == done
    assert len({sent.key for sent in world.sent}) == 1
