"""The fold on literal calls, and git ids against ids that git itself is known to give."""

from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.model.ids import seeded_id
from undolab.model.workflow import Row
from undolab.oracle import Fold
from undolab.oracle.fold.objects import commit_id

GIT: list[Row] = [
    {"branch": "main", "message": "start", "files": {"a.txt": "1\n", "b.txt": "1\n"}},
    {"branch": "fix", "from": "main", "message": "", "files": {}},
    {"branch": "fix", "message": "fix a\n\nlong", "files": {"a.txt": "2\n"}},
    {"branch": "main", "message": "b", "files": {"b.txt": "2\n"}},
]


def test_failed_call_writes_nothing_and_hands_out_no_id(tools: Any) -> None:
    """A refusal leaves the state and the id counter as they were."""
    fold = Fold({"oncall": [{"service": "s", "engineer": "e"}]}, tools, 7)
    before = fold.state()
    failed = fold.apply("page_oncall_engineer", {"service": "x", "alert_title": "t", "severity": "P1"})
    assert (failed.ok, failed.output) == (False, {"code": "not_found", "message": "no on-call entry x"})
    assert fold.state() == before
    paged = fold.apply("page_oncall_engineer", {"service": "s", "alert_title": "t", "severity": "P1"})
    assert paged.output["page_id"] == seeded_id(7, "page", 1)
    assert [effect.id for effect in paged.effects] == ["e1"]


def test_key_replays_conflicts_and_is_not_stored_for_refusals(tools: Any) -> None:
    """Equal key and arguments replay; other arguments conflict; a refused call leaves the key free."""
    fold = Fold({}, tools, 1)
    hook = {"target_url": "u", "event_type": "e", "payload": "[]"}
    assert fold.apply("post_webhook_event", hook, "k", attempt="a").output["code"] == "invalid_arguments"
    good = {**hook, "payload": "{}"}
    first = fold.apply("post_webhook_event", good, "k", attempt="b")
    again = fold.apply("post_webhook_event", good, "k", attempt="c")
    assert (again.ok, again.output, again.effects, again.replay_of) == (True, first.output, [], "b")
    other = fold.apply("post_webhook_event", {**good, "event_type": "f"}, "k", attempt="d")
    assert other.output == {"code": "key_conflict", "message": "key k was used with other arguments"}


def test_key_is_ignored_where_the_tool_honours_none(tools: Any) -> None:
    """A tool without keys does the deed twice, key or not."""
    fold = Fold({}, tools, 1)
    note = {"channel": "c", "message": "m"}
    fold.apply("send_slack_alert", note, "k")
    fold.apply("send_slack_alert", note, "k")
    assert len(fold.state()["slack_messages"]) == 2


def test_bad_arguments_and_unknown_tools_are_answers(tools: Any) -> None:
    """A wrong type and an unknown name are the service's errors, not ours."""
    fold = Fold({}, tools, 1)
    assert fold.apply("get_account", {"account_id": 1}).output["code"] == "invalid_arguments"
    assert fold.apply("no_such", {}).output == {"code": "not_found", "message": "no tool no_such"}


def test_fixture_with_an_unknown_table_is_refused(tools: Any) -> None:
    """A table that no domain knows is named."""
    with pytest.raises(UndolabError, match="'acounts'"):
        Fold({"acounts": []}, tools, 1)


def test_removing_what_is_not_there_is_an_effect_without_change(tools: Any) -> None:
    """A second delete is a harmless effect with two empty digests, and the output says so."""
    fold = Fold({"buckets": [{"bucket_name": "b", "access": "private"}]}, tools, 1)
    gone = fold.apply("delete_object", {"bucket_name": "b", "key": "k"})
    assert gone.output == {"bucket_name": "b", "key": "k", "deleted": False}
    assert [(e.before, e.after) for e in gone.effects] == [("", "")]


def test_commit_ids_are_those_of_git() -> None:
    """The ids were made by git 2.39 (`git hash-object`, `git commit-tree`) for the same bytes."""
    first = commit_id({"a.txt": "1\n", "b.txt": "1\n"}, None, "start", 1)
    assert first == GIT_FIRST
    assert commit_id({"a.txt": "2\n", "b.txt": "1\n"}, first, "fix a\n\nlong", 2) == GIT_SECOND


GIT_FIRST = "f18f16e4fa49f06a2dfe486f51efac07f85ddd0a"
GIT_SECOND = "1d625c31a9a6bb31396abc35f832829d873eba41"


def test_cherry_pick_then_tag(tools: Any) -> None:
    """The picked change lands on main with its origin in the message; a second pick changes nothing and says so."""
    fold = Fold({"git_commits": GIT}, tools, 1)
    pick = {"commit": GIT_SECOND[:7], "branch": "main"}
    done = fold.apply("cherry_pick_commit", pick)
    assert done.ok
    main = fold.state()["git_branches"]["main"]
    assert main["files"] == {"a.txt": "2\n", "b.txt": "2\n"}
    assert main["log"][0]["message"] == f"fix a\n\nlong\n\n(cherry picked from commit {GIT_SECOND})"
    listed = fold.apply("list_commits", {"branch": "main"}).output["items"]
    assert listed[0] == {"id": done.output["commit"], "subject": "fix a", "picked_from": GIT_SECOND[:7]}
    again = fold.apply("cherry_pick_commit", pick)
    assert again.output == {
        "code": "conflict",
        "message": f"cherry-pick of {GIT_SECOND[:7]} onto main changes nothing",
    }
    tag = {"tag_name": "v1", "branch": "main", "message": "m"}
    assert fold.apply("create_tag", tag).output == {
        "name": "v1",
        "target": done.output["commit"],
        "message": "m",
    }
    assert fold.apply("create_tag", tag).output == {
        "code": "already_exists",
        "message": "tag 'v1' already exists",
    }


def test_pick_that_touches_a_changed_file_conflicts(tools: Any) -> None:
    """Both sides changed a file in different ways: a conflict that names the file, and nothing is written."""
    rows = [*GIT, {"branch": "main", "message": "a too", "files": {"a.txt": "3\n"}}]
    fold = Fold({"git_commits": rows}, tools, 1)
    before = fold.state()
    answer = fold.apply("cherry_pick_commit", {"commit": GIT_SECOND[:7], "branch": "main"})
    assert answer.output["message"] == f"cherry-pick of {GIT_SECOND[:7]} onto main conflicts in a.txt"
    assert fold.state() == before


@pytest.mark.parametrize(
    "name",
    [
        "-l",
        "-d",
        "",
        "a..b",
        "a b",
        ".a",
        "a/.b",
        "a.lock",
        "a/",
        "/a",
        "a//b",
        "a.",
        "@{",
        "a~",
        "a\x7f",
        "HEAD",
    ],
)
def test_names_that_git_would_misread_are_refused(tools: Any, name: str) -> None:
    """No option and no malformed name becomes a tag (the published sandbox took `-l`)."""
    fold = Fold({"git_commits": GIT}, tools, 1)
    answer = fold.apply("create_tag", {"tag_name": name, "branch": "main", "message": "m"})
    assert answer.output["code"] == "invalid_arguments"
    assert "git_tags" not in fold.state()
