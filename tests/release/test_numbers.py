"""Typed numbers: each is generated, explained or equal to a released value, and what a hand changes is found."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.release.numbers import CONSTANTS, audit, typed, value

TEX = r"""% a comment with 17
\documentclass[10pt]{article}
\begin{document}
Of \val{countN} runs \est{crsrPostBzero} passed under B6 and F1; see \cref{tab:two2} and \code{table1.csv}.
\includegraphics[width=0.5\textwidth]{figures/figure2.pdf} \vspace{-3.2em}
\begin{tikzpicture}[x=4mm] \node[box,right=14mm of agent] (a) at (3,4) {twelve methods}; \end{tikzpicture}
There were 1,234 arms, 95\,\% of them in
eleven tasks, a level of $0.05$.
\end{document}
"""


def test_markup_names_and_generated_values_are_no_typed_numbers() -> None:
    """Of TeX only the digits and number words of the prose are left, with their lines."""
    found = [(one.text, one.line) for one in typed("paper/a.tex", TEX)]

    assert found == [("twelve", 6), ("1,234", 7), ("95", 7), ("eleven", 8), ("0.05", 8)]


def test_markdown_blocks_code_and_links_are_left_out() -> None:
    """What a command fills or a reader types into a shell is checked elsewhere; a row that was not measured counts."""
    text = (
        "Runs 36 of them ([40](page-7.md)) with `--cores 2`.\n```sh\nsleep 9\n```\n<!-- minutes:begin (x) -->\n"
        "| 1 | `known` | one |\n| 10 | `unknown` | two 5 |\n<!-- minutes:end -->\nfour\n"
    )

    assert [one.text for one in typed("README.md", text, {"known"})] == ["36", "40", "10", "four"]


@pytest.mark.parametrize(
    ("text", "number"), [("twelve", 12), ("Twenty", 20), ("18,338", 18338), ("0.05", 0.05)]
)
def test_a_number_is_its_value_however_it_is_typed(text: str, number: float) -> None:
    """Words and thousands are read."""
    assert value(text) == number


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a README with a traced number and a constant."""
    (tmp_path / "data").mkdir()
    (tmp_path / "paper").mkdir()
    (tmp_path / "README.md").write_text("It has three parts\nand twelve tasks (12 in all) on Python 3.11.\n")
    (tmp_path / "a.csv").write_text("task\n" + "".join(f"t{n}\n" for n in range(12)))
    (tmp_path / CONSTANTS).write_text(
        "- document: README.md\n  text: parts and twelve tasks (12 in all)\n"
        "  equal: [{file: a.csv, find: {count: true}}, {file: a.csv, find: {distinct: task}}]\n"
        "- document: '*.md'\n  text: Python 3.11\n  reason: the oldest\n"
    )
    return tmp_path


def _problems(root: Path) -> list[str]:
    return audit(root, lambda name: root / name, {}).problems


def test_what_is_explained_passes(docs: Path) -> None:
    """White space may differ from the entry's, and both numbers are compared."""
    assert _problems(docs) == []


def test_a_number_changed_by_hand_is_unexplained_and_its_entry_is_stale(docs: Path) -> None:
    """The words around it no longer hold, so two sentences say where to look."""
    readme = docs / "README.md"
    readme.write_text(readme.read_text().replace("3.11", "3.12"))

    unexplained, stale = _problems(docs)
    assert unexplained.startswith("README.md line 2 has the number 3.12")
    assert stale == "data/constants.yaml: *.md no longer says 'Python 3.11'."


def test_a_changed_source_names_the_sentence_that_lags_behind(docs: Path) -> None:
    """A traced number that the released file no longer has is told with both values."""
    (docs / "a.csv").write_text("task\nt1\nt2\n")

    assert _problems(docs) == [
        "README.md says 'parts and twelve tasks (12 in all)', but a.csv: rows is 2.",
        "README.md says 'parts and twelve tasks (12 in all)', but a.csv: different task is 2.",
    ]


def test_an_entry_is_a_constant_or_traced(docs: Path) -> None:
    """An entry without either, or with a source too few, is refused."""
    (docs / CONSTANTS).write_text("- document: README.md\n  text: twelve\n")
    with pytest.raises(UndolabError, match="needs either a reason or what it equals"):
        _problems(docs)
    (docs / CONSTANTS).write_text(
        "- document: README.md\n  text: twelve tasks (12 in\n  equal: [{file: a.csv, find: {count: true}}]\n"
    )
    assert any("has 2 numbers and 1 sources" in problem for problem in _problems(docs))
