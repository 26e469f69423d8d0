"""Snapshots, going back in time, differences, and the same bytes from the same seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.world import Change, Clock, World, diff

_ROOT = Path(__file__).parents[2]

CALLS = [
    ("credit_account_balance", {"account_id": "acc_1", "amount": 3}),
    ("deduct_account_balance", {"account_id": "acc_2", "amount": 4}),
    ("write_audit_record", {"entity_id": "x", "action": "look", "details": "é\n"}),
    ("apply_schema_migration", {"schema": "billing", "version": 2}),
    ("revert_schema_migration", {"schema": "billing", "version": 2}),
    (
        "execute_wire_transfer",
        {"wire_id": "w", "source_curr": "USD", "target_curr": "EUR", "amount_cents": 400},
    ),
    ("process_subscription_renewal", {"sub_id": "sub_1", "plan_id": "annual", "amount_cents": 9}),
    ("deploy_green_service", {"service_name": "api", "version": "v2"}),
    ("switch_traffic_routing", {"service_name": "api", "target_color": "green"}),
    ("delete_green_service", {"service_name": "api"}),
    ("put_object", {"bucket_name": "west", "key": "k", "content": "1"}),
    ("copy_object", {"source_bucket": "west", "source_key": "k", "dest_bucket": "east", "dest_key": "k"}),
    ("delete_object", {"bucket_name": "east", "key": "k"}),
    ("create_tag", {"tag_name": "t", "branch": "main", "message": "m"}),
    ("delete_tag", {"tag_name": "t"}),
    ("create_branch", {"branch_name": "b", "from_branch": "main"}),
]
_calls = st.lists(st.tuples(st.sampled_from(CALLS), st.sampled_from([None, "k1", "k2"])), max_size=8)


def _run(world, calls, first=0):
    return [
        world.call(tool, arguments, attempt=str(first + n), key=key)
        for n, ((tool, arguments), key) in enumerate(calls)
    ]


def _all(world):
    return world.snapshot(), world.ledger()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(before=_calls, after=_calls)
def test_restore_is_identity(rows, tools, before, after):
    """Whatever ran in between, a restored world is the saved one: same rows, same ledger, same answers from there."""
    world = World(rows, tools, seed=3)
    _run(world, before)
    saved, then = world.save(), _all(world)
    first = _run(world, after, 100), _all(world)
    world.restore(saved)
    assert _all(world) == then
    assert (_run(world, after, 100), _all(world)) == first
    world.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(calls=_calls)
def test_worlds_are_fresh(rows, tools, calls):
    """A world never shows what another world of the same fixture did, whether that is closed or still open."""
    fresh = World(rows, tools, seed=3)
    start = _all(fresh)
    other = World(rows, tools, seed=3)
    _run(other, calls)
    assert _all(fresh) == start
    other.close()
    late = World(rows, tools, seed=3)
    assert _all(late) == start
    late.close()
    fresh.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(calls=_calls)
def test_diff_names_exactly_the_entities_of_the_ledger(rows, tools, calls):
    """Every row that differs has a ledger row; every entity whose first and last digests differ is in the diff."""
    world = World(rows, tools, seed=3)
    start = world.snapshot()
    _run(world, calls)
    changed = {change.entity for change in diff(start, world.snapshot())}
    first, last = {}, {}
    for row in world.ledger():
        first.setdefault(row.effect.entity, row.effect.before)
        last[row.effect.entity] = row.effect.after
    assert changed == {entity for entity in first if first[entity] != last[entity]}
    world.close()


def test_diff_says_what_changed():
    """Rows that came, went and changed are told apart, sorted by entity."""
    a = {"t": {"1": {"id": "1", "v": 1}, "2": {"id": "2", "v": 1}, "3": {"id": "3", "v": 1}}}
    b = {"t": {"1": {"id": "1", "v": 1}, "3": {"id": "3", "v": 2}}, "u": {"x": {"id": "x"}}}
    assert diff(a, b) == [
        Change(entity="t/2", kind="removed", before={"id": "2", "v": 1}),
        Change(
            entity="t/3",
            kind="changed",
            before={"id": "3", "v": 1},
            after={"id": "3", "v": 2},
            columns=["v"],
        ),
        Change(entity="u/x", kind="added", after={"id": "x"}),
    ]
    assert diff(a, a) == []


def test_tables_without_rows_are_left_out(new_world, rows, tools):
    """A snapshot has no empty tables, so that a world of many tools looks like a world of few."""
    assert new_world(fixture={}).snapshot() == {}
    few = {"get_account": tools["get_account"]}
    accounts = {"accounts": rows["accounts"]}
    assert new_world(fixture=accounts, tools=few).snapshot() == new_world(fixture=accounts).snapshot()


_SCRIPT = """
import json, sys
from pathlib import Path
from undolab.model.canon import canonical
from undolab.model.load import load_tools
from undolab.world import World

rows, calls, seed, root = json.load(sys.stdin)
world = World(rows, load_tools(Path(root) / "data" / "tools"), seed=seed)
outcomes = [world.call(tool, arguments, attempt="1", key="k") for tool, arguments in calls]
sys.stdout.buffer.write(canonical([outcomes, world.snapshot(), world.ledger()]))
"""


def _elsewhere(rows, seed, hashes):
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps([rows, CALLS, seed, str(_ROOT)]).encode(),
        env={**os.environ, "PYTHONHASHSEED": hashes},
        capture_output=True,
        check=True,
    ).stdout


def test_same_seed_gives_same_bytes_in_another_process(rows):
    """Answers, rows and ledger are the same bytes whatever the order of Python's hashes; another seed gives others."""
    one = _elsewhere(rows, 5, "0")
    assert _elsewhere(rows, 5, "1") == one
    assert _elsewhere(rows, 6, "0") != one
    assert b'"ok":true' in one


def test_clock_only_goes_forward():
    """The virtual clock adds up, and refuses to go back."""
    clock = Clock()
    clock.advance(50)
    clock.advance(0)
    assert clock.now_ms == 50
    with pytest.raises(ValueError, match="cannot go back by 1 ms"):
        clock.advance(-1)
