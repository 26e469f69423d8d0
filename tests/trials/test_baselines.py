import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.trials.conformance import baselines_csv

if TYPE_CHECKING:
    from undolab.model.verdict import Verdict


@pytest.fixture(scope="module")
def rows(
    corpus: dict[str, tuple[object, object]], workflows: Sequence[Workflow], tools: dict[str, ToolSpec]
) -> dict[tuple[str, str], dict[str, int]]:
    """Return the table of policy baselines by policy and boundary."""
    verdicts: list[Verdict] = [run.verdict for run, _ in corpus.values()]  # type: ignore[attr-defined]
    text = baselines_csv(verdicts, workflows, tools).decode()
    return {
        (row.pop("policy"), row.pop("boundary")): {name: int(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    }


@pytest.mark.parametrize("policy", ["always-retry", "never-retry"])
def test_a_policy_that_never_looks_is_at_chance_where_a_repeat_harms(
    rows: dict[tuple[str, str], dict[str, int]], policy: str
) -> None:
    """Over both sides of the commit it is right half of the time, whatever it is."""
    both = rows[policy, "both"]

    assert both["harm_arms"] >= 30
    assert 2 * both["passed_where_harm"] == both["harm_arms"]


def test_a_policy_that_looks_is_right_wherever_a_reader_shows(
    rows: dict[tuple[str, str], dict[str, int]],
) -> None:
    """Verify-first passes every observable workflow at both sides."""
    both = rows["verify-first", "both"]

    assert both["passed_where_seen"] == both["seen_arms"] > 60
