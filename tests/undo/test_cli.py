"""`undolab undo`: make a store, permit, check the audit; mistakes get one sentence."""

import sqlite3
import sys
from pathlib import Path

import pytest
from tests.undo.conftest import ME, add

from undolab.cli import main
from undolab.undo.database import failures
from undolab.undo.store import Store
from undolab.undo.types import Outcome


def run(*words: object) -> int:
    return main(["undo", *map(str, words)])


def test_init_permit_and_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store made and permitted from the command line lets its principal recover, and its audit checks out."""
    database = tmp_path / "undo.db"
    assert run("init", "--database", database) == 0
    assert (
        run(
            "permit",
            "allow",
            "--database",
            database,
            "--tenant",
            "acme",
            "--principal",
            "agent",
            "--kind",
            "add",
        )
        == 0
    )
    store = Store.open(database)
    store.seed("acme", "ticket", {})
    receipt = store.forward(ME, add(1))
    assert store.recover(ME, receipt.id).outcome is Outcome.COMPENSATED
    assert run("audit", "--database", database) == 0
    head = capsys.readouterr().out.split()[1]
    assert head == store.audit_head()
    assert run("audit", "--database", database, "--head", head) == 0
    store.close()
    with sqlite3.connect(database) as db:
        db.execute("DELETE FROM audit WHERE seq > 1")
    db.close()
    assert run("audit", "--database", database, "--head", head) == 1
    assert "its tail was cut" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("permit", "allow", "--tenant", "t", "--principal", "p"),
        ("audit",),
        ("serve", "--tenant", "t", "--principal", "p", "--run", "r"),
    ],
)
def test_a_missing_database_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """No command but `init` makes a file."""
    assert run(*words, "--database", tmp_path / "typo.db") == 2
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err.startswith("undolab: ")


def test_init_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second `init` of the same file is an error."""
    assert run("init", "--database", tmp_path / "undo.db") == 0
    assert run("init", "--database", tmp_path / "undo.db") == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("audit",), ("permit", "allow", "--tenant", "t", "--principal", "p")])
def test_a_damaged_database_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """A file whose pages were overwritten ends in code 2, as all that must be mended first, not in a traceback."""
    database = tmp_path / "undo.db"
    assert run("init", "--database", database) == 0
    data = database.read_bytes()
    database.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    assert run(*words, "--database", database) == 2
    assert capsys.readouterr().err.startswith("undolab: the store's database failed: ")


def test_without_the_driver_only_a_files_failures_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's errors are not looked for where it was never asked for."""
    monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    assert failures() == (sqlite3.Error,)
