"""Tables and figures of a study of the real one's size, and of a small one: complete, well formed, and readable."""

import csv
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.report import grids, house, rates, tables
from undolab.report.across import splits, variants
from undolab.report.evidence import repeats
from undolab.report.numbering import TABLE_FILES, items
from undolab.report.pool import pool
from undolab.report.strata import by_evidence, by_reversibility, by_target
from undolab.report.style import MM, look
from undolab.report.view import View, read_view, side_views

ROOT = Path(__file__).parents[2]
_ELSEWHERE = {"tablecomposition", "tablesweep", "tablevalidity", "tableworkflows"}
"""Tables that `composition` and `matrix` write."""


@pytest.fixture(scope="module", params=["wide", "narrow"])
def build(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(f"{request.param}_build")
    return found


@pytest.fixture(scope="module")
def written(build: Path, every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]) -> Path:
    tables.write(build, build / "tables", every_workflow, catalogue, ROOT / "data/related.yaml")
    return build / "tables"


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_number_has_its_file(written: Path) -> None:
    """The files are those that the one mapping names, each as CSV and as TeX."""
    names = {path.stem for path in written.iterdir()}
    assert names == set(TABLE_FILES) - _ELSEWHERE
    assert len({item.macro for item in items()}) == len(items())


def test_tables_for_tex_are_well_formed(written: Path) -> None:
    """Each row has as many columns as its table, names are escaped, and the text is ASCII."""
    for path in sorted(written.glob("*.tex")):
        text = path.read_text("ascii")
        layout = re.search(r"\\begin\{tabular\}\{([^\n]*)\}\n", text)
        assert layout is not None
        columns = len(re.sub(r"p\{[^}]*\}", "p", layout[1]))
        for line in text.splitlines():
            if line.endswith(r"\\"):
                spans = [int(width) for width in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert line.count(" & ") + 1 + sum(spans) - len(spans) == columns, (path.name, line)
        assert not re.search(r"(?<!\\)_", text), path.name


def test_counts_add_up_to_the_study(
    wide_build: Path, every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]
) -> None:
    """Pairs, controls and recovered runs are the same in every table that tells of them."""
    tables.write(wide_build, wide_build / "tables", every_workflow, catalogue, ROOT / "data/related.yaml")
    first, matrix, tasks, cells = (
        _rows(wide_build / f"tables/{name}.csv")
        for name in ("table01", "table05", "table07", "tableboundaries")
    )
    pairs = sum(int(row["N"]) for row in first)
    assert pairs == 2 * 8 * 4 * (4 * 12 + 4)
    assert pairs == sum(int(row["pairs"]) for row in matrix)
    for rows in (tasks, cells):
        assert [sum(int(row[name]) for row in rows) for name in ("N", "R", "exposed")] == [
            sum(int(row[name]) for row in first) for name in ("N", "R", "exposed")
        ]
    for name in ("table09", "tablestrata"):
        kinds = [row for row in _rows(wide_build / f"tables/{name}.csv") if row["factor"] == "reversibility"]
        assert sum(int(row["N"]) for row in kinds) == pairs


def test_models_are_never_put_together_and_a_table_of_the_paper_fits_a_page(
    wide_build: Path, every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]
) -> None:
    """Each row of every table with counts is of one model, and the models after the first have a table of their own."""
    tables.write(wide_build, wide_build / "tables", every_workflow, catalogue, ROOT / "data/related.yaml")
    for path in sorted((wide_build / "tables").glob("*.csv")):
        rows = _rows(path)
        assert not rows or "models" not in rows[0], path.name
        if rows and "model" in rows[0]:
            assert {row["model"] for row in rows} <= {"gemma3-270m", "smollm2-135m"}, path.name
    assert "smollm2" not in (wide_build / "tables/table01.tex").read_text()
    assert {row["model"] for row in _rows(wide_build / "tables/table01.csv")} == {
        "gemma3-270m",
        "smollm2-135m",
    }
    assert {row["model"] for row in _rows(wide_build / "tables/tableothers.csv")} == {"smollm2-135m"}

    # No table of the build that the paper prints has more lines than a page holds in its small type.
    paper = "".join(path.read_text() for path in sorted((ROOT / "paper/sections").glob("*.tex")))
    for name in re.findall(r"\\(?:wide|narrow)table\{(table\w+)\}", paper):
        path = wide_build / f"tables/{name}.tex"
        if path.is_file():
            assert path.read_text().count(r"\\") <= 62, name


def test_a_boundary_of_few_tasks_draws_those_alone(wide_build: Path) -> None:
    """Half-done calls exist in four tasks: the other eight are no cells there."""
    view = read_view(wide_build / "stats")
    assert view.tasks("DURING_MUTATION") == ["RB-CLOUD-004", "RB-DB-004", "RB-GIT-004", "RB-STOR-004"]
    assert len(view.tasks()) == 12


