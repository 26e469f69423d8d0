"""The git host: branches, commits and tags of one bare repository, and the files to be committed."""

import re
from collections.abc import Iterator

import pygit2

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.git.repo import PickConflictError, Repo, message_of, short, valid_name
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

WORKSPACE = Table(
    "git_workspace", "workspace file", {"branch": str, "file": str, "content": str}, key_columns=2
)
LOCKS = Table("git_locks", "lock", {"ref": str, "held": str})
TABLES = (WORKSPACE, LOCKS)
_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")


def list_commits(tx: Tx, args: Row) -> Row:
    """Answer the commits of a branch, newest first."""
    history = Repo(tx.db).history(args["branch"])
    if not history:
        raise ToolError("not_found", f"no branch {args['branch']}")
    return {"items": [_listed(str(commit.id), message_of(commit)) for commit in history]}


def get_tag(tx: Tx, args: Row) -> Row:
    """Answer one tag."""
    return _shown(_tag(Repo(tx.db), args["tag_name"]))


def cherry_pick_commit(tx: Tx, args: Row) -> Row:
    """Copy a commit onto a branch by a three-way merge."""
    repo, branch = Repo(tx.db), args["branch"]
    before = _branch(repo, branch)
    found = repo.commits_called(args["commit"])
    if len(found) != 1:
        raise ToolError("not_found", f"no commit {args['commit']}")
    (commit,) = found
    if not commit.parent_ids:
        raise ToolError("conflict", f"commit {short(commit.id)} has no parent")
    message = f"{message_of(commit)}\n\n(cherry picked from commit {commit.id})"
    try:
        made = repo.cherry_pick(commit, branch, message)
    except PickConflictError as error:
        what = f"cherry-pick of {short(commit.id)} onto {branch} conflicts in {error.file}"
        raise ToolError("conflict", what) from None
    if made is None:
        raise ToolError("conflict", f"cherry-pick of {short(commit.id)} onto {branch} changes nothing")
    tx.record(f"git_branches/{branch}", before, repo.branch(branch))
    return {"branch": branch, "commit": short(made), "picked_from": short(commit.id)}


def create_tag(tx: Tx, args: Row) -> Iterator[Row]:
    """Lock the name, then put an annotated tag on the head of a branch and unlock: two commits."""
    repo, name = Repo(tx.db), args["tag_name"]
    if not valid_name("tags", name):
        raise ToolError("invalid_arguments", f"'{name}' is not a valid tag name")
    if "\0" in args["message"]:
        raise ToolError("invalid_arguments", "message holds a NUL character")
    head = repo.head(args["branch"])
    if head is None:
        raise ToolError("not_found", f"no branch {args['branch']}")
    if repo.tag(name) is not None:
        raise ToolError("already_exists", f"tag '{name}' already exists")
    tx.put(LOCKS, {"ref": f"tags/{name}", "held": "create_tag"})
    yield {"name": name, "target": short(head.id), "message": args["message"]}
    repo.create_tag(name, head, args["message"])
    tx.record(f"git_tags/{name}", None, _tag(repo, name))
    tx.remove(LOCKS, f"tags/{name}")


def delete_tag(tx: Tx, args: Row) -> Row:
    """Take a tag away, and the lock that a dead call left on its name."""
    repo, name = Repo(tx.db), args["tag_name"]
    tag, lock = repo.tag(name), f"tags/{name}"
    if tx.find(LOCKS, lock) is None:
        tag = _tag(repo, name)
    if tag is not None:
        repo.delete_tag(name)
        tx.record(f"git_tags/{name}", tag, None)
    if tx.find(LOCKS, lock) is not None:
        tx.remove(LOCKS, lock)
    return {"tag_name": name, "deleted": True}


