"""`undolab undo histories` writes the summary and the tables, the same bytes each time."""

import argparse
import json

import pytest

from undolab.cli.undo_histories import add_histories
from undolab.model.errors import UndolabError


def _run(*words):
    parser = argparse.ArgumentParser()
    add_histories(parser.add_subparsers())
    arguments = parser.parse_args(["histories", *words])
    return arguments.run(arguments)


def test_json_and_files(tmp_path, monkeypatch, capsys):
    """The printed JSON is the summary on the disk; a second run writes the same bytes."""
    monkeypatch.chdir(tmp_path)
    assert _run("--json") == 0
    folder = tmp_path / "build/undo"
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "histories-summary.json").read_bytes())
    assert printed["depth"] == 4
    assert printed["by_kind"]["create"]["undoscope"] == {"eligible": 1, "collateral": 0, "recovered": 1}
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(first) == {"histories-summary.json", "histories-by-kind.csv", "histories.csv", "ablation.csv"}
    assert _run() == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    page = capsys.readouterr().out
    assert "1,364 histories" in page
    assert "kernel: 0 histories wrong" in page


def test_deep_runs_leave_no_stale_rows(tmp_path, monkeypatch, capsys):
    """A depth whose rows would be too many takes the rows of an earlier depth away."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("undolab.cli.undo_histories._ROWS_DEEPEST", 1)
    assert _run("--depth", "1") == 0
    assert _run("--depth", "2") == 0
    assert not (tmp_path / "build/undo/histories.csv").exists()
    capsys.readouterr()


@pytest.mark.parametrize("depth", ["-1", "9"])
def test_depth_out_of_range(depth):
    """A depth that cannot be meant is refused in one sentence."""
    with pytest.raises(UndolabError, match="between 0 and 8"):
        _run(f"--depth={depth}")
