"""The guide's program runs as it stands, and the guide and SECURITY.md name tests and tools that exist."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.undo.test_server import COMMAND, talk

from undolab.cli import main
from undolab.undo.registry import EFFECTS
from undolab.undo.store import Store
from undolab.undo.types import Effect, Outcome

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/howto-undo.md").read_text()


def blocks(kind: str) -> list[str]:
    """Return the guide's blocks of one language, in order."""
    return re.findall(rf"^```{kind}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def command(line: str) -> int:
    program, *words = shlex.split(line)
    assert program == "undolab"
    return main(words)


def test_the_guides_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the letter: the guide's commands, its program, its client's configuration from another folder, and its audit."""
    monkeypatch.chdir(tmp_path)
    make, check = blocks("sh")[:2]
    assert [command(line) for line in make.splitlines()] == [0, 0, 0]
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    store, run, receipt = names["store"], names["run"], names["receipt"]
    made = store.forward(run, Effect("create", "folder", {}))
    store.close()
    configured = json.loads(blocks("json")[0])["mcpServers"]["undo"]
    assert configured["command"] == "undolab"
    args = [str(tmp_path / "undo.db") if word == "/path/to/undo.db" else word for word in configured["args"]]
    monkeypatch.chdir("/")
    calls = [("list_effects", {}), *[("recover_effect", {"receipt_id": one.id}) for one in (receipt, made)]]
    _, listed, undone, refused = talk([*COMMAND[:-1], *args], *calls)
    assert [item["state"] for item in listed.structured_content["effects"]] == ["live", "live"]
    assert undone.structured_content["outcome"] == "compensated"
    assert refused.structured_content["outcome"] == "refused"  # a person must be asked, and `serve` has none
    monkeypatch.chdir(tmp_path)
    assert command(check.strip()) == 0
    assert capsys.readouterr().out.startswith("head ")
    serving: dict[str, Any] = {
        "run": run,
        "ask": lambda _context, effect: effect.kind == "create",
        "Store": Store,
    }
    monkeypatch.setattr("undolab.undo.server.serve", lambda *given: serving.update(given=given))
    exec(blocks("python")[1].replace("/path/to/undo.db", "undo.db"), serving)
    asking, whose = serving["given"]
    assert asking.recover(whose, made.id).outcome is Outcome.COMPENSATED
    asking.close()


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
    named = re.findall(r"\b(test_\w+\.py)::(test_\w+)", page)
    assert all("::" in ours for _, ours in rows)
    assert [one for one in named if f"def {one[1]}(" not in (ROOT / "tests/undo" / one[0]).read_text()] == []
