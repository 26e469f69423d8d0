"""The git domain of `docs/reference/tools.md`: commits as values, ids by hashing, no git library."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from undolab.model.workflow import Row
from undolab.oracle.fold.objects import commit_id
from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "git_branches": Table("branch", ("name",)),
    "git_tags": Table("tag", ("name",)),
}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
_LONGEST_REF = 1023
"""Bytes of a full reference name: libgit2's limit."""
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")


class _Commit(msgspec.Struct, frozen=True):
    id: str
    parent: "_Commit | None"
    message: str
    files: dict[str, str]

    def log(self) -> list["_Commit"]:
        """Return this commit and its ancestors, newest first."""
        found: list[_Commit] = []
        commit: _Commit | None = self
        while commit is not None:
            found.append(commit)
            commit = commit.parent
        return found


class Repository:
    """The commits of one folded world; the rows of branches and tags stand in the store."""

    def __init__(self, fixture: Iterable[Row], store: Store) -> None:
        """Make the commits of the fixture."""
        self._heads: dict[str, _Commit] = {}
        self._made = 0
        for row in fixture:
            branch, source, files = row["branch"], row.get("from"), row.get("files")
            if branch not in self._heads and source and not files:
                self._heads[branch] = self._heads[source]
                continue
            parent = self._heads.get(branch) or self._heads.get(source or "")
            files = {**(parent.files if parent else {}), **(files or {})}
            self._heads[branch] = self._commit(files, parent, row["message"])
        for branch in self._heads:
            store.seed_named("git_branches", branch, self._row(branch))

    def handlers(self) -> dict[str, Handler]:
        """Return the tools of the domain over this repository."""
        return {
            "list_commits": self._list_commits,
            "get_tag": self._get_tag,
            "cherry_pick_commit": self._cherry_pick_commit,
            "create_tag": self._create_tag,
            "delete_tag": self._delete_tag,
            "create_branch": self._create_branch,
        }

    def _commit(self, files: dict[str, str], parent: _Commit | None, message: str) -> _Commit:
        self._made += 1
        made = commit_id(files, parent.id if parent else None, message, self._made)
        return _Commit(made, parent, message, files)

    def _row(self, branch: str) -> Row:
        head = self._heads[branch]
        log = [{"id": commit.id, "message": commit.message} for commit in head.log()]
        return {"name": branch, "head": head.id, "files": head.files, "log": log}

    def _list_commits(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        store.need("git_branches", args["branch"])
        return {
            "items": [
                {
                    "id": commit.id[:7],
                    "subject": commit.message.split("\n", 1)[0],
                    "picked_from": _picked_from(commit.message),
                }
                for commit in self._heads[args["branch"]].log()
            ]
        }

    def _get_tag(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        return _shown(store.need("git_tags", args["tag_name"]))

    def _cherry_pick_commit(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        branch = args["branch"]
        store.need("git_branches", branch)
        picked = self._find(args["commit"])
        short = picked.id[:7]
        if picked.parent is None:
            raise Refused("conflict", f"commit {short} has no parent")
        head = self._heads[branch]
        files = _merge(picked.parent.files, head.files, picked.files)
        if isinstance(files, str):
            raise Refused("conflict", f"cherry-pick of {short} onto {branch} conflicts in {files}")
        if files == head.files:
            raise Refused("conflict", f"cherry-pick of {short} onto {branch} changes nothing")
        message = f"{picked.message}\n\n(cherry picked from commit {picked.id})"
        made = self._heads[branch] = self._commit(files, head, message)
        store.put("git_branches", branch, self._row(branch))
        return {"branch": branch, "commit": made.id[:7], "picked_from": short}

    def _find(self, short: str) -> _Commit:
        commits = {commit.id: commit for head in self._heads.values() for commit in head.log()}
        found = [commit for name, commit in commits.items() if name[:7] == short]
        if len(found) != 1:
            raise Refused("not_found", f"no commit {short}")
        return found[0]

    def _create_tag(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name = args["tag_name"]
        if not _valid(f"refs/tags/{name}", name):
            raise Refused("invalid_arguments", f"'{name}' is not a valid tag name")
        if "\0" in args["message"]:
            raise Refused("invalid_arguments", "message holds a NUL character")
        store.need("git_branches", args["branch"])
        if store.get("git_tags", name) is not None:
            raise Refused("already_exists", f"tag '{name}' already exists")
        row = {"name": name, "target": self._heads[args["branch"]].id, "message": args["message"]}
        return _shown(store.put("git_tags", name, row))

    def _delete_tag(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        store.need("git_tags", args["tag_name"])
        store.remove("git_tags", args["tag_name"])
        return {"tag_name": args["tag_name"], "deleted": True}

    def _create_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name, source = args["branch_name"], args["from_branch"]
        if not _valid(f"refs/heads/{name}", name):
            raise Refused("invalid_arguments", f"'{name}' is not a valid branch name")
        store.need("git_branches", source)
        if store.get("git_branches", name) is not None:
            raise Refused("already_exists", f"branch '{name}' already exists")
        self._heads[name] = self._heads[source]
        row = store.put("git_branches", name, self._row(name))
        return {"name": name, "head": row["head"][:7]}


def _shown(tag: Row) -> dict[str, Any]:
    return {"name": tag["name"], "target": tag["target"][:7], "message": tag["message"]}


def _picked_from(message: str) -> str:
    named = _PICKED.fullmatch(message.rsplit("\n", 1)[-1])
    return named.group(1)[:7] if named else ""


def _merge(base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> dict[str, str] | str:
    """Return the merged files, or the name of the first file that conflicts."""
    merged: dict[str, str] = {}
    for name in sorted({*base, *ours, *theirs}):
        was, mine, other = base.get(name), ours.get(name), theirs.get(name)
        if mine not in (was, other) and other != was:
            return name
        kept = other if mine == was else mine
        if kept is not None:
            merged[name] = kept
    return merged


def _valid(ref: str, name: str) -> bool:
    parts = name.split("/")
    return not (
        name == "HEAD"
        or len(ref.encode()) > _LONGEST_REF
        or name.startswith("-")
        or name.endswith(".")
        or _FORBIDDEN.search(name)
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
    )
