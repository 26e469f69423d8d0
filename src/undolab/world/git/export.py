"""Write the repository of a world to a directory, where git's own tools can check it."""

from pathlib import Path
from sqlite3 import Connection

import pygit2
from pygit2.enums import ObjectType


def export(db: Connection, path: Path) -> None:
    """Write a bare repository with every object and reference to `path`, which must not exist yet."""
    repository = pygit2.init_repository(path, bare=True, initial_head="main")
    for kind, data in db.execute("SELECT type, data FROM _git_objects ORDER BY id"):
        repository.odb.write(ObjectType(kind), data)
    # One file for all: `a` and `a/b` may both be names here, but not both be files.
    lines = [
        f"{target} {name}\n"
        for name, target in db.execute("SELECT name, target FROM _git_refs ORDER BY name")
    ]
    (path / "packed-refs").write_text("# pack-refs with: sorted \n" + "".join(lines), encoding="utf-8")
