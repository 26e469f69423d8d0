"""The git domain of `docs/reference/tools.md`: commits as values, ids by hashing, no git library."""

from collections.abc import Iterable, Mapping
from typing import Any

from undolab.model.workflow import Row
from undolab.oracle.fold.commits import Commit, merge, picked_from, valid_file, valid_ref
from undolab.oracle.fold.objects import commit_id
from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "git_branches": Table("branch", ("name",)),
    "git_tags": Table("tag", ("name",)),
    "git_workspace": Table("workspace file", ("branch", "file")),
    "git_locks": Table("lock", ("ref",)),
}


class Repository:
    """The commits of one folded world; the rows of branches and tags stand in the store."""

    def __init__(self, fixture: Iterable[Row], store: Store) -> None:
        """Make the commits of the fixture."""
        self._heads: dict[str, Commit] = {}
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
            "list_branches": self._list_branches,
            "get_branch": self._get_branch,
            "get_file": self._get_file,
            "get_workspace_file": self._get_workspace_file,
            "list_workspace_files": self._list_workspace_files,
            "compare_branches": self._compare_branches,
            "write_workspace_file": self._write_workspace_file,
            "discard_workspace_file": self._discard_workspace_file,
            "commit_changes": self._commit_changes,
            "merge_branch": self._merge_branch,
            "revert_commit": self._revert_commit,
            "reset_branch": self._reset_branch,
            "delete_branch": self._delete_branch,
        }

    def _move(self, store: Store, branch: str, head: Commit) -> dict[str, Any]:
        """Put a branch on a commit and return what a tool says of a branch that moved."""
        previous = self._heads[branch]
        self._heads[branch] = head
        store.put("git_branches", branch, self._row(branch))
        return {"branch": branch, "head": head.id[:7], "previous": previous.id[:7]}

    def _commit(self, files: dict[str, str], parent: Commit | None, message: str) -> Commit:
        self._made += 1
        made = commit_id(files, parent.id if parent else None, message, self._made)
        return Commit(made, parent, message, files)

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
                    "picked_from": picked_from(commit.message),
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
        files = merge(picked.parent.files, head.files, picked.files)
        if isinstance(files, str):
            raise Refused("conflict", f"cherry-pick of {short} onto {branch} conflicts in {files}")
        if files == head.files:
            raise Refused("conflict", f"cherry-pick of {short} onto {branch} changes nothing")
        message = f"{picked.message}\n\n(cherry picked from commit {picked.id})"
        made = self._commit(files, head, message)
        self._move(store, branch, made)
        return {"branch": branch, "commit": made.id[:7], "picked_from": short}

    def _find(self, short: str) -> Commit:
        commits = {commit.id: commit for head in self._heads.values() for commit in head.log()}
        found = [commit for name, commit in commits.items() if name[:7] == short]
        if len(found) != 1:
            raise Refused("not_found", f"no commit {short}")
        return found[0]

    def _create_tag(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name = args["tag_name"]
        if not valid_ref("refs/tags/", name):
            raise Refused("invalid_arguments", f"'{name}' is not a valid tag name")
        if "\0" in args["message"]:
            raise Refused("invalid_arguments", "message holds a NUL character")
        store.need("git_branches", args["branch"])
        if store.get("git_tags", name) is not None:
            raise Refused("already_exists", f"tag '{name}' already exists")
        lock = f"tags/{name}"
        store.put("git_locks", lock, {"ref": lock, "held": "create_tag"})
        store.next_part()
        row = {"name": name, "target": self._heads[args["branch"]].id, "message": args["message"]}
        tag = store.put("git_tags", name, row)
        store.remove("git_locks", lock)
        return _shown(tag)

    def _delete_tag(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name = args["tag_name"]
        lock = f"tags/{name}"
        locked = store.get("git_locks", lock) is not None
        if not locked:
            store.need("git_tags", name)
        if store.get("git_tags", name) is not None:
            store.remove("git_tags", name)
        if locked:
            store.remove("git_locks", lock)
        return {"tag_name": name, "deleted": True}

    def _create_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name, source = args["branch_name"], args["from_branch"]
        if not valid_ref("refs/heads/", name):
            raise Refused("invalid_arguments", f"'{name}' is not a valid branch name")
        store.need("git_branches", source)
        if store.get("git_branches", name) is not None:
            raise Refused("already_exists", f"branch '{name}' already exists")
        self._heads[name] = self._heads[source]
        row = store.put("git_branches", name, self._row(name))
        return {"name": name, "head": row["head"][:7]}

    def _list_branches(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 -- every tool has one shape
        return {"items": [{"name": name, "head": self._heads[name].id[:7]} for name in sorted(self._heads)]}

    def _get_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        row = store.need("git_branches", args["branch"])
        return {"name": row["name"], "head": row["head"][:7]}

    def _get_file(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        branch, file = args["branch"], args["relative_path"]
        content = store.need("git_branches", branch)["files"].get(file)
        if content is None:
            raise Refused("not_found", f"no file {file} on {branch}")
        return {"branch": branch, "file": file, "content": content}

    def _get_workspace_file(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        return store.need("git_workspace", f"{args['branch']}/{args['relative_path']}")

    def _list_workspace_files(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        return store.items("git_workspace", branch=args["branch"])

    def _compare_branches(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name, into = args["branch_name"], args["into_branch"]
        store.need("git_branches", name)
        store.need("git_branches", into)
        missing = sum(not self._heads[into].reaches(commit) for commit in self._heads[name].log())
        return {"branch_name": name, "into_branch": into, "missing": missing}

    def _write_workspace_file(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        branch, file = args["branch"], args["relative_path"]
        store.need("git_branches", branch)
        if not valid_file(file):
            raise Refused("invalid_arguments", f"'{file}' is not a valid file name")
        row = {"branch": branch, "file": file, "content": args["content"]}
        return store.put("git_workspace", f"{branch}/{file}", row)

    def _discard_workspace_file(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        place = f"{args['branch']}/{args['relative_path']}"
        store.need("git_workspace", place)
        store.remove("git_workspace", place)
        return {"branch": args["branch"], "file": args["relative_path"], "discarded": True}

    def _commit_changes(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        branch, message = args["branch"], args["message"]
        if "\0" in message or "\n" in message:
            raise Refused("invalid_arguments", "message must be one line")
        store.need("git_branches", branch)
        head, rows = self._heads[branch], store.items("git_workspace", branch=branch)["items"]
        if all(head.files.get(row["file"]) == row["content"] for row in rows):
            raise Refused("conflict", f"nothing to commit on {branch}")
        written = {row["file"]: row["content"] for row in rows}
        moved = self._move(store, branch, self._commit({**head.files, **written}, head, message))
        self._clear_workspace(store, branch)
        return {"branch": branch, "commit": moved["head"], "previous": moved["previous"]}

    def _clear_workspace(self, store: Store, branch: str) -> None:
        for row in sorted(store.items("git_workspace", branch=branch)["items"], key=lambda row: row["file"]):
            store.remove("git_workspace", f"{branch}/{row['file']}")

    def _merge_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name, into = args["branch_name"], args["into_branch"]
        store.need("git_branches", name)
        store.need("git_branches", into)
        theirs, ours = self._heads[name], self._heads[into]
        if ours.reaches(theirs):
            return self._move(store, into, ours)
        if not theirs.reaches(ours):
            raise Refused("conflict", f"{into} cannot be moved forward to {name}")
        return self._move(store, into, theirs)

    def _revert_commit(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        branch, short = args["branch"], args["commit"]
        store.need("git_branches", branch)
        head = self._heads[branch]
        if head.id[:7] != short:
            raise Refused("conflict", f"{short} is not the head of {branch}")
        if head.parent is None:
            raise Refused("conflict", f"commit {short} has no parent")
        made = self._commit(head.parent.files, head, f"Revert {short}")
        self._move(store, branch, made)
        return {"branch": branch, "commit": made.id[:7], "reverted": short}

    def _reset_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        store.need("git_branches", args["branch"])
        return self._move(store, args["branch"], self._find(args["commit"]))

    def _delete_branch(self, store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
        name = args["branch_name"]
        store.need("git_branches", name)
        if name == "main":
            raise Refused("conflict", "branch main cannot be deleted")
        del self._heads[name]
        store.remove("git_branches", name)
        self._clear_workspace(store, name)
        return {"branch_name": name, "deleted": True}


def _shown(tag: Row) -> dict[str, Any]:
    return {"name": tag["name"], "target": tag["target"][:7], "message": tag["message"]}
