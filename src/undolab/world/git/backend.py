"""libgit2's object and reference stores over the world's connection, so that git writes stand or fall with the ledger.

Both hold no state of their own. The reference store only looks up and writes: pygit2's glue calls the wrong method for
a removal, so removals go to the table directly (`Repo.delete_tag`).
"""

from collections.abc import Iterator
from sqlite3 import Connection

import pygit2
from pygit2.enums import ObjectType

DDL = (
    "CREATE TABLE _git_objects (id BLOB PRIMARY KEY, type INTEGER NOT NULL, data BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE _git_refs (name TEXT PRIMARY KEY, target TEXT NOT NULL) STRICT, WITHOUT ROWID",
)


class Objects(pygit2.OdbBackend):
    """Objects by id; never changed, never removed."""

    def __init__(self, db: Connection) -> None:
        super().__init__()
        self._db = db

    def read_cb(self, oid: pygit2.Oid) -> tuple[int, bytes]:
        """Return type and bytes of an object."""
        found = self._db.execute("SELECT type, data FROM _git_objects WHERE id = ?", (oid.raw,)).fetchone()
        if found is None:
            raise KeyError(str(oid))
        kind, data = found
        return kind, data

    def read_prefix_cb(self, digits: str) -> tuple[int, bytes, pygit2.Oid]:
        """Return type, bytes and id of an object; pygit2 asks so for whole ids too, and we ask for nothing else."""
        oid = pygit2.Oid(hex=digits)
        return *self.read_cb(oid), oid

    def read_header_cb(self, oid: pygit2.Oid) -> tuple[int, int]:
        """Return type and size of an object."""
        kind, data = self.read_cb(oid)
        return kind, len(data)

    def exists_cb(self, oid: pygit2.Oid) -> bool:
        """Return whether the object is there."""
        return self._db.execute("SELECT 1 FROM _git_objects WHERE id = ?", (oid.raw,)).fetchone() is not None

    def write_cb(self, oid: pygit2.Oid, data: bytes, kind: ObjectType) -> None:
        """Keep an object."""
        self._db.execute(
            "INSERT OR IGNORE INTO _git_objects VALUES (?, ?, ?)", (oid.raw, int(kind), bytes(data))
        )

    def refresh_cb(self) -> None:
        """There is nothing to refresh."""


class References(pygit2.RefdbBackend):
    """Direct references by full name."""

    def __init__(self, db: Connection) -> None:
        super().__init__()
        self._db = db

    def exists(self, name: str) -> bool:
        """Return whether the reference is there."""
        return self._db.execute("SELECT 1 FROM _git_refs WHERE name = ?", (name,)).fetchone() is not None

    def lookup(self, name: str) -> pygit2.Reference:
        """Return one reference."""
        found = self._db.execute("SELECT target FROM _git_refs WHERE name = ?", (name,)).fetchone()
        if found is None:
            raise KeyError(name)
        return pygit2.Reference(name, pygit2.Oid(hex=found[0]), None)

    def write(self, ref: pygit2.Reference, *_details: object) -> None:
        """Set a reference; libgit2 has checked by then that it may."""
        self._db.execute("INSERT OR REPLACE INTO _git_refs VALUES (?, ?)", (ref.name, str(ref.target)))

    def has_log(self, _name: str) -> bool:
        """There are no reference logs."""
        return False

    ensure_log = has_log

    def __iter__(self) -> Iterator[pygit2.Reference]:
        names = self._db.execute("SELECT name FROM _git_refs ORDER BY name").fetchall()
        return iter([self.lookup(name) for (name,) in names])

    def __next__(self) -> pygit2.Reference:
        raise StopIteration  # its presence alone is what makes pygit2 call __iter__

    def _unused(self, *_details: object) -> None:
        raise NotImplementedError

    # libgit2 takes no store without these; it calls none of them.
    lock = unlock = reflog_read = reflog_write = reflog_rename = reflog_delete = _unused


def open_repository(db: Connection) -> pygit2.Repository:
    """Return a bare repository in memory over the connection's tables.

    It is cheap, and made anew for each call: libgit2 caches objects in it, which a rollback would leave stale.
    """
    repository = pygit2.Repository()
    objects = pygit2.Odb()
    objects.add_backend(Objects(db), 1)
    repository.set_odb(objects)
    references = pygit2.Refdb.new(repository)
    references.set_backend(References(db))
    repository.set_refdb(references)
    return repository
