"""The page of defects names tests that exist; and the checks of that page which have no other home."""

import ast
import re
from pathlib import Path

import pytest

from undolab.model.load import load_tools, load_workflows
from undolab.stats.intervals import holm

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/defects.md").read_text(encoding="utf-8")
ROWS = [
    line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| published defect")
]
NAMED = sorted(set(re.findall(r"`(tests/[a-z0-9_/]+\.py)::(test_[a-z0-9_]+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_every_test_named_on_the_page_exists(file: str, name: str) -> None:
    """A renamed or removed test cannot leave its defect uncovered unseen."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_every_defect_has_a_rule_and_a_test(row: str) -> None:
    """Each row has three cells, and the third names at least one test."""
    defect, rule, tests = (cell.strip() for cell in row.strip("|").split("|"))
    assert defect
    assert rule
    assert "`tests/" in tests


def test_at_least_eight_tasks_cross_domains() -> None:
    """The writes of eight tasks or more go to two domains (published: none)."""
    tools = load_tools(ROOT / "data/tools")
    crossing = [
        workflow.id
        for workflow in load_workflows(ROOT / "data/workflows")
        if len({tools[step.tool].domain for step in workflow.plan}) > 1
    ]
    assert len(crossing) >= 8


def test_holm_sees_unrounded_values() -> None:
    """Two values that print alike stay apart (published: rounded to four digits before the correction)."""
    first, second = holm([0.01661, 0.01664])
    assert first is not None
    assert second is not None
    assert 0.0332 < first < 0.03323
    assert holm([0.00004, 0.5])[0] == pytest.approx(0.00008)


def test_no_percentage_is_typed_into_the_paper() -> None:
    r"""Rates in the text come from macros: no digit stands before `\%`, `per cent` or `pp` in the sources."""
    found = [
        (path.name, match.group())
        for path in sorted((ROOT / "paper").rglob("*.tex"))
        for match in re.finditer(
            r"\d+(\.\d+)?\s*(~|\\,)?(\\%|per cent\b|pp\b)", path.read_text(encoding="utf-8")
        )
    ]
    assert [hit for hit in found if not hit[1].startswith("95")] == []
