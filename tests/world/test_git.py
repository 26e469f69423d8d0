"""Git through libgit2: real objects, checked names, and a store that stands or falls with the ledger."""

import subprocess

import pytest

from undolab.model.errors import UndolabError
from undolab.world import domains


def _id(world, branch, subject):
    items = world.call("list_commits", {"branch": branch}, attempt="0").output["items"]
    return next(item["id"] for item in items if item["subject"] == subject)


def _git(path, *args):
    done = subprocess.run(["git", "-C", str(path), *args], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def _write(world):
    fix = _id(world, "main", "fix")
    calls = [
        ("cherry_pick_commit", {"commit": fix, "branch": "release"}),
        ("create_tag", {"tag_name": "v2.0.0", "branch": "release", "message": "second\n\nrelease"}),
        ("create_branch", {"branch_name": "next/one", "from_branch": "release"}),
    ]
    for n, (tool, arguments) in enumerate(calls):
        outcome = world.call(tool, arguments, attempt=str(n))
        assert outcome.ok, outcome


def test_git_itself_accepts_the_repository(world, tmp_path):
    """After a pick, a tag and a branch, `git fsck --strict` has nothing to say, and git reads what the snapshot shows."""
    _write(world)
    world.export_git(tmp_path / "repo")
    assert _git(tmp_path / "repo", "fsck", "--full", "--strict", "--no-dangling") == ""
    state = world.snapshot()
    release = state["git_branches"]["release"]
    assert _git(tmp_path / "repo", "log", "--format=%H", "release").split() == [
        c["id"] for c in release["log"]
    ]
    assert _git(tmp_path / "repo", "show", "release:app") == release["files"]["app"] == "2\n"
    assert (
        _git(tmp_path / "repo", "rev-parse", "v2.0.0^{commit}").strip()
        == state["git_tags"]["v2.0.0"]["target"]
    )
    assert (
        _git(tmp_path / "repo", "log", "-1", "--format=%B", "release").rstrip()
        == release["log"][0]["message"]
    )


def test_pick_copies_the_change_only(world):
    """A pick brings the commit's change and its message with the source's id, and leaves the branch's own files."""
    fix = _id(world, "main", "fix")
    full = world.snapshot()["git_branches"]["main"]["head"]
    outcome = world.call("cherry_pick_commit", {"commit": fix, "branch": "release"}, attempt="1")
    row = world.snapshot()["git_branches"]["release"]
    assert row["files"] == {"VERSION": "2\n", "app": "2\n", "doc": "a\n"}
    assert row["log"][0]["message"] == f"fix\n\n(cherry picked from commit {full})"
    assert outcome.output == {"branch": "release", "commit": row["head"][:7], "picked_from": fix}
    assert [effect.entity for effect in outcome.effects] == ["git_branches/release"]
    items = world.call("list_commits", {"branch": "release"}, attempt="2").output["items"]
    assert items[0] == {"id": row["head"][:7], "subject": "fix", "picked_from": fix}


def test_pick_that_conflicts_changes_nothing(world):
    """Both sides changed one file: code conflict with the file's name, and neither branch nor ledger moves."""
    before = world.snapshot(), world.ledger()
    own = _id(world, "stable", "own way")
    outcome = world.call("cherry_pick_commit", {"commit": own, "branch": "release"}, attempt="1")
    assert outcome.output == {
        "code": "conflict",
        "message": f"cherry-pick of {own} onto release conflicts in app",
    }
    assert (world.snapshot(), world.ledger()) == before


def test_second_pick_is_refused(world):
    """A pick that is there already would change nothing, and is refused as that."""
    fix = _id(world, "main", "fix")
    arguments = {"commit": fix, "branch": "release"}
    assert world.call("cherry_pick_commit", arguments, attempt="1").ok
    before = world.snapshot(), world.ledger()
    outcome = world.call("cherry_pick_commit", arguments, attempt="2")
    assert outcome.output == {
        "code": "conflict",
        "message": f"cherry-pick of {fix} onto release changes nothing",
    }
    assert (world.snapshot(), world.ledger()) == before


_LINES = [f"{n}\n" for n in range(20)]
_FIRST, _LAST = ["x\n", *_LINES[1:]], [*_LINES[:-1], "y\n"]


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("".join(_LINES), "".join(_FIRST), "".join(_LAST)),
        ("".join(_LINES), "".join(_FIRST), "".join([*_FIRST[:-1], "y\n"])),
        (None, "", "1\n"),
        (None, "1\n", ""),
    ],
    ids=["lines far apart", "theirs holds ours", "ours is empty", "theirs is empty"],
)
def test_files_that_git_could_join_conflict_too(new_world, base, ours, theirs):
    """A file that both sides changed conflicts even where git could join them: the judge's rule is by whole files."""
    start = {"b": "1"} if base is None else {"a": base, "b": "1"}
    rows = [
        {"branch": "main", "message": "start", "files": start},
        {"branch": "dev", "from": "main", "message": "theirs", "files": {"a": theirs, "c": "1"}},
        {"branch": "main", "message": "ours", "files": {"a": ours}},
    ]
    world = new_world(fixture={"git_commits": rows})
    picked = _id(world, "dev", "theirs")
    outcome = world.call("cherry_pick_commit", {"commit": picked, "branch": "main"}, attempt="1")
    assert outcome.output["message"] == f"cherry-pick of {picked} onto main conflicts in a"


