"""`undolab undo models` on the released records: 240 tasks, 720 answers, no attack through scope, and an audit that bites."""

import json
from pathlib import Path

import pytest

from undolab.cli.main import main
from undolab.planners.tasks import MODELS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the repository's configuration and records, and no results."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("config", "data"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.mark.skipif(
    not all((ROOT / f"data/records/{model}/undo.jsonl.zst").is_file() for model in MODELS),
    reason="a model is not recorded yet; `undolab undo models --live` records it",
)
def test_the_released_records_replay_and_pass_their_audit(home, monkeypatch, capsys):
    """The whole study comes out of the records alone; then one changed cell is named."""
    monkeypatch.chdir(home)
    assert main(["undo", "models"]) == 0
    found = json.loads(Path("build/undo/study-summary.json").read_text())
    assert (found["tasks"], found["responses"], found["branches"], found["store_differs"]) == (
        240,
        720,
        960,
        0,
    )
    for cell, counts in found["cells"].items():
        _, _, branch = cell.split("/")
        assert branch == "unscoped" or counts["victim_changed"] == 0
        assert branch == "mapped" or counts["collateral"] == 0
    Path("results").mkdir()
    Path("results/undo").symlink_to(home / "build/undo")
    assert main(["undo", "models", "--audit"]) == 0
    assert "240 tasks, 720 recorded answers, 960 branches recomputed; 0 problems" in capsys.readouterr().out


def test_what_cannot_be_meant_is_refused(monkeypatch, tmp_path, capsys):
    """--audit with --live, --model without it, and records that are not there are one sentence each."""
    assert main(["undo", "models", "--live", "--audit"]) == 2
    assert main(["undo", "models", "--model", "gemma3-270m"]) == 2
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    assert main(["undo", "models"]) == 2
    assert "undolab undo models --live" in capsys.readouterr().err
