"""Composite calls that die between their parts: a real partial write, and what a repeat of it does."""

from typing import Any

import pytest

from undolab.oracle import Fold

FIXTURE: dict[str, list[dict[str, Any]]] = {
    "schemas": [{"schema": "s", "version": 1}],
    "services": [{"service_name": "a", "version": "1", "color": "blue", "replicas": 3}],
    "buckets": [{"bucket_name": "b", "access": "private"}],
    "objects": [{"bucket_name": "b", "key": "k", "content": "x"}],
    "uploads": [{"upload_id": "u", "bucket_name": "b", "key": "big", "status": "OPEN"}],
    "upload_parts": [
        {"upload_id": "u", "part_number": 1, "data": "ab"},
        {"upload_id": "u", "part_number": 2, "data": "c"},
    ],
    "crm_accounts": [
        {"account_id": "p", "name": "P", "status": "ACTIVE", "sla_tier": "STANDARD"},
        {"account_id": "q", "name": "Q", "status": "ACTIVE", "sla_tier": "STANDARD"},
    ],
    "git_commits": [{"branch": "main", "message": "start", "files": {"a": "1"}}],
}
CALLS: dict[str, dict[str, Any]] = {
    "apply_schema_migration": {"schema": "s", "version": 2},
    "deploy_green_service": {"service_name": "a", "version": "2"},
    "copy_object": {"source_bucket": "b", "source_key": "k", "dest_bucket": "b", "dest_key": "k2"},
    "complete_multipart_upload": {"upload_id": "u"},
    "merge_customer_accounts": {"primary_id": "p", "secondary_id": "q"},
    "create_tag": {"tag_name": "v1", "branch": "main", "message": "m"},
    "send_batch_email": {"campaign_id": "c", "recipients": ["x", "y", "z"], "template_id": "t"},
}
FIRST = {
    "apply_schema_migration": ["schema_migrations/s-2"],
    "deploy_green_service": ["services/a-green"],
    "copy_object": ["objects/b/k2"],
    "complete_multipart_upload": ["objects/b/big"],
    "merge_customer_accounts": ["crm_accounts/q"],
    "create_tag": ["git_locks/tags/v1"],
    "send_batch_email": ["email_batches/*", "emails/*", "emails/*"],
}
"""What stands after the first part: written from the page, not from the code."""
each = pytest.mark.parametrize("tool", CALLS)


def shape(entity: str) -> str:
    """Return the entity, with ids that the service chose left out."""
    table, row = entity.split("/", 1)
    return f"{table}/*" if table in ("email_batches", "emails") else f"{table}/{row}"


def test_every_composite_tool_is_here(tools: Any) -> None:
    """The cases below are all tools with more than one part."""
    assert {name for name, tool in tools.items() if tool.sub_writes > 1} == set(CALLS)


@each
def test_a_call_that_dies_leaves_exactly_its_first_parts(tools: Any, tool: str) -> None:
    """The ledger rows of a half call are those of the whole call's first part: some, not all, and no answer."""
    half, whole = Fold(FIXTURE, tools, 1), Fold(FIXTURE, tools, 1)

    died = half.apply(tool, CALLS[tool], attempt="1", stop_after=1)
    done = whole.apply(tool, CALLS[tool], attempt="1")

    assert (died.ok, died.output) == (False, {})
    assert [shape(effect.entity) for effect in died.effects] == FIRST[tool]
    assert died.effects == done.effects[: len(died.effects)]
    assert 0 < len(died.effects) < len(done.effects)
    assert half.state() != whole.state()


@each
def test_a_stop_after_the_last_part_is_no_stop(tools: Any, tool: str) -> None:
    """A call with no more parts than that ends as ever."""
    stopped, whole = Fold(FIXTURE, tools, 1), Fold(FIXTURE, tools, 1)

    assert stopped.apply(tool, CALLS[tool], stop_after=2) == whole.apply(tool, CALLS[tool])
    assert stopped.state() == whole.state()


@each
def test_a_repeat_completes_what_the_page_says_it_completes(tools: Any, tool: str) -> None:
    """Most calls are made whole by a repeat; the migration is refused until it is reverted; mails go out a second time."""
    fold, whole = Fold(FIXTURE, tools, 1), Fold(FIXTURE, tools, 1)
    fold.apply(tool, CALLS[tool], stop_after=1)
    whole.apply(tool, CALLS[tool])

    again = fold.apply(tool, CALLS[tool])

    if tool == "apply_schema_migration":
        assert again.output["code"] == "already_exists"
        assert fold.apply("revert_schema_migration", CALLS[tool]).ok
        assert fold.apply(tool, CALLS[tool]).ok
        assert fold.state() == whole.state()
    elif tool == "send_batch_email":
        sent = sorted(row["recipient"] for row in fold.state()["emails"].values())
        assert sent == ["x", "x", "y", "y", "z"]
        assert sorted(row["status"] for row in fold.state()["email_batches"].values()) == ["SENDING", "SENT"]
    else:
        assert again.ok
        assert fold.state() == whole.state()


def test_the_key_of_a_dead_call_stays_in_flight(tools: Any) -> None:
    """Neither a replay nor a second deed: the repeat with the same key is told that the call is in progress."""
    fold, call = Fold(FIXTURE, tools, 1), CALLS["send_batch_email"]
    fold.apply("send_batch_email", call, "k", attempt="1", stop_after=1)
    before = fold.state()

    again = fold.apply("send_batch_email", call, "k", attempt="2")
    other = fold.apply("send_batch_email", {**call, "template_id": "u"}, "k", attempt="3")

    assert again.output == {"code": "key_in_flight", "message": "a call with key k is in progress"}
    assert other.output["code"] == "key_conflict"
    assert fold.state() == before


def test_a_refused_call_has_no_parts(tools: Any) -> None:
    """All checks run before the first part."""
    fold = Fold(FIXTURE, tools, 1)
    before = fold.state()

    refused = fold.apply("create_tag", {"tag_name": "v1", "branch": "none", "message": "m"}, stop_after=1)

    assert (refused.output["code"], refused.effects, fold.state()) == ("not_found", [], before)


def test_half_a_tag_can_be_taken_back(tools: Any) -> None:
    """The lock that a dead call left is removed as a tag is; where neither is there, there is no tag."""
    fold, whole = Fold(FIXTURE, tools, 1), Fold(FIXTURE, tools, 1)
    fold.apply("create_tag", CALLS["create_tag"], stop_after=1)

    undone = fold.apply("delete_tag", {"tag_name": "v1"})

    assert [(effect.entity, effect.op) for effect in undone.effects] == [("git_locks/tags/v1", "DELETE")]
    assert fold.state() == whole.state()
    assert fold.apply("delete_tag", {"tag_name": "v1"}).output["message"] == "no tag v1"
