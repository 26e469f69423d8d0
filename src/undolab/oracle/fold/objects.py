"""Git objects by hashing alone: the ids of blobs, trees and commits as git's object format defines them."""

import hashlib
from collections.abc import Mapping

_PERSON = "Undolab <lab@example.com>"
_EPOCH = 1767225600
_STEP = 60


def commit_id(files: Mapping[str, str], parent: str | None, message: str, number: int) -> str:
    """Return the id of the world's `number`th commit, from 1.

    Args:
        files: Name to text of every file; no folders.
        parent: Id of the commit before, or None.
        message: Written as it is.
        number: Decides the time of author and committer.
    """
    stamp = f"{_PERSON} {_EPOCH + _STEP * number} +0000"
    lines = [f"tree {_tree(files).hex()}"]
    if parent is not None:
        lines.append(f"parent {parent}")
    lines += [f"author {stamp}", f"committer {stamp}", "", message]
    return _hash("commit", "\n".join(lines).encode()).hex()


def _tree(files: Mapping[str, str]) -> bytes:
    entries = sorted((name.encode(), _hash("blob", text.encode())) for name, text in files.items())
    return _hash("tree", b"".join(b"100644 " + name + b"\0" + blob for name, blob in entries))


def _hash(kind: str, data: bytes) -> bytes:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).digest()
