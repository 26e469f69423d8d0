"""Make the repository of a fixture: rows of branches, messages and files become commits."""

from collections.abc import Sequence
from sqlite3 import Connection

import pygit2

from undolab.model.errors import UndolabError
from undolab.model.workflow import Row
from undolab.world.git.repo import Repo, valid_name

TABLE = "git_commits"


def commit_all(db: Connection, rows: Sequence[Row]) -> None:
    """Commit each row in order.

    Raises:
        UndolabError: a row has no branch to start from, or a name that git refuses.
    """
    repo = Repo(db)
    for n, row in enumerate(rows):
        try:
            _commit(repo, row, first=n == 0)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise UndolabError(f"fixture row /{TABLE}/{n} does not fit: {error}") from error


def _commit(repo: Repo, row: Row, *, first: bool) -> None:
    branch, files, message = row["branch"], row.get("files", {}), row.get("message", "")
    if not valid_name("heads", branch):
        raise ValueError(f"'{branch}' is not a valid branch name")
    for name in files:
        if "/" in name or "\0" in name:
            raise ValueError(f"file name {name!r} holds a slash or a NUL")
    if message.startswith("\n") or "\0" in message:
        # git would not give these back as they went in.
        raise ValueError(f"message {message!r} starts with a line end or holds a NUL")
    if repo.head(branch) is None and not first:
        start = repo.head(row.get("from", ""))
        if start is None:
            raise ValueError(f"branch '{branch}' is new and needs `from`, a branch that is there")
        repo.create_branch(branch, start)
        if not files:
            return
    if not message:
        raise ValueError("a commit needs `message`")
    repo.commit(branch, files, message)
