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
    branch, files = row["branch"], row.get("files", {})
    if not valid_name("heads", branch):
        raise ValueError(f"'{branch}' is not a valid branch name")
    slashed = [name for name in files if "/" in name]
    if slashed:
        raise ValueError(f"file name '{slashed[0]}' holds a slash")
    if "from" in row:
        start = repo.head(row["from"])
        if start is None:
            raise ValueError(f"there is no branch '{row['from']}' to start from")
        repo.create_branch(branch, start)
    elif repo.head(branch) is None and not first:
        raise ValueError(f"branch '{branch}' is new and needs `from`")
    if files:
        repo.commit(branch, files, row["message"])
