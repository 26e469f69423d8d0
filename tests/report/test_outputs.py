"""Tables, figures and macros over the synthetic study of the statistics' tests."""

import csv
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from undolab.model.errors import UndolabError
from undolab.model.load import load_tools, load_workflows
from undolab.report import figures, macros, tables
from undolab.report.captions import captions
from undolab.report.numbering import FIGURE_FILES, items
from undolab.stats import matrix_from, run
from undolab.stats.rows import read_metrics
from undolab.stats.text import to_json


def _synthetic() -> ModuleType:
    path = Path(__file__).parents[1] / "stats" / "conftest.py"
    spec = importlib.util.spec_from_file_location("synthetic_study", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROOT = Path(__file__).parents[2]
LITERATURE = ROOT / "data/related.yaml"


def _tables(build: Path, out: Path) -> None:
    tables.write(
        build, out, load_workflows(ROOT / "data/workflows"), load_tools(ROOT / "data/tools"), LITERATURE
    )


def _figures(build: Path, out: Path) -> list[Path]:
    return figures.write(build, out, load_workflows(ROOT / "data/workflows"), load_tools(ROOT / "data/tools"))


@pytest.fixture(scope="module")
def stats_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    synthetic = _synthetic()
    root = tmp_path_factory.mktemp("study")
    paths = synthetic.save(synthetic.study(), root / "verdicts")
    run(paths, matrix_from(synthetic.CONFIG, synthetic.WORKFLOWS), root / "stats")
    (root / "conformance").mkdir()
    shutil.copyfile(ROOT / "results/conformance/classes.csv", root / "conformance/classes.csv")
    return root / "stats"


def _changed(stats_dir: Path, tmp_path: Path, text: str) -> Path:
    """Return a build whose `metrics.json` has another text."""
    build = tmp_path / "build"
    shutil.copytree(stats_dir.parent, build)
    (build / "stats/metrics.json").write_text(text)
    return build


@pytest.fixture(scope="module")
def macro_text(stats_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = macros.write(stats_dir, tmp_path_factory.mktemp("macros") / "macros.tex")
    found = re.findall(r"^\\newcommand\{\\(\w+)\}\{(.*)\}$", path.read_text(), re.MULTILINE)
    assert len(found) == len(path.read_text().splitlines())
    return dict(found)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_tables_agree_with_the_statistics(stats_dir: Path, tmp_path: Path) -> None:
    """Table 1 has a row a cell, Table 7 a row a task and cell, Table 2 one task of each domain at the lost answer."""
    _tables(stats_dir.parent, tmp_path)
    stats = read_metrics(stats_dir)
    first, second, seventh = (_rows(tmp_path / f"table0{number}.csv") for number in (1, 2, 7))
    assert (len(first), len(second), len(seventh)) == (8, 8 * 4, 12 * 8)
    for row in first:
        crsr = stats.cell(row["model"], row["frameworks"], row["boundary"], row["method"]).metrics["crsr"]
        assert (int(row["crsr_num"]), int(row["crsr_den"])) == (crsr.num, crsr.den)
        assert row["prompt"] == "runbook"
    assert {row["boundary"] for row in second} == {"POST_MUTATION_PRE_ACK"}
    assert [row["task"] for row in second[:4]] == ["RB-CLOUD-004"] * 4
    assert {row["crsr"] for row in seventh if row["D"] == "0"} == {""}


def test_cells_together_have_the_interval_of_the_statistics(stats_dir: Path, tmp_path: Path) -> None:
    """Where a group is one cell, the interval that the tables make is that of `metrics.json`, to the last digit."""
    _tables(stats_dir.parent, tmp_path)
    for row in _rows(tmp_path / "table13.csv"):
        cell = read_metrics(stats_dir).cell(row["model"], row["framework"], row["boundary"], row["method"])
        for name in ("crsr", "der"):
            found = cell.metrics[name]
            assert [row[f"{name}_{side}"] for side in ("lo", "hi")] == [f"{found.lo:.6f}", f"{found.hi:.6f}"]


def test_a_task_without_a_passed_control_is_a_dash(stats_dir: Path, tmp_path: Path) -> None:
    """D = 0 prints no zero: the task has no CRSR."""
    _tables(stats_dir.parent, tmp_path)
    assert re.search(r"RB-STOR-005 & 0/5( & --){4} \\\\", (tmp_path / "table07.tex").read_text())


def test_a_hostile_name_is_escaped(stats_dir: Path, tmp_path: Path) -> None:
    """A name with TeX in it is printed, not run."""
    text = (stats_dir / "metrics.json").read_text().replace("gemma3-270m", r"x_{\\input y}")
    _tables(_changed(stats_dir, tmp_path, text), tmp_path)
    assert r"x\_\{\textbackslash{}input y\}" in (tmp_path / "table13.tex").read_text()


def test_a_task_that_is_no_workflow_is_named(stats_dir: Path, tmp_path: Path) -> None:
    """Statistics of other tasks than the repository's give no table."""
    text = (stats_dir / "metrics.json").read_text().replace("RB-DB-004", "RB-DB-999")
    with pytest.raises(UndolabError, match="RB-DB-999"):
        _tables(_changed(stats_dir, tmp_path, text), tmp_path)


def test_macros_say_what_the_statistics_say(stats_dir: Path, macro_text: dict[str, str]) -> None:
    """Values, intervals and counts are those of `metrics.json` and `contrasts.json`."""
    crsr = read_metrics(stats_dir).cell("gemma3-270m", "F1", "POST_MUTATION_PRE_ACK", "B0").metrics["crsr"]
    assert crsr.value is not None
    assert crsr.lo is not None
    assert crsr.hi is not None
    assert macro_text["URcrsrPostBzero"] == rf"{100 * crsr.value:.1f}\,\%"
    assert macro_text["URcrsrPostBzeroCI"] == f"[{100 * crsr.lo:.1f}, {100 * crsr.hi:.1f}]"
    assert (macro_text["URcrsrPostBzeroNum"], macro_text["URcrsrPostBzeroDen"]) == (
        str(crsr.num),
        str(crsr.den),
    )
    assert macro_text["URtaskcrsrPreBtwoSTORzerozerofive"] == "undefined"
    assert (macro_text["URcountPairs"], macro_text["URcountControls"]) == ("480", "60")
    assert macro_text["URbootstrapB"] == "10,000"
    assert macro_text["URfailurePreBzeroForbiddenEffect"] == "0"
    assert re.fullmatch(r"p [=<] [01]\.\d{3}", macro_text["URdiffcrsrPostBtwoBzeroPHolm"])
    assert re.fullmatch(r"(\+|\\ensuremath\{-\})\d+\.\d\\,pp", macro_text["URdiffcrsrBzeroPrePost"])


def test_macro_names_hold_letters_only(macro_text: dict[str, str]) -> None:
    """TeX takes letters only, and every name is there once."""
    assert all(re.fullmatch("UR[A-Za-z]+", name) for name in macro_text)
    assert macros.letters("RB-DB-004") == "RBDBzerozerofour"


def test_other_values_become_macros(stats_dir: Path, tmp_path: Path) -> None:
    """Leaves of JSON files and dicts are named by their path; equal names and bad files are refused."""
    (tmp_path / "calls.json").write_text(json.dumps({"total": 12345, "per_turn": [1.25, None]}))
    path = macros.write(
        stats_dir, tmp_path / "m.tex", json_files={"calls": tmp_path / "calls.json"}, values={"file": "a_b\n"}
    )
    text = path.read_text()
    assert r"\newcommand{\URcallsTotal}{12,345}" in text
    assert r"\newcommand{\URcallsPerTurnone}{1.25}" in text
    assert r"\newcommand{\URcallsPerTurntwo}{undefined}" in text
    assert r"\newcommand{\URfile}{a\_b\textbackslash{}n}" in text
    with pytest.raises(UndolabError, match="URcountPairs"):
        macros.write(stats_dir, tmp_path / "m.tex", values={"count": {"pairs": 1}})
    with pytest.raises(UndolabError, match="cannot be read"):
        macros.write(stats_dir, tmp_path / "m.tex", json_files={"x": tmp_path / "none.json"})


def test_captions_name_the_scope(stats_dir: Path) -> None:
    """Every caption says model, framework, prompt mode, worked examples and N, or that no model took part."""
    alone = {item.macro for item in items() if not item.scoped}
    found = captions(read_metrics(stats_dir))
    assert all(found[name].endswith("No model took part.") for name in alone)
    for text in (text for name, text in found.items() if name not in alone):
        for part in ("gemma3-270m", "framework F1", "prompt mode runbook", "worked examples plain", "N = 60"):
            assert part in text


def test_figures_have_the_same_bytes_elsewhere(stats_dir: Path, tmp_path: Path) -> None:
    """Another process, folder, time zone, language, hash seed and matplotlib setting draws the same bytes (field case B22)."""
    first = _figures(stats_dir.parent, tmp_path / "a")
    assert [path.name for path in first] == [
        f"{name}.{kind}" for name in FIGURE_FILES for kind in ("pdf", "png")
    ]
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nfigure.dpi: 50\npdf.fonttype: 3\n")
    env = os.environ | {
        "LC_ALL": "C",
        "MATPLOTLIBRC": str(tmp_path),
        "PYTHONHASHSEED": "9",
        "SOURCE_DATE_EPOCH": "1",
        "TZ": "Asia/Tokyo",
    }
    code = (
        "import sys; from pathlib import Path; from undolab.model.load import load_tools, load_workflows;"
        "from undolab.report import figures; build, out, root = map(Path, sys.argv[1:]);"
        "figures.write(build, out, load_workflows(root / 'data/workflows'), load_tools(root / 'data/tools'))"
    )
    out = tmp_path / "elsewhere" / "b"
    arguments = [str(stats_dir.parent), str(out), str(ROOT)]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=env)
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in first]
    assert digests == [hashlib.sha256((out / path.name).read_bytes()).hexdigest() for path in first]
    pdf = (out / "figure2.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_a_study_that_nobody_solves_is_still_drawn(stats_dir: Path, tmp_path: Path) -> None:
    """With every control failed all CRSR are undefined, and tables, figures and macros say so."""
    stats = read_metrics(stats_dir)
    cells = []
    for cell in stats.cells:
        none = {
            name: msgspec.structs.replace(found, num=0, den=0, value=None, lo=None, hi=None)
            for name, found in cell.metrics.items()
            if name in ("crsr", "eor_cond")
        }
        cells.append(msgspec.structs.replace(cell, D=0, R=0, metrics=cell.metrics | none))
    build = _changed(stats_dir, tmp_path, to_json(msgspec.structs.replace(stats, cells=cells)))
    _figures(build, tmp_path)
    _tables(build, tmp_path)
    text = macros.write(build / "stats", tmp_path / "macros.tex").read_text()
    assert r"\newcommand{\URcrsrPreNone}{undefined}" in text
    assert r"\newcommand{\URcrsrPreNoneCI}{undefined}" in text


def test_missing_statistics_are_one_sentence(tmp_path: Path) -> None:
    """Without `metrics.json` each writer names the file."""
    for write in (_tables, _figures):
        with pytest.raises(UndolabError, match=r"metrics\.json cannot be read"):
            write(tmp_path, tmp_path / "out")
