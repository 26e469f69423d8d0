"""Figures and tables of the undo part: from a build's counts and the committed times, the same bytes each time."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.planners.tables import COUNTS
from undolab.report import undo_figures, undo_tables

ROOT = Path(__file__).parents[2]
MODELS = ("gemma3-270m", "smollm2-135m")
BRANCHES = ("mapped", "undoscope", "unscoped", "undolab")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with the released histories, a small study and a few times."""
    root = tmp_path_factory.mktemp("build")
    (root / "undo").mkdir()
    shutil.copyfile(ROOT / "results/undo/histories-summary.json", root / "undo/histories-summary.json")
    cells = {}
    for model in MODELS:
        for part in ("ordinary", "hardened", "clean"):
            for number, branch in enumerate(BRANCHES):
                counts = dict.fromkeys(COUNTS, number)
                told = branch in ("mapped", "undoscope")
                claims = {f"claims_{kind}": 20 * told for kind in ("true", "false", "open")}
                cells[f"{model}/{part}/{branch}"] = {**counts, **claims, "tasks": 60, "eligible": 50}
    study = {"tasks": 240, "responses": 720, "branches": 960, "cells": cells, "attacks": {}}
    (root / "undo/study-summary.json").write_text(json.dumps(study))
    times = {name: [100.0 * (place + 1) for place in range(100)] for name in ("snapshot", "undolab")}
    latency = {"machine": {"cpu": "x"}, "rounds": 100, "microseconds": times}
    (root / "undo-latency.json").write_text(json.dumps(latency))
    return root


def rows(path: Path) -> list[dict[str, str]]:
    """Return a CSV file's rows."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_tables_hold_the_published_totals_and_every_cell(build: Path, tmp_path: Path) -> None:
    """U1 has the published counts in the published order, U2 a row a cell and branch, U3 the quantiles."""
    written = undo_tables.write(build, build, tmp_path)
    assert [path.name for path in written] == [
        f"tableU{n}.{kind}" for n in (1, 2, 3) for kind in ("csv", "tex")
    ]
    first = rows(tmp_path / "tableU1.csv")
    assert [row["collateral"] for row in first[:7]] == ["1035", "521", "271", "0", "0", "0", "0"]
    assert [row["recovered"] for row in first[:7]] == ["19", "523", "95", "4", "42", "678", "0"]
    second = rows(tmp_path / "tableU2.csv")
    assert [(row["model"], row["prompt"], row["branch"]) for row in second] == [
        (model, prompt, branch)
        for model in MODELS
        for prompt in ("ordinary", "hardened")
        for branch in BRANCHES
    ]
    (third, _) = rows(tmp_path / "tableU3.csv")
    assert third == {
        "policy": "snapshot", "n": "100", "median_us": "5050.000000", "p95_us": "9505.000000", "p99_us": "9901.000000",
    }  # fmt: skip


def test_tables_for_tex_are_well_formed(build: Path, tmp_path: Path) -> None:
    """Each row has as many columns as its table; a branch without reports has dashes for them."""
    undo_tables.write(build, build, tmp_path)
    for number, columns in ((1, 7), (2, 7), (3, 5)):
        text = (tmp_path / f"tableU{number}.tex").read_text("ascii")
        for line in text.splitlines():
            if line.endswith(r"\\"):
                spans = [int(width) for width in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert line.count(" & ") + 1 + sum(spans) - len(spans) == columns
    assert text.count("--") == 0
    assert (tmp_path / "tableU2.tex").read_text().count("& -- & -- & --") == 8


def test_six_figures_are_the_same_twice(build: Path, tmp_path: Path) -> None:
    """PDF and PNG of each figure are there, and equal input gives equal bytes."""
    first = undo_figures.write(build, build, tmp_path / "one")
    assert [path.name for path in first] == [
        f"figureU{n}.{kind}" for n in range(1, 7) for kind in ("pdf", "png")
    ]
    again = undo_figures.write(build, build, tmp_path / "two")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_what_is_missing_or_broken_is_one_sentence(build: Path, tmp_path: Path) -> None:
    """A missing measurement and a summary of another form each say what to do."""
    with pytest.raises(UndolabError, match=r"undo-latency\.json is missing; .*undo_latency\.py --record"):
        undo_tables.write(build, tmp_path, tmp_path)
    other = Path(shutil.copytree(build, tmp_path / "build"))
    (other / "undo/study-summary.json").write_text("{}")
    with pytest.raises(UndolabError, match="has not the right form"):
        undo_figures.write(other, build, tmp_path)
