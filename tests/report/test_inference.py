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
    """CSV keeps the file as it is; TeX shows the chosen rows and columns, shares in percent, and a dash where nothing is."""
    columns = [*dict.fromkeys(source.needed), "more"]
    number = "3" if source.summed else "-0.125000"
    row = {name: "a_b" if name in source.keys else number for name in columns}
    row |= {name: values[-1] for name, values in source.only} | ({source.pivot: "12"} if source.pivot else {})
    lines = [row, row | ({source.pivot: "36", next(iter(source.values)): ""} if source.pivot else {})]
    if source.only:
        lines.append(row | {source.only[0][0]: "elsewhere"})
    text = "".join(",".join(line[name] for name in columns) + "\n" for line in lines)
    (tmp_path / source.file).write_text(",".join(columns) + "\n" + text)

    found = {sheet.name: sheet for sheet in inference.sheets(tmp_path)}[source.name]

    assert found.rows == [columns, *([line[name] for name in columns] for line in lines)]
    body = found.tex.splitlines()[4:-2]
    assert len(body) == 1
    assert r"a\_b" in body[0]
    assert ("& 6 " in body[0]) is source.summed
    assert (r"\ensuremath{-}12.5" in body[0]) is bool(source.percent)
    assert ("--" in body[0]) is bool(source.pivot)


def test_nothing_to_compare_is_no_empty_table(tmp_path: Path) -> None:
    """A file with its header alone, as one framework gives for the equivalence of two, says so."""
    source = SOURCES[0]
    (tmp_path / source.file).write_text(",".join(source.needed) + "\n")
    assert "nothing to compare" in inference.sheets(tmp_path)[0].tex


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    """A column that the table needs and the file lacks is named."""
    (tmp_path / SOURCES[0].file).write_text("other\n1\n")
    with pytest.raises(UndolabError, match="has no column"):
        inference.sheets(tmp_path)
