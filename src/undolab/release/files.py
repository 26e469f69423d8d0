"""Files on disk: digests, walks that refuse links, and writes that leave equal files alone."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from undolab.model.files import write_bytes
from undolab.release.layout import IGNORED_NAMES


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, 64 lower-case hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digests(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return name to digest for files below `root`; hashing runs on every core."""
    wanted = list(names)
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        return dict(zip(wanted, pool.map(lambda name: file_digest(root / name), wanted), strict=True))


def byte_order(name: str) -> bytes:
    """Return the sort key of a path: its bytes, so that no locale changes the order."""
    return name.encode("utf-8", "surrogateescape")


def walk(root: Path, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield each file below `root/folder` as (relative POSIX path, whether it is a link or no plain file).

    Links are named and never followed: what stands behind one is not part of the tree.
    """
    top = root / folder
    if top.is_symlink():
        yield folder, True
        return
    if not top.is_dir():
        return
    with os.scandir(top) as entries:
        found = list(entries)
    for entry in found:
        name = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in IGNORED_NAMES:
                yield from walk(root, name)
        else:
            yield name, not entry.is_file(follow_symlinks=False)


def passes_link(root: Path, name: str) -> bool:
    """Return True if the path, or a folder on the way to it, is a symbolic link."""
    path = root
    for part in name.split("/"):
        path /= part
        if path.is_symlink():
            return True
    return False


def write_if_changed(path: Path, data: bytes) -> bool:
    """Write the file only if its bytes differ, so that no later step wakes for nothing; True if written."""
    if path.is_file() and path.read_bytes() == data:
        return False
    write_bytes(path, data)
    return True
