"""A disk that forgets: what it may leave behind, and that the store survives all of it."""

import random

import pytest

pytest.importorskip("apsw")

from undolab.undo.study import disk, lost
from undolab.undo.study.requests import EFFECTS, Op, opening


def images(log: disk.Log, at: int, **how: int) -> list[disk.Crash]:
    settings = {"exhaustive": 6, "sample": 30, **how}
    return list(disk.crashes(log, range(at, at + 1), 1, **settings))


START: disk.Log = [
    disk.Create("a"),
    disk.Write("a", 0, b"x" * 1024),
    disk.Create("a-wal"),
    disk.Sync("a-wal", folder=True),
    disk.Sync("a", folder=False),
]


def test_what_was_synced_is_always_there() -> None:
    """A synced write is in every image, a write on its way in some, and a whole image of each subset is tried."""
    log = [*START, disk.Write("a", 0, b"y" * 512), disk.Write("a", 512, b"z" * 512)]
    found = {crash.files["a"] for crash in images(log, 7, sample=0)}
    assert found == {a * 512 + b * 512 for a in (b"x", b"y") for b in (b"x", b"z")}


def test_a_torn_write_harms_nothing_outside_its_range() -> None:
    """Sectors of one write arrive, or not, or as noise; bytes around it stay."""
    log = [*START, disk.Write("a", 256, b"y" * 600)]
    for crash in images(log, 6, sample=200):
        assert crash.files["a"][:256] == b"x" * 256
        assert crash.files["a"][856:] == b"x" * 168
    torn = [crash.files["a"][256:512] for crash in images(log, 6, sample=200) if crash.damage == "garbled"]
    assert any(part not in {b"x" * 256, b"y" * 256} for part in torn)


def test_names_last_from_the_sync_of_their_folder() -> None:
    """A file made anew may be missing until then; one deleted may still be there."""
    log: disk.Log = [*START, disk.Delete("a-wal", folder=False)]
    assert {tuple(sorted(crash.files)) for crash in images(log, 6)} == {("a", "a-wal"), ("a",)}
    log[-1] = disk.Delete("a-wal", folder=True)
    assert {tuple(sorted(crash.files)) for crash in images(log, 6)} == {("a",)}
    assert {tuple(sorted(crash.files)) for crash in images(START, 2)} == {(), ("a",)}


def test_a_cut_on_its_way_may_be_lost() -> None:
    """A truncation that was not synced has happened or not."""
    log: disk.Log = [*START, disk.Truncate("a", 10), disk.Truncate("a", 20)]
    assert {len(crash.files["a"]) for crash in images(log, 7, sample=0)} == {1024, 10, 20}


def test_a_log_can_be_made_again() -> None:
    """The same workload and seed give the same bytes, salts included, so that a finding can be looked at again."""
    workload = lost.Workload("short", [*opening(), EFFECTS["add"]])
    assert lost.record(workload, 3) == lost.record(workload, 3)


def test_a_sample_of_power_cuts_loses_nothing() -> None:
    """Drawn anew each time, in every workload: answered requests are there, and asking again ends in the same rows."""
    seed = random.randrange(10**6)
    for case in random.sample(lost.cases(seed, exhaustive=2, sample=2, block=2), 6):
        assert case.run().problems == [], (seed, case.name)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_without_the_sync_the_loss_is_seen(synchronous: str) -> None:
    """The control: with the commit's own sync left out, answered requests are lost, and the suite says so."""
    ops = [*opening(), EFFECTS["add"], Op("recover", ident="e-add")]
    workload = lost.Workload("control", ops, synchronous=synchronous)
    recorded = lost.record(workload, 1)
    answered = 1 + recorded.log.index(
        disk.Acknowledged(len(ops))
    )  # the closing, which syncs, is still to come
    problems = lost.check(workload, recorded, range(answered, answered + 1), 1, 0, 3).problems
    assert any("requests were answered and" in problem for problem in problems)
