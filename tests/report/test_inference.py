"""Tables of statistics that another stage computes: shown as they are, and missing ones said to be missing."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.report import inference

SOURCES = inference._SOURCES


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_what_was_not_computed_is_said(tmp_path: Path, source: inference._Source) -> None:
    """Without its file a table has one row, which says that there is no number."""
    found = {sheet.name: sheet for sheet in inference.sheets(tmp_path)}[source.name]
    assert found.rows[1:] == [[source.file, "not computed"]]
    assert "not computed" in found.tex


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_a_file_is_shown_row_by_row(tmp_path: Path, source: inference._Source) -> None:
    """CSV keeps every column; TeX shows the chosen ones, shares in percent, and a dash where nothing is."""
    columns = [*source.shown, *(name for name, _ in source.only if name not in source.shown), "more"]
    values = dict.fromkeys(columns, "0.125000") | dict(source.only) | {next(iter(source.shown)): "a_b"}
    last = list(source.shown)[-1]
    path = tmp_path / source.file
    path.write_text(f"{','.join(columns)}\n{','.join({**values, last: ''}[name] for name in columns)}\n")

    found = {sheet.name: sheet for sheet in inference.sheets(tmp_path)}[source.name]

    assert found.rows[0] == columns
    lines = found.tex.splitlines()
    assert r"a\_b" in lines[4]
    assert lines[4].endswith(r"-- \\")
    assert ("12.5" in lines[4]) is bool(source.percent - {last, next(iter(source.shown))})


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    """A column that the table needs and the file lacks is named."""
    (tmp_path / SOURCES[0].file).write_text("other\n1\n")
    with pytest.raises(UndolabError, match="has no column"):
        inference.sheets(tmp_path)
