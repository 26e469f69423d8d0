"""Calls that die between their parts: what stays, and what a repeat of them does, as rule 9 of the page says."""

import pytest

COPY = {"source_bucket": "east", "source_key": "data/a.txt", "dest_bucket": "west", "dest_key": "b"}
MERGE = {"primary_id": "cust_1", "secondary_id": "cust_2"}
CASES = {
    "copy_object": (COPY, ["objects/west/b"]),
    "deploy_green_service": ({"service_name": "api", "version": "v2"}, ["services/api-green"]),
    "merge_customer_accounts": (MERGE, ["crm_accounts/cust_2"]),
    "complete_multipart_upload": ({"upload_id": "up_1"}, ["objects/west/k"]),
    "create_tag": ({"tag_name": "v1", "branch": "main", "message": "one"}, ["git_locks/tags/v1"]),
}
MIGRATION = {"schema": "billing", "version": 2}
BATCH = {"campaign_id": "c", "recipients": ["a", "b", "d"], "template_id": "t"}


@pytest.fixture
def fresh(new_world, rows):
    """Make worlds with something to work on for every composite tool."""
    second = {"account_id": "cust_2", "name": "Oak", "status": "ACTIVE", "sla_tier": "STANDARD"}
    fixture = {
        **rows,
        "crm_accounts": [*rows["crm_accounts"], second],
        "uploads": [{"upload_id": "up_1", "bucket_name": "west", "key": "k", "status": "OPEN"}],
        "upload_parts": [{"upload_id": "up_1", "part_number": 1, "data": "x"}],
    }
    return lambda: new_world(fixture=fixture)


def test_every_composite_tool_is_tested(tools):
    """No tool of several parts is without a case here."""
    composite = {name for name, spec in tools.items() if spec.sub_writes > 1}
    assert composite == {*CASES, "apply_schema_migration", "send_batch_email"}


@pytest.mark.parametrize("tool", CASES)
def test_a_repeat_completes(fresh, tool):
    """The first part alone is left behind; a repeat brings what the whole call would have brought."""
    arguments, entities = CASES[tool]
    world, whole = fresh(), fresh()
    before = world.snapshot()
    died = world.call(tool, arguments, attempt="1", stop_after=1)
    assert not died.ok
    assert [effect.entity for effect in died.effects] == entities
    assert whole.call(tool, arguments, attempt="1").ok
    assert before != world.snapshot() != whole.snapshot()
    assert world.call(tool, arguments, attempt="2").ok
    assert world.snapshot() == whole.snapshot()


def test_half_a_migration_is_refused_until_it_is_taken_back(fresh):
    """The migration's row is there and the version is not: a repeat is refused, and goes through after a revert."""
    world, whole = fresh(), fresh()
    assert whole.call("apply_schema_migration", MIGRATION, attempt="1").ok
    world.call("apply_schema_migration", MIGRATION, attempt="1", stop_after=1)
    assert world.snapshot()["schemas"]["billing"]["version"] == 1
    again = world.call("apply_schema_migration", MIGRATION, attempt="2")
    assert again.output["code"] == "already_exists"
    assert world.call("revert_schema_migration", MIGRATION, attempt="3").ok
    assert world.call("apply_schema_migration", MIGRATION, attempt="4").ok
    assert world.snapshot() == whole.snapshot()


def test_half_a_batch_mails_its_first_addresses_twice(fresh):
    """Two of three addresses have their email; a repeat without the key mails them a second time."""
    world = fresh()
    world.call("send_batch_email", BATCH, attempt="1", stop_after=1)
    state = world.snapshot()
    assert [row["recipient"] for row in state["emails"].values()].count("d") == 0
    assert [row["status"] for row in state["email_batches"].values()] == ["SENDING"]
    assert world.call("send_batch_email", BATCH, attempt="2").ok
    got = sorted(row["recipient"] for row in world.snapshot()["emails"].values())
    assert got == ["a", "a", "b", "b", "d"]


def test_half_a_batch_keeps_its_key(fresh):
    """The key of a call that died stays in flight: a repeat with it is refused, and mails nobody."""
    world = fresh()
    world.call("send_batch_email", BATCH, attempt="1", key="k", stop_after=1)
    assert world.call("send_batch_email", BATCH, attempt="2", key="k").output["code"] == "key_in_flight"
    assert len(world.snapshot()["emails"]) == 2
