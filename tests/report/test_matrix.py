"""Tables and numbers of the scripted matrix, the validity suite and the data, over small files written by hand."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Split, Workflow
from undolab.report import composition, evidence, macros, matrix
from undolab.report.evidence import Ending
from undolab.report.facts import benchmark_facts

ROOT = Path(__file__).parents[2]
FILES = {
    "conformance/cells.csv": (
        "workflow,boundary,method,expected,found,exposure\n"
        "A,NONE,none,pass done,pass done,NO_FAULT\n"
        "A,LATE_COMMIT,none,ABSTAINED unknown,ABSTAINED unknown,WITNESSED\n"
        "A,LATE_COMMIT,B2-K,pass done,pass done,WITNESSED\n"
        "B,LATE_COMMIT,B2-K,pass done,DUPLICATE_EFFECT done untrue,WITNESSED\n"
        "B,PRE_MUTATION,B2-K,pass done,pass done,NOT_EXPOSED\n"
    ),
    "conformance/pairs.csv": (
        "check,boundary,method,equal,pairs,lines compared\n"
        "prefix,LATE_COMMIT,none,3,4,9\nprefix,LATE_COMMIT,B2-K,2,2,9\ntransparency,NONE,B2-K,5,6,9\n"
    ),
    "conformance/baselines.csv": (
        "policy,boundary,passed,arms,passed_where_harm,harm_arms,passed_where_seen,seen_arms\n"
        "always-retry,both,5,8,2,4,4,6\n"
    ),
    "conformance/sweep.csv": (
        "boundary,method,backoff,attempts,passed,duplicates,arms\n"
        "LATE_COMMIT,B0,none,1,1,0,2\nLATE_COMMIT,B0,fixed,1,1,0,2\n"
        "LATE_COMMIT,B0,none,2,0,1,2\nLATE_COMMIT,B0,fixed,2,2,0,2\n"
    ),
    "validity/cases.csv": (
        "workflow,boundary,kind,asks,expected,found\n"
        "A,NONE,right plan,verdict,pass,pass\nA,NONE,lost effect,verdict,fail,pass\nB,NONE,right plan,verdict,pass,pass\n"
    ),
    "validity/mutants.csv": "clause dropped,cases that show it,first of them\norder,7,x\nstate,0,\n",
}


@pytest.fixture(scope="module")
def tools() -> dict[str, ToolSpec]:
    return load_tools(ROOT / "data/tools")


@pytest.fixture(scope="module")
def workflows() -> list[Workflow]:
    return load_workflows(ROOT / "data/workflows")


@pytest.fixture
def build(tmp_path: Path, workflows: list[Workflow]) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    rows = "".join(f"{workflow.id},harm\n" for workflow in workflows)
    (tmp_path / "conformance/classes.csv").write_text("workflow,repeat\n" + rows)
    return tmp_path


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_boundary_is_a_row_with_the_endings_of_each_method(build: Path) -> None:
    """Endings add up to the arms, boundaries stand in their own order, none comes before the methods."""
    matrix.write(build, build)

    rows = _rows(build / "tablevalidity.csv")

    assert [row["boundary"] for row in rows] == ["NONE", "PRE_MUTATION", "LATE_COMMIT"]
    assert [rows[2][f"B2-K {end}"] for end in Ending] == ["1", "1", "0"]
    assert (rows[2]["none short"], rows[0]["cases"], rows[0]["cases as expected"]) == ("1", "3", "2")
    assert "none & B2-K & Cases" in (build / "tablevalidity.tex").read_text()
    assert r"No fault & 1/0/0 & -- & 2/3 \\" in (build / "tablevalidity.tex").read_text()


def test_the_sweep_shows_least_and_most_over_the_back_offs(build: Path) -> None:
    """A cell is a range where back-offs differ, with the most arms harmed in parentheses."""
    matrix.write(build, build)

    assert r"Late commit & B0 & 1 & 0--2 (1) \\" in (build / "tablesweep.tex").read_text()
    assert [row["passed most"] for row in _rows(build / "tablesweep.csv")] == ["1", "2"]


@pytest.mark.parametrize(
    ("found", "end"),
    [
        ("pass done", Ending.PASSED),
        ("pass not_done untrue", Ending.PASSED),
        ("DUPLICATE_EFFECT done untrue", Ending.HARMED),
        ("ORPHAN_EFFECT not_done", Ending.HARMED),
        ("FORBIDDEN_EFFECT done", Ending.HARMED),
        ("ABSTAINED unknown", Ending.SHORT),
        ("MISSING_EFFECT done untrue", Ending.SHORT),
    ],
)
def test_an_effect_too_many_is_harm_and_one_too_few_is_not(found: str, end: Ending) -> None:
    """The three endings are told by the first word of a verdict."""
    assert evidence.ending(found) is end


def test_facts_count_what_the_tables_hold(
    build: Path, tools: dict[str, ToolSpec], workflows: list[Workflow]
) -> None:
    """What failed is counted apart from what was tried, so a shortfall would be printed."""
    facts = benchmark_facts(build, workflows, tools)

    assert facts["matrix"] | {"goldArms": 5, "goldExpected": 4, "goldControls": 1} == facts["matrix"]
    assert (facts["matrix"]["goldFaults"], facts["matrix"]["goldWitnessed"]) == (4, 3)
    assert (facts["matrix"]["prefixEqual"], facts["matrix"]["prefixPairs"]) == (5, 6)
    assert (facts["validity"]["casesExpected"], facts["validity"]["cases"]) == (2, 3)
    assert (facts["validity"]["mutantsCaught"], facts["validity"]["mutants"]) == (1, 2)
    assert facts["validity"]["casesFewest"] == 1
    assert (facts["corpus"]["workflows"], facts["corpus"]["test"], facts["corpus"]["repeatHarms"]) == (
        36,
        12,
        36,
    )
    names = dict(macros.from_value("fact", facts))
    assert names["factCellLateCommitBtwoKHarmed"] == "1"
    assert names["factBaselineAlwaysRetryBothPassedWhereHarm"] == "2"


@pytest.mark.parametrize("name", [*FILES, "conformance/classes.csv"])
def test_a_missing_or_strange_table_is_named(
    build: Path, tools: dict[str, ToolSpec], workflows: list[Workflow], name: str
) -> None:
    """No number is printed from a table that is not there, or that has other columns."""
    (build / name).write_text("nonsense\n1\n")
    with pytest.raises(UndolabError, match=rf"{re.escape(name)} has no column"):
        benchmark_facts(build, workflows, tools)
    (build / name).unlink()
    with pytest.raises(UndolabError, match=rf"{re.escape(name)} is missing"):
        benchmark_facts(build, workflows, tools)


def test_workflows_are_listed_and_counted_from_the_data(
    build: Path, tools: dict[str, ToolSpec], workflows: list[Workflow]
) -> None:
    """The table of a split has a row a workflow; the composition's columns add up; TeX specials are escaped."""
    composition.write(workflows, tools, Split.TEST, build, build)
    listed, made_of = _rows(build / "tableworkflows.csv"), _rows(build / "tablecomposition.csv")

    assert [row["workflow"] for row in listed] == [one.id for one in workflows if one.split is Split.TEST]
    assert {row["workflow"] for row in listed if row["reader"] == "no"} == {"RB-MSG-004"}
    assert {row["repeat"] for row in listed} == {"does harm"}
    assert all(
        int(row["dev"]) + int(row["validation"]) + int(row["test"]) == int(row["all"]) for row in made_of
    )
    assert made_of[0]["all"] == "36"
    for name, columns in (("tableworkflows", 9), ("tablecomposition", 5)):
        lines = (build / f"{name}.tex").read_text("ascii").splitlines()
        assert {line.count(" & ") + 1 for line in lines if line.endswith(r"\\")} == {columns}
    shutil.rmtree(build / "conformance")
    with pytest.raises(UndolabError, match=r"classes\.csv is missing"):
        composition.write(workflows, tools, Split.TEST, build, build)
