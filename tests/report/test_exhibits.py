"""Captions for Snakemake's report: every table and figure has one, and no character of it acts as mark-up."""

from pathlib import Path
from shutil import copytree

import pytest
from docutils.core import publish_parts
from jinja2 import Template

from undolab.report.captions import captions
from undolab.report.exhibits import escaped, title, write
from undolab.report.numbering import items
from undolab.stats.rows import read_metrics

ROOT = Path(__file__).parents[2]


def test_every_table_and_figure_of_the_paper_has_its_own_words(narrow_build: Path, tmp_path: Path) -> None:
    """Each file's caption is the paper's, under the name a reader uses; a name that nobody knows is said to be elsewhere."""
    copytree(narrow_build / "stats", tmp_path / "stats")
    texts = captions(read_metrics(narrow_build / "stats"))
    names = [item.name for item in items()]

    written = write(tmp_path, [*names, "figureU1", "tableelse"])

    assert [path.name for path in written] == [f"{name}.rst" for name in (*names, "figureU1", "tableelse")]
    for item, path in zip(items(), written, strict=False):
        assert path.read_text() == f"**{title(item.name)}.** {escaped(texts[item.macro])}\n"
    assert "a point a policy" in (tmp_path / "captions/figureU1.rst").read_text()
    assert "stands in the paper" in (tmp_path / "captions/tableelse.rst").read_text()


@pytest.mark.parametrize(
    ("name", "said"), [("table01", "Table 1"), ("figure6", "Figure 6"), ("figureU2", "Figure U2"), ("x", "x")]
)
def test_a_file_is_called_as_readers_call_it(name: str, said: str) -> None:
    """Leading zeros go."""
    assert title(name) == said


def test_hostile_words_are_shown_and_do_nothing() -> None:
    """Stars, backticks, bars, links and templates come out as they went in."""
    text = "a *b* `c` |d| e_ <f> {{ 7 * 6 }} {% if %} \\ N = 60"

    html = publish_parts(Template(escaped(text)).render(), writer="html")["body"]

    assert html.strip() == "<p>a *b* `c` |d| e_ &lt;f&gt; {{ 7 * 6 }} {% if %} \\ N = 60</p>"
