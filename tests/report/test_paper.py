"""The paper's build: what it refuses, and in which words."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.report.paper import build, failure, problems

BOX = "Overfull \\hbox ({}pt too wide) in paragraph at lines 3--4"


def _project(tmp_path: Path, script: str) -> tuple[Path, Path, Path]:
    paper, built, tectonic = tmp_path / "paper", tmp_path / "build", tmp_path / "tectonic"
    paper.mkdir()
    (paper / "paper.tex").write_text("\\input{macros}")
    (paper / "paper.pdf").write_text("the released one")
    for name in ("paper/macros.tex", "tables/table1.tex", "figures/figure2.pdf", "figures/figure2.png"):
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_text(name)
    tectonic.write_text(f"#!/bin/sh\n{script}\n")
    tectonic.chmod(0o755)
    return paper, built, tectonic


def test_a_line_in_the_margin_is_named_with_its_file() -> None:
    """A box more than 2 pt too wide is a fault, a smaller one is not."""
    log = f"{BOX.format('2.01')}\n[]\n{BOX.format('1.99')}\n"
    messages = f"warning: sections/data.tex:4: {BOX.format('2.01')}\n"

    found = problems(log, messages)

    assert found == ["sections/data.tex: a line is 2.0 pt too wide in paragraph at lines 3--4"]


def test_undefined_references_and_citations_are_faults() -> None:
    """A reference that leads nowhere is named, also where TeX broke its log line within the name."""
    log = (
        "LaTeX Warning: Reference `tab:no' on page 1 undefined on input line 5.\n"
        "Package natbib Warning: Citation `so\nmeone' on page 2 undefined on input line 7.\n"
    )

    assert problems(log, "") == ["reference tab:no is undefined", "citation someone is undefined"]


def test_a_character_without_a_glyph_is_a_fault() -> None:
    """Text that would silently vanish from the page is named."""
    log = "Missing character: There is no → in font [lmroman10-regular]!\n"

    assert problems(log, "") == ["no font has the character →"]


def test_a_sound_log_has_no_fault() -> None:
    """Underfull boxes and font notes are no fault."""
    assert problems("Underfull \\hbox (badness 10000) in paragraph at lines 3--4\n", "") == []


@pytest.mark.parametrize(
    ("log", "start"),
    [
        ("! LaTeX Error: File `tables/table1.tex' not found.\n", "tables/table1.tex is missing;"),
        ("! Unable to load picture or PDF file 'figures/figure2.pdf'.\n", "figures/figure2.pdf is missing;"),
        ("! LaTeX Error: File `booktabs.sty' not found.\n", "booktabs.sty is not in the TeX bundle;"),
        ("! Undefined control sequence.\nl.6 It is \\URcrsr\n", "\\URcrsr is no macro;"),
        ("! Missing $ inserted.\n", "Missing $ inserted;"),
        ("", "error: something;"),
    ],
)
def test_a_stop_of_tex_is_told_in_one_sentence(log: str, start: str) -> None:
    """The sentence begins with the missing file, the unknown macro or TeX's own words (field case B23)."""
    assert failure(log, "error: something\n").startswith(start)


def test_the_build_stages_sources_and_generated_parts(tmp_path: Path) -> None:
    """TeX sees sources, numbers, tables and figures in one folder, and neither pictures for the web nor the released PDF."""
    project = _project(
        tmp_path,
        'find . -type f ! -name paper.pdf | LC_ALL=C sort > paper.pdf; echo "$SOURCE_DATE_EPOCH" >> paper.pdf',
    )

    pdf = build(*project, 1_767_225_600)

    staged = ["./figures/figure2.pdf", "./macros.tex", "./paper.tex", "./tables/table1.tex"]
    assert project[1] / "paper/paper.pdf" == pdf
    assert [*staged, "1767225600"] == pdf.read_text().splitlines()


def test_a_fault_leaves_no_pdf(tmp_path: Path) -> None:
    """A paper with an undefined reference is not delivered."""
    warning = "LaTeX Warning: Reference 'x' on page 1 undefined on input line 5."
    project = _project(tmp_path, f'echo "{warning}" | sed "s/.x/\\`x/" > paper.log; touch paper.pdf')

    with pytest.raises(UndolabError, match="reference x is undefined"):
        build(*project, 0)

    assert not (project[1] / "paper/paper.pdf").exists()


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    """Without the generated numbers nothing is started."""
    paper, built, tectonic = _project(tmp_path, "exit 1")
    (built / "paper/macros.tex").unlink()

    with pytest.raises(UndolabError, match=r"macros\.tex is missing; `snakemake paper` makes it"):
        build(paper, built, tectonic, 0)


def test_without_tectonic_the_way_out_is_named(tmp_path: Path) -> None:
    """Whoever has no TeX is told which command prepares it (field case B23)."""
    paper, built, _ = _project(tmp_path, "exit 1")

    with pytest.raises(UndolabError, match="missing; `make artifact` prepares it"):
        build(paper, built, tmp_path / ".tools/tectonic", 0)
