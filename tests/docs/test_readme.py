"""The README says what was checked and measured, because a command filled it in."""

import re
from pathlib import Path

import pytest

from undolab.cli.readme import MEASURED, between, block, filled, measured, minutes
from undolab.model.errors import UndolabError

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHECK = ROOT / "build" / "check.txt"
TABLE = """\
released file                    status      released      rebuilt
paper/paper.pdf                  equivalent  1e91b44ba9e5  0e91b44ba9e5
results/wire/RB-DB-005.jsonl.zst equal       4deee7f963d1  4deee7f963d1
results/wire/heads.tsv           equal       055a34a02f09  055a34a02f09
paper/paper.pdf: the TeX bundle is not the locked one (other); page texts are equal.
3 files checked, and they match what was released: 2 equal, 1 equivalent.
All files are as released: 144 files checked, 0 changed, 0 missing, 0 extra.
"""
ROWS = "| minutes | command |\n|---|---|\n| 10 | `snakemake verify` | all |\n| 9 | `make live` | more |\n"


def test_the_block_of_checks_is_a_line_a_folder_and_the_two_closing_sentences() -> None:
    """The README's block holds counts that add up to its own closing sentence."""
    lines = between(README, "checks").splitlines()
    counts = [re.fullmatch(r"[a-z/-]+ +(\d+) (equal|equivalent)", line) for line in lines[1:-3]]

    assert (lines[0], lines[-1]) == ("```text", "```")
    assert lines[-3].startswith(
        f"{sum(int(count[1]) for count in counts if count)} files checked, and they match"
    )
    assert all(counts)
    assert lines[-2].startswith("All files are as released: ")


def test_the_block_is_the_one_of_the_last_comparison() -> None:
    """A release that was compared in full, on the locked TeX bundle, is the one that the README shows."""
    if not CHECK.is_file() or CHECK.stat().st_mtime < (ROOT / "manifest.sha256").stat().st_mtime:
        pytest.skip("nothing was compared since the release")
    made = block(CHECK.read_text(encoding="utf-8"))
    if "equivalent" in made or "paper" not in made:
        pytest.skip("the PDF was not compared by its bytes")
    assert between(README, "checks") == made


def test_the_minutes_are_those_measured() -> None:
    """Every measured command has a row, with its time rounded up to minutes."""
    if not (ROOT / MEASURED).is_file():
        pytest.skip("no times of the paths are measured yet")
    table = between(README, "minutes")
    assert minutes(table, measured(ROOT / MEASURED)) == table


def test_files_are_counted_by_folder_and_status() -> None:
    """Each folder and status is one line; notes between table and closing sentences are left out."""
    lines = block(TABLE).splitlines()

    assert lines[1:3] == ["paper           1 equivalent", "results/wire    2 equal"]
    assert lines[3:5] == TABLE.splitlines()[-2:]


@pytest.mark.parametrize("text", ["", "nonsense\n", TABLE.splitlines()[0] + "\n"])
def test_what_is_no_table_of_checks_is_refused(text: str) -> None:
    """A cut or foreign file never becomes a claim of the README."""
    with pytest.raises(UndolabError, match="no table of checks"):
        block(text)


def test_minutes_are_rounded_up_and_rows_without_a_measurement_stay() -> None:
    """61 seconds are two minutes, one second is one; a command without a row is refused."""
    assert minutes(ROWS, {"snakemake verify": 61.0}) == ROWS.replace("| 10 |", "| 2 |")
    assert minutes(ROWS, {"snakemake verify": 1.0, "make live": 600.0}) == ROWS.replace(
        "| 10 |", "| 1 |"
    ).replace("| 9 |", "| 10 |")
    with pytest.raises(UndolabError, match="no row for make tea"):
        minutes(ROWS, {"make tea": 1.0})


@pytest.mark.parametrize("text", ["{}", "[1]", '{"seconds": {"a": "soon"}}', '{"seconds": 3}', "{"])
def test_a_file_without_seconds_is_refused(tmp_path: Path, text: str) -> None:
    """A measurement in another shape ends in one sentence."""
    path = tmp_path / "paths.json"
    path.write_text(text)

    with pytest.raises(UndolabError, match="seconds"):
        measured(path)


def test_only_the_named_block_is_filled_and_lost_markers_are_named() -> None:
    """What stands outside of the markers is left as it is."""
    text = "a\n<!-- one:begin (by hand) -->\nold\n<!-- one:end -->\nb\n"

    assert filled(text, "one", "new\n") == text.replace("old", "new")
    assert filled(filled(text, "one", ""), "one", "new\n") == text.replace("old", "new")
    with pytest.raises(UndolabError, match="two:begin"):
        filled(text, "two", "")