def test_pick_of_what_is_not_there(world):
    """A commit that no branch reaches is not found, and a first commit cannot be picked."""
    outcome = world.call("cherry_pick_commit", {"commit": "0000000", "branch": "main"}, attempt="1")
    assert outcome.output == {"code": "not_found", "message": "no commit 0000000"}
    start = _id(world, "main", "start")
    outcome = world.call("cherry_pick_commit", {"commit": start, "branch": "release"}, attempt="2")
    assert outcome.output == {"code": "conflict", "message": f"commit {start} has no parent"}


BAD = ["-l", "-d", "--delete", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a//b", "/a", "a/", ".a",
       "a/.b", "a.", "a.lock", "a.lock/b", "a@{b", "a\x7f", "a\tb", "a\0b", "HEAD", "x" * 1014]  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused(world, name):
    """Names that git's own rules or a leading `-` forbid are refused and never reach git as an option."""
    before = world.snapshot(), world.ledger()
    tag = world.call("create_tag", {"tag_name": name, "branch": "main", "message": "m"}, attempt="1")
    assert tag.output == {"code": "invalid_arguments", "message": f"'{name}' is not a valid tag name"}
    branch = world.call("create_branch", {"branch_name": name, "from_branch": "main"}, attempt="2")
    assert branch.output == {"code": "invalid_arguments", "message": f"'{name}' is not a valid branch name"}
    assert (world.snapshot(), world.ledger()) == before


def test_empty_names_are_refused(world):
    """An empty name does not get past the arguments' schema."""
    outcome = world.call("create_tag", {"tag_name": "", "branch": "main", "message": "m"}, attempt="1")
    assert outcome.output["code"] == "invalid_arguments"


@pytest.mark.parametrize("name", ["@", "ä", "a/b/c", "v1.0-rc.1", "a-", "x" * 1000])
def test_names_that_git_takes_are_taken(world, name, tmp_path):
    """Unusual but valid names work, and git agrees."""
    assert world.call("create_tag", {"tag_name": name, "branch": "main", "message": "m"}, attempt="1").ok
    assert world.call("get_tag", {"tag_name": name}, attempt="2").output["name"] == name
    world.export_git(tmp_path / "repo")
    assert _git(tmp_path / "repo", "tag", "-l").strip() == name


def test_restore_takes_objects_and_names_back(world):
    """Going back in time and doing the same again gives the same bytes, though the objects had been made once."""
    saved, start = world.save(), world.snapshot()
    _write(world)
    state, rows = world.snapshot(), world.ledger()
    world.restore(saved)
    assert world.snapshot() == start
    _write(world)
    assert (world.snapshot(), world.ledger()) == (state, rows)


def test_git_write_that_dies_is_rolled_back(world, monkeypatch, tmp_path):
    """Objects and names made by a call that dies after them are gone with its ledger rows, and can be made again."""

    def dies(tx, args):
        domains.git.cherry_pick_commit(tx, args)
        raise RuntimeError

    fix = _id(world, "main", "fix")
    before = world.snapshot(), world.ledger()
    with monkeypatch.context() as patch:
        patch.setitem(domains.HANDLERS, "cherry_pick_commit", dies)
        with pytest.raises(RuntimeError):
            world.call("cherry_pick_commit", {"commit": fix, "branch": "release"}, attempt="1")
    assert (world.snapshot(), world.ledger()) == before
    _write(world)
    world.export_git(tmp_path / "repo")
    assert _git(tmp_path / "repo", "fsck", "--full", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"branch": "dev", "message": "m", "files": {"a": "1"}}, "needs `from`"),
        ({"branch": "-x", "message": "m", "from": "main"}, "is not a valid branch name"),
        ({"branch": "main", "message": "m", "files": {"a/b": "1"}}, "holds a slash"),
        ({"branch": "main", "message": "m", "files": {".git": "1"}}, "invalid path: '.git'"),
        ({"branch": "main", "message": "\nm", "files": {}}, "starts with a line end"),
        ({"branch": "main", "files": {}}, "needs `message`"),
    ],
)
def test_unfit_commit_of_a_fixture_is_named(new_world, row, problem):
    """A fixture's commit that git would refuse is a mistake in the data, named with its place."""
    rows = [{"branch": "main", "message": "start", "files": {"a": "1"}}, row]
    with pytest.raises(UndolabError, match=rf"/git_commits/1 does not fit: .*{problem}"):
        new_world(fixture={"git_commits": rows})


def test_a_lock_of_a_dead_call_is_taken_over_or_taken_away(new_world):
    """A tag call that dies after its first part leaves a lock and no tag; a repeat completes it, a deletion clears it."""
    tag = {"tag_name": "v1", "branch": "main", "message": "one"}
    for repair, tags in (("create_tag", 1), ("delete_tag", 0)):
        world = new_world()
        half = world.call("create_tag", tag, attempt="1", stop_after=1)
        assert [effect.entity for effect in half.effects] == ["git_locks/tags/v1"]
        assert "git_tags" not in world.snapshot()
        arguments = tag if repair == "create_tag" else {"tag_name": "v1"}
        assert world.call(repair, arguments, attempt="2").ok
        state = world.snapshot()
        assert "git_locks" not in state
        assert len(state.get("git_tags", {})) == tags
