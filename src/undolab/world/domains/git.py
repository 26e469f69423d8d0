"""The git host: branches, commits and tags of one bare repository."""

import re

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.git.repo import PickConflictError, Repo, message_of, short, valid_name
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

TABLES: tuple[Table, ...] = ()
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


def create_tag(tx: Tx, args: Row) -> Row:
    """Put an annotated tag on the head of a branch."""
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
    repo.create_tag(name, head, args["message"])
    tag = _tag(repo, name)
    tx.record(f"git_tags/{name}", None, tag)
    return _shown(tag)


def delete_tag(tx: Tx, args: Row) -> Row:
    """Take a tag away."""
    repo, name = Repo(tx.db), args["tag_name"]
    tag = _tag(repo, name)
    repo.delete_tag(name)
    tx.record(f"git_tags/{name}", tag, None)
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
}
