"""The one mapping of numbers to files, and the page that shows it."""

import re
from pathlib import Path

from undolab.report.numbering import FIGURE_FILES, TABLE_FILES, WIRE_TABLE_FILES, items

PAGE = Path(__file__).parents[2] / "docs/reference/report.md"


def test_numbers_are_those_of_the_published_study() -> None:
    """Fourteen tables and six figures, numbered in order; all else has a name."""
    names = (*TABLE_FILES, *WIRE_TABLE_FILES, *FIGURE_FILES)
    assert sorted(name for name in names if re.fullmatch(r"table\d+", name)) == [
        f"table{n:02}" for n in range(1, 15)
    ]
    assert [name for name in FIGURE_FILES if re.fullmatch(r"figure\d+", name)] == [
        f"figure{n}" for n in range(1, 7)
    ]


def test_the_page_lists_every_table_and_figure() -> None:
    """Each has a row with its file, its caption and what it shows, and the page has no other."""
    rows = re.findall(r"^\| `(\w+)` \| `\\URcaption(\w+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    assert rows == [(item.name, item.macro, item.shows) for item in items()]