def test_intervals_made_here_are_those_of_the_statistics(wide_build: Path) -> None:
    """The tasks of a cell put together give its row in `metrics.json`, where 12 tasks apply and where 4 do."""
    view = read_view(wide_build / "stats")
    for (model, framework), where in product(view.scopes, view.places):
        for name in view.methods(where):
            whole = view.cell(model, framework, where, name)
            cells = view.task_cells(where, name, scopes=[(model, framework)])
            assert len(cells) == (4 if where == "DURING_MUTATION" else 12)
            assert whole is not None
            for metric, told in whole.metrics.items():
                made = msgspec.structs.asdict(pool(cells, metric, view.study))
                # the file is rounded to six places
                assert made == pytest.approx(msgspec.structs.asdict(told), abs=1e-6)


def test_a_row_without_a_pair_is_no_cell(wide_build: Path) -> None:
    """Rows with N = 0, for tasks that a boundary does not apply to, change nothing."""
    stats = read_view(wide_build / "stats").stats
    blank = msgspec.structs.replace(stats.cells[-1].scope, task="RB-PAY-004", boundary="DURING_MUTATION")
    none = msgspec.structs.replace(stats.cells[-1], scope=blank, N=0, D=0, R=0, F=0)
    view = View(msgspec.structs.replace(stats, cells=[*stats.cells, none]))
    assert "RB-PAY-004" not in view.tasks("DURING_MUTATION")


def test_side_studies_find_their_places(wide_build: Path, every_workflow: list[Workflow]) -> None:
    """DEV, VALIDATION and TEST are compared by split; variants of the examples stand beside the main study."""
    main, sides = read_view(wide_build / "stats"), side_views(wide_build)
    assert [one.level for one in splits(main, sides, every_workflow)] == ["dev", "validation", "test"]
    assert [one.level for one in variants(main, sides)] == ["plain", "check", "retry"]


def test_what_a_study_lacks_is_said(
    narrow_build: Path, every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]
) -> None:
    """Without half-done calls, other splits and variants, the tables say so and hold no row."""
    tables.write(narrow_build, narrow_build / "tables", every_workflow, catalogue, ROOT / "data/related.yaml")
    for name, why in (
        ("tableothers", "the study has one model"),
        ("table14", "has no cell at half done"),
        ("table11", "only one split"),
        ("tableexamples", "only one variant"),
    ):
        assert why in (narrow_build / f"tables/{name}.tex").read_text()
        assert _rows(narrow_build / f"tables/{name}.csv") == []


def test_strata_cover_the_tasks(every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]) -> None:
    """Each factor puts every task into exactly one kind."""
    test = [one for one in every_workflow if one.split == "test"]
    harms = repeats(ROOT / "results")
    for kinds in (by_reversibility(test), by_evidence(test, catalogue, harms)):
        assert sorted(task for kind in kinds for task in kind.tasks) == [one.id for one in test]
    for factor in {kind.factor for kind in by_target(test, catalogue, harms)}:
        held = [
            task for kind in by_target(test, catalogue, harms) if kind.factor == factor for task in kind.tasks
        ]
        assert sorted(held) == [one.id for one in test]


def _drawn(
    build: Path, workflows: list[Workflow], catalogue: dict[str, ToolSpec]
) -> Iterator[tuple[str, Figure]]:
    view = read_view(build / "stats")
    test = [one for one in workflows if one.id in view.tasks()]
    studies = splits(view, side_views(build), workflows)
    yield "figure1", house.figure1()
    yield "figure2", grids.figure2(view)
    yield "figure3", grids.figure3(view)
    yield "figure4", rates.figure4(view, by_evidence(test, catalogue, repeats(build)))
    yield "figure5", rates.figure5(view)
    if len(studies) > 1:
        yield "figure6", rates.figure6(studies)
    yield "figureboundaries", rates.boundaries(view)


def test_no_word_of_a_figure_is_cut_small_or_covered(
    build: Path, every_workflow: list[Workflow], catalogue: dict[str, ToolSpec]
) -> None:
    """Every figure is one column wide and fits a page; its words are inside it, 6 points or more, and apart."""
    with look():
        for name, figure in _drawn(build, every_workflow, catalogue):
            canvas = FigureCanvasAgg(figure)
            canvas.draw()  # type: ignore[no-untyped-call]
            width, height = figure.get_size_inches()
            assert (round(width / MM), height / MM < 240) == (84, True), name
            frame = figure.bbox
            boxes = []
            for text in figure.findobj(Text):
                assert isinstance(text, Text)
                if not text.get_visible() or not text.get_text():
                    continue
                box = text.get_window_extent()
                assert float(text.get_fontsize()) >= 6, (name, text.get_text())
                assert frame.padded(1).containsx(box.x0), (name, text.get_text())
                assert frame.padded(1).containsx(box.x1), (name, text.get_text())
                assert frame.padded(1).containsy(box.y0), (name, text.get_text())
                assert frame.padded(1).containsy(box.y1), (name, text.get_text())
                boxes.append((text.get_text(), box))
            for at, (word, box) in enumerate(boxes):
                for other, beside in boxes[at + 1 :]:
                    assert not box.shrunk(0.9, 0.9).overlaps(beside.shrunk(0.9, 0.9)), (name, word, other)
