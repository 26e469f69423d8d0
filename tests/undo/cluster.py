"""A PostgreSQL server of the tests' own: Debian's programs, a temporary folder, a Unix socket, an unprivileged user."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_UNPACKED = ROOT / ".tools/postgres"
_PROGRAMS = "usr/lib/postgresql/*/bin"
_USERS = ("postgres", "nobody")


class NoServer(Exception):  # noqa: N818 - a reason to skip
    """Why there is no server; the argument says it."""


class Cluster:
    """A running server with one database `undo`; speed before durability, since nothing here outlives a test."""

    def __init__(self) -> None:
        """Make and start it.

        Raises:
            NoServer: the programs are not there, or do not run here.
        """
        self._programs = _programs()
        self._folder = Path(tempfile.mkdtemp(prefix="undolab-pg-", dir="/tmp"))  # a socket's path is short
        self._as: dict[str, object] = {}
        try:
            if os.geteuid() == 0:  # the server refuses to run as root
                user = _unprivileged()
                os.chown(self._folder, user.pw_uid, user.pw_gid)
                self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            self._run("initdb", "-A", "trust", "-U", "undo", "-E", "UTF8", "--locale=C", "-N")
            options = f"-k {self._folder} -c listen_addresses='' -c fsync=off -c full_page_writes=off"
            self._run("pg_ctl", "-w", "-t", "30", "-l", str(self._folder / "log"), "-o", options, "start")
            self._run("createdb", "-h", str(self._folder), "-U", "undo", "undo", data=False)
        except NoServer:
            self.stop()
            raise
        self.url = f"postgresql:///undo?host={self._folder}&user=undo"

    def link(self) -> Any:
        """Return a connection of the owner, past every store."""
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def restart(self) -> None:
        """Stop it as a crash would, and start it anew with the same options."""
        self._run("pg_ctl", "-w", "-t", "30", "-m", "immediate", "-l", str(self._folder / "log"), "restart")

    def stop(self) -> None:
        """Stop it and remove its folder."""
        if (self._folder / "data/postmaster.pid").exists():
            self._run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *words: str, data: bool = True) -> None:
        where = ["-D", str(self._folder / "data")] if data else []
        command = [str(self._programs / program), *where, *words]
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                cwd=self._folder,
                env=_environment(),
                text=True,
                timeout=60,
                check=False,
                **self._as,  # type: ignore[call-overload]
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoServer(f"{program} does not run here: {error}") from error
        if done.returncode:
            raise NoServer(f"{program} failed: {done.stderr.strip() or 'no reason given'}")


def _programs() -> Path:
    for place in (_UNPACKED, Path("/")):
        found = sorted(place.glob(_PROGRAMS), key=lambda path: path.parent.name.zfill(4))
        if found:
            return found[-1]
    raise NoServer("PostgreSQL's server is not installed (apt-get install postgresql, or make test-postgres)")


def _unprivileged() -> pwd.struct_passwd:
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer(f"no user to run PostgreSQL as: none of {', '.join(_USERS)} exists")


def _environment() -> dict[str, str]:
    libraries = [str(path) for path in sorted(_UNPACKED.glob("usr/lib/*-linux-gnu*"))]
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_LIBRARY_PATH": ":".join(libraries)}
