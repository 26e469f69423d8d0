"""The guide's program runs as it stands, and the guide and SECURITY.md name tests and tools that exist."""

import re
from pathlib import Path

import pytest

from undolab.undo import schema
from undolab.undo.registry import EFFECTS
from undolab.undo.store import Store
from undolab.undo.types import Context, Outcome

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/howto-undo.md").read_text()


def test_the_guides_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the guide's first step its Python block writes an effect that can be taken back."""
    monkeypatch.chdir(tmp_path)
    schema.create(Path("undo.db"))
    program = re.search(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert program
    names: dict[str, object] = {}
    exec(program[1], names)
    store, run, receipt = names["store"], names["run"], names["receipt"]
    assert isinstance(store, Store)
    assert isinstance(run, Context)
    store.permit("acme", "agent", "allow")
    assert store.recover(run, receipt.id).outcome is Outcome.COMPENSATED  # type: ignore[attr-defined]
    store.close()


def test_every_kind_is_in_the_guides_table() -> None:
    """The guide lists the registry, no more and no less."""
    table = GUIDE.split("| kind |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(EFFECTS)


def test_the_tests_named_in_the_security_page_exist() -> None:
    """A claim about an attack points to the file that makes it."""
    named = re.findall(r"`(test_\w+\.py)`", (ROOT / "SECURITY.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / "tests/undo" / name).is_file()] == []


def test_every_published_test_has_ours() -> None:
    """The table has a row for each of the 16 published functions, and every test that it names exists."""
    page = (ROOT / "docs/reference/undo-tests.md").read_text()
    rows = re.findall(r"^\| (test_\w+) \| (.*?) \|", page, re.MULTILINE)
    assert len(dict(rows)) == len(rows) == 16
    for _, ours in rows:
        for name in ours.split(", "):
            file, function = name.split("::")
            assert f"def {function}(" in (ROOT / "tests/undo" / file).read_text(), name
