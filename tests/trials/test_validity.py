"""A seeded sample of the validity suite; `undolab validate` runs it whole."""

from typing import Any

import pytest

from undolab.trials.validity import mutants, run_cases

SAMPLE = ("RB-CLOUD-004", "RB-GIT-001", "RB-GIT-004", "RB-PAY-005", "RB-TICK-002")


@pytest.fixture(scope="module")
def cases(workflows: Any, tools: Any) -> list[Any]:
    return list(run_cases([one for one in workflows if one.id in SAMPLE], tools))


def test_every_case_is_as_expected(cases: Any) -> None:
    """Right runs pass and wrong ones fail, at every boundary."""
    assert len(cases) > 1_000
    assert [case[:5] for case in cases if case.found() != case.expected] == []


def test_every_mutant_of_the_judge_is_caught(cases: Any) -> None:
    """No clause can be dropped without a case that shows it."""
    found = list(mutants(cases))

    assert len(found) == 25
    assert [mutant.clause for mutant in found if not mutant.caught_by] == []


def test_the_judge_is_itself_again_after_the_mutants(cases: Any) -> None:
    """A mutant leaves nothing behind."""
    list(mutants(cases[:1]))

    assert all(case.found() == case.expected for case in cases[:50])
