"""A seeded sample of the validity suite; `undolab validate` runs it whole."""

from typing import Any

import pytest

from undolab.oracle.effects import account
from undolab.trials.validity import mutants, run_cases
from undolab.trials.validity.clause import of
from undolab.trials.validity.mutants import _mutated

SAMPLE = (
    "RB-CLOUD-002 RB-CLOUD-004 RB-GIT-001 RB-GIT-004 RB-MSG-003 RB-PAY-005 RB-STOR-004 RB-TICK-002".split()
)


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

    assert len(found) >= 100
    assert len({mutant.clause for mutant in found}) == len(found)
    assert [mutant.clause for mutant in found if not mutant.caught_by] == []


def test_the_judge_is_itself_again_after_the_mutants(cases: Any) -> None:
    """A mutant leaves nothing behind."""
    list(mutants(cases[:1]))

    assert all(case.found() == case.expected for case in cases[:50])


def test_a_clause_that_the_judge_no_longer_holds_is_an_error() -> None:
    """Who changes the judge must say again where the clause stands; no mutant silently changes nothing."""
    (clause,) = of(frozenset(), account, ("of old", "no such text", ""))

    with pytest.raises(ValueError, match="account holds 'no such text' 0 times, not once"), _mutated(clause):
        pass


@pytest.mark.parametrize(
    "kind", ["whole, then half", "half, then half", "half, then whole reworded", "half elsewhere, then whole"]
)
def test_half_calls_before_and_after_a_whole_one_are_asked_for(cases: Any, kind: str) -> None:
    """A mail that went out twice in part is a harmful duplicate in each order and wording."""
    asked = [
        case.expected
        for case in cases
        if (case.workflow.id, case.kind, case.asks) == ("RB-MSG-003", kind, "duplicates")
    ]

    assert asked == ["harmful"]


@pytest.mark.parametrize("asks", ["class", "report", "resends", "resend count", "exposure", "duplicates"])
def test_every_part_of_a_verdict_is_asked_for(cases: Any, asks: str) -> None:
    """Each part is asked for with more than one answer, so that a judge with only one of them fails."""
    assert len({case.expected for case in cases if case.asks == asks}) > 1
