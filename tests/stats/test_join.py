"""No pooled number without the whole frozen matrix."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.errors import UndolabError
from undolab.model.fault import Exposure
from undolab.model.verdict import Verdict
from undolab.stats.load import join, read_verdicts
from undolab.stats.matrix import Matrix, matrix_from


@pytest.fixture
def matrix(make_matrix: Callable[..., Matrix]) -> Matrix:
    return make_matrix(["T1"], ["none", "B0"])


@pytest.fixture
def rows(make_verdict: Callable[..., Verdict]) -> list[Verdict]:
    return [make_verdict(arm="control"), make_verdict(method="none"), make_verdict(method="B0")]


def test_each_fault_arm_meets_the_shared_control(matrix: Matrix, rows: list[Verdict]) -> None:
    """Two methods give two pairs with one and the same control."""
    pairs = join(rows, matrix)
    assert [pair.fault.arm.method for pair in pairs] == ["none", "B0"]
    assert pairs[0].control is pairs[1].control


@pytest.mark.parametrize(("lost", "name"), [(0, "T1/m/F1/1/control"), (2, "T1/m/F1/PRE_MUTATION/B0/1/fault")])
def test_a_missing_arm_is_named(matrix: Matrix, rows: list[Verdict], lost: int, name: str) -> None:
    """A cell without its control or fault arm stops everything, by name."""
    del rows[lost]
    with pytest.raises(UndolabError, match=f"missing: {name}"):
        join(rows, matrix)


def test_an_invalid_injection_is_named(matrix: Matrix, rows: list[Verdict]) -> None:
    """A fault without its witness is not pooled."""
    rows[1] = msgspec.structs.replace(rows[1], exposure=Exposure.INVALID_INJECTION)
    with pytest.raises(UndolabError, match="INVALID_INJECTION: T1/m/F1/PRE_MUTATION/none/1/fault"):
        join(rows, matrix)


def test_an_unexposed_fault_needs_a_failed_control(matrix: Matrix, rows: list[Verdict]) -> None:
    """NOT_EXPOSED counts in N where the control failed; where it passed, something of ours is broken."""
    rows[1] = msgspec.structs.replace(rows[1], exposure=Exposure.NOT_EXPOSED)
    with pytest.raises(UndolabError, match="not exposed although the control passed"):
        join(rows, matrix)
    rows[0] = msgspec.structs.replace(rows[0], passed=False)
    assert len(join(rows, matrix)) == 2


def test_twice_and_unknown_cells_are_named(
    matrix: Matrix, rows: list[Verdict], make_verdict: Callable[..., Verdict]
) -> None:
    """A cell given twice or one that the matrix does not hold stops everything too."""
    with pytest.raises(UndolabError, match="twice: T1/m/F1/PRE_MUTATION/B0/1/fault"):
        join([*rows, rows[2]], matrix)
    with pytest.raises(UndolabError, match="not in the matrix: T9/"):
        join([*rows, make_verdict(workflow="T9")], matrix)


def test_controls_with_a_method_are_left_out(
    matrix: Matrix, rows: list[Verdict], make_verdict: Callable[..., Verdict]
) -> None:
    """Arms that show a method's transparency are no cells of the study."""
    assert len(join([*rows, make_verdict(arm="control+method", method="B0")], matrix)) == 2


def test_a_cell_that_cannot_be_is_not_missed(matrix: Matrix, rows: list[Verdict]) -> None:
    """Where no fault can be scheduled there is no cell; one that is there all the same is not of the matrix."""
    fault = next(row.arm for row in rows if row.arm.arm == "fault")
    smaller = msgspec.structs.replace(
        matrix, not_applicable=[(fault.workflow, str(fault.boundary), fault.method)]
    )
    left = [row for row in rows if row.arm != fault]
    assert len(join(left, smaller)) == 1
    with pytest.raises(UndolabError, match="not in the matrix"):
        join(rows, smaller)


def test_files_that_are_no_verdicts_are_named(tmp_path: Path) -> None:
    """A broken line and a missing file each give one sentence with the place."""
    (tmp_path / "x.jsonl").write_text("{}\n")
    with pytest.raises(UndolabError, match=r"x\.jsonl:1 is not a verdict"):
        read_verdicts([tmp_path / "x.jsonl"])
    with pytest.raises(UndolabError, match="cannot be read"):
        read_verdicts([tmp_path / "y.jsonl"])


def test_other_rules_are_refused(tmp_path: Path, rows: list[Verdict]) -> None:
    """Verdicts of another version of the rules are never mixed in."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(rows[0], rules=99)))
    with pytest.raises(UndolabError, match="judged by rules 99"):
        read_verdicts([path])


def test_a_family_must_name_what_the_study_has(study_config: dict[str, Any]) -> None:
    """A contrast with an unknown method or metric is refused before anything is computed."""
    family = {"name": "f", "boundary": "PRE_MUTATION", "metric": "crs", "contrasts": [["B9", "none"]]}
    stats = study_config["stats"] | {"families": [family]}
    with pytest.raises(UndolabError, match="B9, crs"):
        matrix_from(study_config | {"stats": stats}, ["T1"])


def test_a_broken_configuration_is_one_sentence(study_config: dict[str, Any]) -> None:
    """A key that is missing is named."""
    with pytest.raises(UndolabError, match=r"describes no study: .+stats"):
        matrix_from({"study": study_config["study"]}, ["T1"])
