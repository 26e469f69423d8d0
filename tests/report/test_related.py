"""Table 12 and its data: every cell answered or left open on purpose, every source named and citable."""

import re
from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.report.related import Answer, read_literature, sheet

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data/related.yaml"


def test_eight_dimensions_and_our_own_row_last() -> None:
    """The table compares by eight named dimensions; each system has a source, and ours stands last."""
    found = read_literature(DATA)
    assert len(found.dimensions) == 8
    assert found.systems[-1].read == "own"
    assert all(one.source for one in found.systems)


def test_every_citation_is_in_the_bibliography() -> None:
    """Each system but ours has a key of `references.bib`."""
    keys = set(re.findall(r"^@\w+\{([^,]+),", (ROOT / "paper/references.bib").read_text(), re.MULTILINE))
    assert {one.cite for one in read_literature(DATA).systems[:-1]} <= keys


def test_what_is_unstated_is_a_dash_and_not_a_no() -> None:
    """An open cell prints a dash."""
    found = read_literature(DATA)
    row = dict(zip(sheet(DATA).rows[0], sheet(DATA).rows[2], strict=True))
    cells = found.systems[1].cells
    assert {name for name in cells if row[name] == Answer.UNSTATED} == {
        name for name, cell in cells.items() if cell.answer is Answer.UNSTATED
    }
    line = next(line for line in sheet(DATA).tex.splitlines() if line.startswith(row["system"]))
    assert line.count("--") == sum(cell.answer is Answer.UNSTATED for cell in cells.values())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("      replay: {answer: unstated}\n  - id: toolmisuse", "  - id: toolmisuse", "reliabilitybench has no cell replay"),
        ("witness: {answer: unstated}", "wisdom: {answer: unstated}", "has a cell wisdom, which is no dimension"),
        ("replay: {answer: unstated}", 'replay: {answer: "yes"}', "reliabilitybench/replay has an answer and no reason"),
        ("    read: abstract", "    red: abstract", "unknown field `red`"),
    ],
)  # fmt: skip
def test_a_gap_in_the_data_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    """A cell that is missing, unknown or without a reason is refused with its place."""
    path = tmp_path / "related.yaml"
    text = DATA.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UndolabError, match=said):
        read_literature(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    """Without the data there is no table."""
    with pytest.raises(UndolabError, match="restore it from the repository"):
        read_literature(tmp_path / "related.yaml")