def create_branch(tx: Tx, args: Row) -> Row:
    """Start a branch at the head of another."""
    repo, name = Repo(tx.db), args["branch_name"]
    if not valid_name("heads", name):
        raise ToolError("invalid_arguments", f"'{name}' is not a valid branch name")
    head = repo.head(args["from_branch"])
    if head is None:
        raise ToolError("not_found", f"no branch {args['from_branch']}")
    if repo.head(name) is not None:
        raise ToolError("already_exists", f"branch '{name}' already exists")
    repo.create_branch(name, head)
    tx.record(f"git_branches/{name}", None, _branch(repo, name))
    return {"name": name, "head": short(head.id)}


def list_branches(tx: Tx, args: Row) -> Row:  # noqa: ARG001  (every handler takes both)
    """Answer the branches with their heads."""
    repo = Repo(tx.db)
    return {"items": [_at(repo, name) for name in repo.names("heads")]}


def get_branch(tx: Tx, args: Row) -> Row:
    """Answer the head of one branch."""
    return _at(Repo(tx.db), args["branch"])


def get_file(tx: Tx, args: Row) -> Row:
    """Answer a file as the head of a branch has it."""
    branch, name = args["branch"], args["relative_path"]
    files = _branch(Repo(tx.db), branch)["files"]
    if name not in files:
        raise ToolError("not_found", f"no file {name} on {branch}")
    return {"branch": branch, "file": name, "content": files[name]}


def get_workspace_file(tx: Tx, args: Row) -> Row:
    """Answer a file that is written and not committed."""
    return tx.get(WORKSPACE, args["branch"], args["relative_path"])


def list_workspace_files(tx: Tx, args: Row) -> Row:
    """Answer the files of a branch that are written and not committed."""
    return {"items": tx.where(WORKSPACE, "branch", args["branch"])}


def compare_branches(tx: Tx, args: Row) -> Row:
    """Count the commits that one branch has and the other lacks."""
    repo, name, into = Repo(tx.db), args["branch_name"], args["into_branch"]
    theirs, ours = (_ids(repo, branch) for branch in (name, into))
    return {"branch_name": name, "into_branch": into, "missing": len(set(theirs) - set(ours))}


def write_workspace_file(tx: Tx, args: Row) -> Row:
    """Write a file to be committed, over an old one too."""
    name = args["relative_path"]
    _head(Repo(tx.db), args["branch"])
    if not _FILE.fullmatch(name):
        raise ToolError("invalid_arguments", f"'{name}' is not a valid file name")
    return tx.put(WORKSPACE, {"branch": args["branch"], "file": name, "content": args["content"]})


def discard_workspace_file(tx: Tx, args: Row) -> Row:
    """Drop a file that is written and not committed."""
    row = tx.get(WORKSPACE, args["branch"], args["relative_path"])
    tx.remove(WORKSPACE, row["branch"], row["file"])
    return {"branch": row["branch"], "file": row["file"], "discarded": True}


def commit_changes(tx: Tx, args: Row) -> Row:
    """Commit the written files of a branch."""
    repo, branch, message = Repo(tx.db), args["branch"], args["message"]
    if "\0" in message or "\n" in message:
        raise ToolError("invalid_arguments", "message must be one line")
    before = _branch(repo, branch)
    files = {row["file"]: row["content"] for row in tx.where(WORKSPACE, "branch", branch)}
    if files.items() <= before["files"].items():
        raise ToolError("conflict", f"nothing to commit on {branch}")
    made = repo.commit(branch, files, message)
    tx.record(f"git_branches/{branch}", before, repo.branch(branch))
    for name in files:
        tx.remove(WORKSPACE, branch, name)
    return {"branch": branch, "commit": short(made), "previous": short(before["head"])}


def merge_branch(tx: Tx, args: Row) -> Row:
    """Move a branch forward to another's head; where it holds that already, it stays."""
    repo, name, into = Repo(tx.db), args["branch_name"], args["into_branch"]
    theirs, ours = _ids(repo, name), _ids(repo, into)
    if theirs[0] in ours:
        return _move(tx, repo, into, ours[0])
    if ours[0] not in theirs:
        raise ToolError("conflict", f"{into} cannot be moved forward to {name}")
    return _move(tx, repo, into, theirs[0])


