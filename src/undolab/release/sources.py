"""Digests of the package's rooms with all they import: the code input of a build rule, free of mtimes."""

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from undolab.model.errors import UndolabError
from undolab.release.files import byte_order, file_digest

_PACKAGE = "undolab"


def rooms(package: Path) -> list[str]:
    """Return the names of the rooms, sorted. `package` is the folder `src/undolab`."""
    return sorted(path.parent.name for path in package.glob("*/__init__.py"))


def closure(package: Path, room: str) -> list[str]:
    """Return every file that a room's code rests on, relative to the package's folder, in byte order.

    That is each file of the room, each module of ours that these import (at the top or inside a function),
    and so on; and the data files that lie beside an imported module.

    Raises:
        UndolabError: there is no such room, or a file in it is not Python.
    """
    if not (package / room / "__init__.py").is_file():
        raise UndolabError(
            f"There is no room {room!r} in the package; the rooms are {', '.join(rooms(package))}."
        )
    todo = [path for path in (package / room).rglob("*.py") if path.is_file()]
    todo.append(package / "__init__.py")
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo += _imported(package, path)
    folders = {path.parent for path in seen} - {package}
    seen |= {path for folder in folders for path in folder.iterdir() if _is_data(path)}
    seen |= {path for path in (package / room).rglob("*") if _is_data(path)}
    return sorted((path.relative_to(package).as_posix() for path in seen), key=byte_order)


def room_digest(package: Path, room: str) -> str:
    """Return one SHA-256 for a room with its imports, 64 lower-case hex digits."""
    listing = "".join(f"{file_digest(package / name)}  {name}\n" for name in closure(package, room))
    return hashlib.sha256(listing.encode()).hexdigest()


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".py", ".pyc"}


def _imported(package: Path, path: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes(), filename=path.name)
    except SyntaxError as error:
        where = path.relative_to(package.parent).as_posix()
        raise UndolabError(f"{where} line {error.lineno} is not valid Python; mend it first.") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(package, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield from _modules(package, node.module)
            for alias in node.names:
                yield from _modules(package, f"{node.module}.{alias.name}")


def _modules(package: Path, dotted: str) -> Iterator[Path]:
    """Yield the files that importing a dotted name of ours runs: the packages on the way and the module."""
    parts = dotted.split(".")
    if parts[0] != _PACKAGE:
        return
    folder = package
    for part in parts[1:]:
        if (folder / part / "__init__.py").is_file():
            folder /= part
            yield folder / "__init__.py"
        else:
            if (folder / f"{part}.py").is_file():
                yield folder / f"{part}.py"
            return
