"""Published figures: which come out as printed, which do not, and what a known defect makes of them."""

import shutil
from pathlib import Path

import pytest

from undolab.cli import main
from undolab.model.errors import UndolabError
from undolab.stats.counts import read_counts
from undolab.stats.published import write
from undolab.stats.published.arithmetic import evaluate
from undolab.stats.published.table import Figure

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT / "data" / "published"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Figure]]:
    """Return every figure, recomputed."""
    return write(_DATA, _ROOT / "results" / "undo", tmp_path_factory.mktemp("published"))


def _one(figures: list[Figure], scope: str, metric: str, stat: str, published: str) -> Figure:
    (row,) = {
        (f.recomputed, f.corrected): f
        for f in figures
        if (f.scope, f.metric, f.stat, f.published) == (scope, metric, stat, published)
    }.values()
    return row


def test_only_known_defects_differ(found: dict[str, list[Figure]]) -> None:
    """Every figure that the published counts give comes out as printed, but for broken p-values, hash order and inventions."""
    wrong = [figure for figure in found["undobench"] if figure.agrees == "no"]
    assert {figure.defect or figure.note for figure in wrong} == {
        "cloud",
        "contradiction",
        "p-broken",
        "task lists were hash-ordered: over orders 0.0108 to 0.0206",
    }
    assert {f.section for f in wrong if f.defect == "cloud"} == {"§2.2"}
    assert not [figure for figure in found["undoscope"] if figure.agrees == "no"]


def test_the_recomputed_intervals_come_out_to_four_decimals(found: dict[str, list[Figure]]) -> None:
    """All bounds that are marked recomputed agree."""
    bounds = [f for f in found["undobench"] if f.mark == "recomputed"]
    assert len(bounds) == 8
    assert {f.agrees for f in bounds} == {"yes"}
    assert {f.basis for f in bounds} == {"counts"}


def test_the_task_that_was_never_faulted_is_taken_out(found: dict[str, list[Figure]]) -> None:
    """Without RB-CLOUD-004 the pooled CRSR is 884/2166 instead of 1124/2406, and Gemini's under B0 42/349."""
    figures = found["undobench"]
    pooled = [
        _one(figures, "pooled", "crsr", stat, text) for stat, text in (("num", "1124"), ("den", "2406"))
    ]
    assert [float(figure.corrected) for figure in pooled] == [884, 2166]
    cell = _one(figures, "model=M3;method=B0", "crsr", "value", "0.2108")
    assert cell.corrected == f"{42 / 349:.6f}"
    assert _one(figures, "task=RB-CLOUD-004", "crsr", "value", "1.0").corrected == "undefined"
    assert _one(figures, "method=B0", "der", "value", "0.5844").corrected == f"{561 / 880:.6f}"


def test_undoscopes_totals_come_from_our_histories(found: dict[str, list[Figure]]) -> None:
    """All 35 totals, the ablation and its sums follow from rows that our code made; what was not run is left blank."""
    totals = [f for f in found["undoscope"] if f.section == "§3.3"]
    assert len(totals) == 7 * 5
    assert {(f.agrees, f.basis) for f in totals} == {("yes", "histories")}
    assert {f.agrees for f in found["undoscope"] if f.section == "§3.6"} == {"yes"}
    assert {f.recomputed for f in found["undoscope"] if f.section.startswith(("§4", "§5"))} == {""}


def test_changed_histories_show(tmp_path: Path) -> None:
    """One row of ours that recovers nothing more makes the published total disagree."""
    undo = tmp_path / "undo"
    shutil.copytree(_ROOT / "results" / "undo", undo)
    text = (undo / "histories.csv").read_text()
    row = next(line for line in text.splitlines() if ",undoscope,True,False,True," in line)
    (undo / "histories.csv").write_text(text.replace(row, row.replace("True,False,True", "True,False,False")))
    figures = write(_DATA, undo, tmp_path)["undoscope"]
    assert {f.scope for f in figures if f.agrees == "no"} == {"policy=undoscope"}


def test_every_file_of_counts_can_be_given_to_from_counts() -> None:
    """The files of counts keep the shape that the command reads, with their marks and sources."""
    for name in ("rb3c-counts-task-model", "rb3c-counts-task-method", "rb7n7-counts"):
        assert len({row.task for row in read_counts(_DATA / "undobench" / f"{name}.csv").rows}) == 12


def test_the_same_bytes_from_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`undolab stats published` writes the same two tables and says how many figures came out."""
    write(_DATA, _ROOT / "results" / "undo", tmp_path / "a")
    shutil.copytree(_ROOT / "results" / "undo", tmp_path / "build" / "undo")
    monkeypatch.chdir(_ROOT)
    assert main(["stats", "--build", str(tmp_path / "build"), "published"]) == 0
    assert "53 come out as printed, 0 do not" in capsys.readouterr().out
    for name in ("undobench.csv", "undoscope.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "build" / "published" / name).read_bytes()


def test_formulas_are_exact_and_nothing_but_arithmetic() -> None:
    """The published gap closure is 95.87 %; names, powers, calls and a division by zero are refused."""
    assert round(float(evaluate("(741/762-252/759)/(1-252/759)")), 4) == 0.9587
    assert evaluate("0.1+0.2") * 10 == 3
    for bad in ("1/0", "x", "2**9", "f(1)", "1 +", "True", "-1"):
        with pytest.raises(UndolabError, match="has no value"):
            evaluate(bad)
