"""Numbers of the paper from outside of the main study's metrics: named by one rule, and missing where the source is."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.report import macros, sources

ROOT = Path(__file__).parents[2]
_BEHAVIOUR = {"model": "gemma3-270m", "framework": "F1", "prompt": "runbook", "examples": "plain"}


def _csv(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def build(wide_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a build has for the paper: the wide study's statistics, and small files for the rest."""
    found = tmp_path_factory.mktemp("sources")
    for name in ("stats", "side"):
        (found / name).symlink_to(wide_build / name)
    (found / "undo").mkdir()
    (found / "undo/histories-summary.json").symlink_to(ROOT / "results/undo/histories-summary.json")
    (found / "undo/study-summary.json").write_text('{"tasks": 240}')
    _csv(
        found / "tables/tablebehaviour.csv",
        [_BEHAVIOUR | {"boundary": "PRE_MUTATION", "arms": 1234, "repeat": 5}],
    )
    rows = [
        {
            "id": key,
            "agrees": "yes",
            "corrected": "0.25",
            "unit": "ratio",
            "stat": "value",
            "published": "0.4672",
        }
        | {"recomputed": "undefined"}
        for key in sources._PUBLISHED.values()
    ]
    _csv(found / "published/undobench.csv", rows)
    _csv(found / "published/undoscope.csv", [rows[0] | {"agrees": "no", "corrected": ""}])
    return found


def test_every_source_has_macros_that_tex_can_name(build: Path, tmp_path: Path) -> None:
    """Side studies, behaviour, published figures, histories and evidence stand in one file of macros."""
    values = sources.values(build, ROOT / "data/evidence", ROOT / "data/measurements")
    text = macros.write(
        build / "stats", tmp_path / "macros.tex", values=values, tex=sources.raw(build)
    ).read_text()

    assert r"\newcommand{\URbehaviourGemmathreetwosevenzeroMFonePlainPreArms}{1,234}" in text
    assert r"\newcommand{\URpublishedCrsrPublished}{46.7\,\%}" in text
    assert r"\newcommand{\URpublishedCrsrRecomputed}{undefined}" in text
    assert r"\newcommand{\URpublishedUndoscopeOther}{1}" in text
    assert r"\newcommand{\URhistoriesHistories}{1,364}" in text
    assert r"\newcommand{\URhistoriesOraclesDiffer}{1}" in text
    assert r"\newcommand{\URplannerTasks}{240}" in text
    for name in (
        "evidenceUndoKillsCountsKills",
        "sideDevcrsrPostBzeroCI",
        "sideExamplesRetrycountD",
        "equivalenceControlCI",
    ):
        assert rf"\newcommand{{\UR{name}}}" in text


def test_each_model_has_its_own_equivalence_and_power(build: Path) -> None:
    """The first model's numbers are not those of the last one: another model is named after the measure."""
    found = sources.raw(build)

    with (build / "stats/equivalence.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    told = set()
    for row in rows:
        at = "" if row["model"] == "gemma3-270m" else "AtSmollmtwoonethreefiveM"
        where = macros.place_letters(row["boundary"])
        where += macros.letters(row["method"]) + macros.letters(row["metric"])
        assert found[f"equivalence{at}{where}"] == sources._points(row["value"])
        told.add((at, where, row["value"]))
    first = {(where, value) for at, where, value in told if not at}
    assert first != {(where, value) for at, where, value in told if at}
    assert "powerAtSmollmtwoonethreefiveMFoneSpreadBootstraponetwo" in found


def test_evidence_tells_how_many_problems_it_found_and_no_machine(tmp_path: Path) -> None:
    """A list of problems is a count, and who measured is no number of the paper."""
    (tmp_path / "a.json").write_text(
        json.dumps({"machine": {"cores": 2}, "problems": ["x"], "s": 3268.05, "t": 0.49})
    )

    assert sources._evidence(tmp_path / "a.json") == {"problems": 1, "s": 3268, "t": 0.49}


@pytest.mark.parametrize("name", ["undo/histories-summary.json", "published/undobench.csv"])
def test_a_missing_source_is_named(build: Path, tmp_path: Path, name: str) -> None:
    """No number is left out in silence."""
    for path in build.iterdir():
        (tmp_path / path.name).mkdir()
        for part in path.iterdir():
            if f"{path.name}/{part.name}" != name:
                (tmp_path / path.name / part.name).symlink_to(part)

    with pytest.raises(UndolabError, match=name):
        sources.values(tmp_path, ROOT / "data/evidence", ROOT / "data/measurements")
