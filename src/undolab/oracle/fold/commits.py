"""Commits as values, the merge of a pick and the rules for names: what git's tools need and no store knows."""

import re
from collections.abc import Mapping

import msgspec

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
_LONGEST_REF = 1023
"""Bytes of a full reference name: libgit2's limit."""
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")
_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")


class Commit(msgspec.Struct, frozen=True):
    """One commit with its whole history before it."""

    id: str
    parent: "Commit | None"
    message: str
    files: dict[str, str]

    def log(self) -> list["Commit"]:
        """Return this commit and its ancestors, newest first."""
        found: list[Commit] = []
        commit: Commit | None = self
        while commit is not None:
            found.append(commit)
            commit = commit.parent
        return found

    def reaches(self, other: "Commit") -> bool:
        """Return True if `other` is this commit or one of its ancestors."""
        return any(commit.id == other.id for commit in self.log())


def picked_from(message: str) -> str:
    """Return the short id that the last line of a message names as picked, else an empty text."""
    named = _PICKED.fullmatch(message.rsplit("\n", 1)[-1])
    return named.group(1)[:7] if named else ""


def merge(
    base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]
) -> dict[str, str] | str:
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


def valid_ref(folder: str, name: str) -> bool:
    """Return True if a tag or branch may have this name; `folder` is `refs/tags/` or `refs/heads/`."""
    parts = name.split("/")
    return not (
        name == "HEAD"
        or len(f"{folder}{name}".encode()) > _LONGEST_REF
        or name.startswith("-")
        or name.endswith(".")
        or _FORBIDDEN.search(name)
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
    )


def valid_file(name: str) -> bool:
    """Return True if a file of a workspace may have this name."""
    return _FILE.fullmatch(name) is not None
