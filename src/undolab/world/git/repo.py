"""The git operations of the world, each through libgit2, on the store of one connection."""

import functools
from collections.abc import Iterator, Mapping
from sqlite3 import Connection
from typing import cast

import pygit2
from pygit2.enums import FileMode, MergeFlag, ObjectType

from undolab.model.workflow import Row
from undolab.world.git.backend import open_repository
from undolab.world.tx import next_number

_FIRST_COMMIT_AT = 1767225600
_SECONDS_APART = 60
_SHORT = 7
_LONGEST_NAME = 1023


class PickConflictError(Exception):
    """A cherry-pick does not apply; `file` is the first file in its way."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.file = file


def short(commit_id: object) -> str:
    """Return the first seven digits of a commit id."""
    return str(commit_id)[:_SHORT]


def valid_name(kind: str, name: str) -> bool:
    """Return whether libgit2 takes `refs/<kind>/<name>` as its commands for `kind` do: no leading `-`, no `HEAD`.

    Its check of a name reads up to the first NUL and knows no length, so both are looked at here.
    """
    whole = f"refs/{kind}/{name}"
    return not (
        name.startswith("-") or name == "HEAD" or "\0" in name or len(whole.encode()) > _LONGEST_NAME
    ) and pygit2.reference_is_valid_name(whole)


class Repo:
    """The repository as one call sees it.

    Args:
        db: the world's connection, with the call's transaction open.
    """

    def __init__(self, db: Connection) -> None:
        self._db = db

    @functools.cached_property
    def _git(self) -> pygit2.Repository:
        return open_repository(self._db)

    def names(self, kind: str) -> list[str]:
        """Return the sorted names of the references under `refs/<kind>/`; `heads` or `tags`."""
        start = f"refs/{kind}/"
        found = self._db.execute("SELECT name FROM _git_refs ORDER BY name").fetchall()
        return [name.removeprefix(start) for (name,) in found if name.startswith(start)]

    def head(self, branch: str) -> pygit2.Commit | None:
        """Return the newest commit of a branch, or None for a branch that is not there."""
        target = self._target(f"refs/heads/{branch}")
        return None if target is None else self._commit(target)

    def history(self, branch: str) -> list[pygit2.Commit]:
        """Return the first-parent history of a branch, newest first; empty where there is no such branch."""
        found = []
        commit = self.head(branch)
        while commit is not None:
            found.append(commit)
            commit = self._commit(commit.parent_ids[0]) if commit.parent_ids else None
        return found

    def branch(self, name: str) -> Row | None:
        """Return the row of a branch, or None."""
        history = self.history(name)
        if not history:
            return None
        log = [{"id": str(commit.id), "message": message_of(commit)} for commit in history]
        return {"name": name, "head": str(history[0].id), "files": self._files(history[0].tree), "log": log}

    def tag(self, name: str) -> Row | None:
        """Return the row of a tag, or None."""
        target = self._target(f"refs/tags/{name}")
        if target is None:
            return None
        tag = cast(pygit2.Tag, self._git[target])
        # An object's headers end at its first empty line; `Tag.message` would drop line ends that follow it.
        message = self._bytes(tag.id).partition(b"\n\n")[2].decode()
        return {"name": name, "target": str(tag.target), "message": message}

    def commits_called(self, short_id: str) -> list[pygit2.Commit]:
        """Return the commits that a branch reaches and whose short id this is."""
        return [commit for commit in self._reachable() if short(commit.id) == short_id]

    def commit(self, branch: str, files: Mapping[str, str], message: str) -> pygit2.Oid:
        """Add a commit that writes `files` and leaves the others; starts the branch where it is not there."""
        parent = self.head(branch)
        index = pygit2.Index()
        if parent is not None:
            index.read_tree(parent.tree)
        for name, text in files.items():
            index.add(pygit2.IndexEntry(name, self._git.create_blob(text.encode()), FileMode.BLOB))
        parents = [] if parent is None else [parent.id]
        return self._create(branch, index.write_tree(self._git), message, parents)

    def cherry_pick(self, commit: pygit2.Commit, branch: str, message: str) -> pygit2.Oid | None:
        """Copy a commit onto a branch; None if that would change nothing.

        Raises:
            PickConflictError: both sides changed one file, also where git could join the changed lines.
        """
        ours = self._git.lookup_reference(f"refs/heads/{branch}").peel(pygit2.Commit)
        base = self._commit(commit.parent_ids[0])
        bad = _changed_on_both_sides(base.tree, ours.tree, commit.tree)
        if bad:
            raise PickConflictError(bad[0])
        index = self._git.merge_trees(base.tree, ours.tree, commit.tree, flags=MergeFlag(0))
        tree = index.write_tree(self._git)
        return None if tree == ours.tree.id else self._create(branch, tree, message, [ours.id])

    def create_branch(self, name: str, at: pygit2.Commit) -> None:
        """Start a branch at a commit."""
        self._git.create_branch(name, at)

    def create_tag(self, name: str, target: pygit2.Commit, message: str) -> None:
        """Make an annotated tag, dated as its commit."""
        self._git.create_tag(name, target.id, ObjectType.COMMIT, target.committer, message)

    def revert(self, commit: pygit2.Commit, branch: str, message: str) -> pygit2.Oid:
        """Add a commit on top of the branch's head `commit` with the files of its parent."""
        parent = self._commit(commit.parent_ids[0])
        return self._create(branch, parent.tree.id, message, [commit.id])

    def move(self, branch: str, commit_id: str) -> None:
        """Set the head of a branch."""
        self._db.execute(
            "UPDATE _git_refs SET target = ? WHERE name = ?", (commit_id, f"refs/heads/{branch}")
        )

    def delete_branch(self, name: str) -> None:
        """Take a branch away; its commits stay, as in any repository."""
        self._db.execute("DELETE FROM _git_refs WHERE name = ?", (f"refs/heads/{name}",))

    def delete_tag(self, name: str) -> None:
        """Take a tag away; its object stays, as in any repository."""
        self._db.execute("DELETE FROM _git_refs WHERE name = ?", (f"refs/tags/{name}",))

    def _create(self, branch: str, tree: pygit2.Oid, message: str, parents: list[pygit2.Oid]) -> pygit2.Oid:
        n = next_number(self._db, "git commit")
        who = pygit2.Signature("Undolab", "lab@example.com", _FIRST_COMMIT_AT + _SECONDS_APART * n, 0)
        return self._git.create_commit(f"refs/heads/{branch}", who, who, message, tree, parents)

    def _target(self, reference: str) -> str | None:
        found = self._db.execute("SELECT target FROM _git_refs WHERE name = ?", (reference,)).fetchone()
        return None if found is None else found[0]

    def _commit(self, commit_id: str | pygit2.Oid) -> pygit2.Commit:
        return cast(pygit2.Commit, self._git[commit_id])

    def _files(self, tree: pygit2.Tree) -> dict[str, str]:
        return {str(entry.name): self._bytes(entry.id).decode() for entry in tree}

    def _bytes(self, object_id: pygit2.Oid) -> bytes:
        return self._git.odb.read(object_id)[1]

    def _reachable(self) -> Iterator[pygit2.Commit]:
        todo = [head for name in self.names("heads") if (head := self.head(name)) is not None]
        seen = set()
        while todo:
            commit = todo.pop()
            if commit.id not in seen:
                seen.add(commit.id)
                yield commit
                todo += [self._commit(parent) for parent in commit.parent_ids]


def message_of(commit: pygit2.Commit) -> str:
    """Return the message to the byte."""
    return commit.raw_message.decode()


def _changed_on_both_sides(base: pygit2.Tree, ours: pygit2.Tree, theirs: pygit2.Tree) -> list[str]:
    # libgit2 would join changed lines, and take the fuller of two new files; the judge's rule is by whole files.
    was, mine, other = ({str(entry.name): entry.id for entry in tree} for tree in (base, ours, theirs))
    return sorted(
        name
        for name in was.keys() | mine.keys() | other.keys()
        if was.get(name) != mine.get(name) != other.get(name) != was.get(name)
    )