def revert_commit(tx: Tx, args: Row) -> Row:
    """Add a commit with the files from before the newest one."""
    repo, branch, called = Repo(tx.db), args["branch"], args["commit"]
    before, head = _branch(repo, branch), _head(repo, branch)
    if short(head.id) != called:
        raise ToolError("conflict", f"{called} is not the head of {branch}")
    if not head.parent_ids:
        raise ToolError("conflict", f"commit {called} has no parent")
    made = repo.revert(head, branch, f"Revert {called}")
    tx.record(f"git_branches/{branch}", before, repo.branch(branch))
    return {"branch": branch, "commit": short(made), "reverted": called}


def reset_branch(tx: Tx, args: Row) -> Row:
    """Move the head of a branch to a commit that some branch reaches."""
    repo, branch = Repo(tx.db), args["branch"]
    _head(repo, branch)
    found = repo.commits_called(args["commit"])
    if len(found) != 1:
        raise ToolError("not_found", f"no commit {args['commit']}")
    return _move(tx, repo, branch, str(found[0].id))


def delete_branch(tx: Tx, args: Row) -> Row:
    """Take a branch away, with its written files."""
    repo, name = Repo(tx.db), args["branch_name"]
    before = _branch(repo, name)
    if name == "main":
        raise ToolError("conflict", "branch main cannot be deleted")
    repo.delete_branch(name)
    tx.record(f"git_branches/{name}", before, None)
    for row in tx.where(WORKSPACE, "branch", name):
        tx.remove(WORKSPACE, name, row["file"])
    return {"branch_name": name, "deleted": True}


def _head(repo: Repo, branch: str) -> pygit2.Commit:
    head = repo.head(branch)
    if head is None:
        raise ToolError("not_found", f"no branch {branch}")
    return head


def _at(repo: Repo, branch: str) -> Row:
    return {"name": branch, "head": short(_head(repo, branch).id)}


def _ids(repo: Repo, branch: str) -> list[str]:
    """Return the ids of a branch's commits, newest first; the history of a branch is a line."""
    _head(repo, branch)
    return [str(commit.id) for commit in repo.history(branch)]


def _move(tx: Tx, repo: Repo, branch: str, commit_id: str) -> Row:
    before = _branch(repo, branch)
    repo.move(branch, commit_id)
    tx.record(f"git_branches/{branch}", before, repo.branch(branch))
    return {"branch": branch, "head": short(commit_id), "previous": short(before["head"])}


def _branch(repo: Repo, name: str) -> Row:
    row = repo.branch(name)
    if row is None:
        raise ToolError("not_found", f"no branch {name}")
    return row


def _tag(repo: Repo, name: str) -> Row:
    row = repo.tag(name)
    if row is None:
        raise ToolError("not_found", f"no tag {name}")
    return row


def _shown(tag: Row) -> Row:
    return {**tag, "target": short(tag["target"])}


def _listed(commit_id: str, message: str) -> Row:
    lines = message.split("\n")
    picked = _PICKED.fullmatch(lines[-1])
    return {"id": short(commit_id), "subject": lines[0], "picked_from": short(picked[1]) if picked else ""}


HANDLERS: dict[str, Handler] = {
    "list_commits": list_commits,
    "get_tag": get_tag,
    "cherry_pick_commit": cherry_pick_commit,
    "create_tag": create_tag,
    "delete_tag": delete_tag,
    "create_branch": create_branch,
    "list_branches": list_branches,
    "get_branch": get_branch,
    "get_file": get_file,
    "get_workspace_file": get_workspace_file,
    "list_workspace_files": list_workspace_files,
    "compare_branches": compare_branches,
    "write_workspace_file": write_workspace_file,
    "discard_workspace_file": discard_workspace_file,
    "commit_changes": commit_changes,
    "merge_branch": merge_branch,
    "revert_commit": revert_commit,
    "reset_branch": reset_branch,
    "delete_branch": delete_branch,
}
