"""The tables of an undo store and the ways to open one; a missing or foreign database is an error, never a new store."""

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from undolab.model.errors import UndolabError

APPLICATION = 0x756E646F  # "undo"
VERSION = 1
BUSY_MS = 30_000

# Children hang on an incarnation's number and go with it; the incarnation itself stays as a tombstone.
TABLES = """
CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), now INTEGER NOT NULL) STRICT;
CREATE TABLE contexts (
  id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, principal TEXT NOT NULL, run TEXT NOT NULL,
  UNIQUE (tenant, principal, run)
) STRICT;
CREATE TABLE permissions (
  tenant TEXT NOT NULL, principal TEXT NOT NULL, kind TEXT NOT NULL, resource TEXT NOT NULL,
  rule TEXT NOT NULL CHECK (rule IN ('allow', 'approve', 'deny')),
  PRIMARY KEY (tenant, principal, kind, resource)
) STRICT, WITHOUT ROWID;
CREATE TABLE incarnations (
  id INTEGER PRIMARY KEY, generation TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, name TEXT NOT NULL,
  rev INTEGER NOT NULL CHECK (rev >= 1), edits INTEGER NOT NULL CHECK (edits >= 0),
  balance INTEGER NOT NULL, floor INTEGER NOT NULL, held INTEGER NOT NULL, "limit" INTEGER NOT NULL,
  alive INTEGER NOT NULL CHECK (alive IN (0, 1)),
  CHECK (NOT alive OR (balance >= floor AND held BETWEEN 0 AND "limit"))
) STRICT;
CREATE UNIQUE INDEX living ON incarnations (tenant, name) WHERE alive;
CREATE TABLE versions (
  incarnation INTEGER NOT NULL REFERENCES incarnations, field TEXT NOT NULL, writer TEXT NOT NULL,
  value TEXT NOT NULL, prev TEXT NOT NULL,
  PRIMARY KEY (incarnation, field, writer)
) STRICT, WITHOUT ROWID;
CREATE INDEX versions_writer ON versions (incarnation, writer);
CREATE TABLE heads (
  incarnation INTEGER NOT NULL, field TEXT NOT NULL, writer TEXT NOT NULL,
  PRIMARY KEY (incarnation, field),
  FOREIGN KEY (incarnation, field, writer) REFERENCES versions
) STRICT, WITHOUT ROWID;
CREATE INDEX heads_version ON heads (incarnation, field, writer);
CREATE TABLE credits (
  incarnation INTEGER NOT NULL REFERENCES incarnations, writer TEXT NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (incarnation, writer)
) STRICT, WITHOUT ROWID;
CREATE TABLE tags (
  incarnation INTEGER NOT NULL REFERENCES incarnations, writer TEXT NOT NULL, member TEXT NOT NULL,
  PRIMARY KEY (incarnation, writer)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_member ON tags (incarnation, member);
CREATE TABLE holds (
  incarnation INTEGER NOT NULL REFERENCES incarnations, writer TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0), settled INTEGER NOT NULL CHECK (settled IN (0, 1)),
  PRIMARY KEY (incarnation, writer)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  tenant TEXT NOT NULL, id TEXT NOT NULL, principal TEXT NOT NULL, PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, context INTEGER NOT NULL REFERENCES contexts,
  kind TEXT NOT NULL, incarnation INTEGER NOT NULL REFERENCES incarnations,
  other INTEGER REFERENCES incarnations, request TEXT NOT NULL, expires INTEGER NOT NULL,
  outcome TEXT CHECK (outcome IN ('compensated', 'already_absent'))
) STRICT;
CREATE INDEX receipts_run ON receipts (context, seq);
CREATE INDEX receipts_live ON receipts (context, seq) WHERE outcome IS NULL;
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, tenant TEXT NOT NULL, principal TEXT NOT NULL, run TEXT NOT NULL,
  action TEXT NOT NULL, receipt TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
  evidence TEXT NOT NULL, chain TEXT NOT NULL
) STRICT;
"""


def create(path: Path) -> None:
    """Make an empty store.

    Raises:
        UndolabError: something is there already, or it cannot be made; nothing is left behind.
    """
    try:
        with path.open("xb"):
            pass
    except FileExistsError as error:
        raise UndolabError(f"{path} exists already; open it, or name another file") from error
    except OSError as error:
        raise UndolabError(
            f"{path} cannot be made ({error.strerror}); name a file in a folder that exists"
        ) from error
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            build(db)
    except BaseException as error:
        for half in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
            half.unlink(missing_ok=True)  # or the next try would find something there
        if isinstance(error, sqlite3.Error):
            raise UndolabError(
                f"{path} cannot be made ({error}); make room, or name another place"
            ) from error
        raise


def build(db: sqlite3.Connection) -> None:
    """Lay out the tables in an empty database, all or nothing."""
    db.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";\n"):
        if statement.strip():
            db.execute(statement)
    db.execute("INSERT INTO clock VALUES (1, 0)")
    db.execute(f"PRAGMA application_id={APPLICATION}")
    db.execute(f"PRAGMA user_version={VERSION}")
    db.execute("COMMIT")


def connect(path: Path) -> sqlite3.Connection:
    """Open a store that exists.

    Raises:
        UndolabError: there is no file, or it is not an undo store of this version.
    """
    if not path.is_file():
        raise UndolabError(
            f"{path} is not a file; make a store first with `undolab undo init --database {path}`"
        )
    name = f"{path.absolute().as_uri()}?mode=rw"
    with ExitStack() as unless_fine:
        try:
            db = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
            unless_fine.callback(db.close)
            prepare(db)
            found = (
                db.execute("PRAGMA application_id").fetchone()[0],
                db.execute("PRAGMA user_version").fetchone()[0],
            )
        except sqlite3.OperationalError as error:
            raise UndolabError(
                f"{path} cannot be opened ({error}); check its rights and its place"
            ) from error
        except sqlite3.DatabaseError as error:
            raise UndolabError(
                f"{path} is no undo store ({error}); name one made by `undolab undo init`"
            ) from error
        if found != (APPLICATION, VERSION):
            raise UndolabError(
                f"{path} is no undo store of version {VERSION}; name one made by `undolab undo init`"
            )
        unless_fine.pop_all()
    return db


def prepare(db: sqlite3.Connection) -> None:
    """Set what SQLite keeps by connection: every commit is synced, foreign keys hold, a lock is waited for."""
    for pragma in (
        f"busy_timeout={BUSY_MS}",
        "foreign_keys=ON",
        "synchronous=FULL",
        "fullfsync=ON",
        "trusted_schema=OFF",
    ):
        db.execute(f"PRAGMA {pragma}")
