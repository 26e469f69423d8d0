"""Several real processes on one database, some of them killed, and the published schedules: a sample."""

import random
from collections.abc import Iterator

import pytest

from undolab.undo.study import processes, schedules
from undolab.undo.study.children import Children
from undolab.undo.study.requests import Op
from undolab.undo.study.serial import NEVER, Done


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    with Children() as made:
        yield made


def test_what_processes_see_has_a_serial_order(children: Children) -> None:
    """Four processes at once, with another seed each time; in the first round two of them are killed."""
    seed, overlapping = random.randrange(10**6), 0
    for case in processes.cases(children, seed, 3):
        counts, problems = case.run()
        assert problems == [], (seed, case.name)
        overlapping += counts["overlapping"]
    assert overlapping > 0


def test_a_request_without_an_answer_is_kept_as_one() -> None:
    """A process that was killed leaves its last request open."""
    plan = [Op("show"), Op("recover")]
    assert processes.seen([[0, 5], [0, 7, "nothing"], [1, 8]], plan) == [
        Done(plan[0], "nothing", 5, 7),
        Done(plan[1], None, 8, NEVER),
    ]


def test_published_and_own_schedules_lose_nothing(children: Children) -> None:
    """One trial of each published schedule with both subjects, and some of ours with another seed each time."""
    seed = random.randrange(10**6)
    every = {case.name: case for case in schedules.cases(children, seed, 3)}
    assert len(every) == 2 * 90 + 3
    wanted = [f"{what}/{subject}/0" for what in schedules.PUBLISHED for subject in ("mapped", "kernel")]
    for name in [*wanted, *(f"ours/{number}" for number in range(3))]:
        assert every[name].run().problems == [], (seed, name)
