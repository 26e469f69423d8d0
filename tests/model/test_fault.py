"""What a fault plan writes, and what a verdict says in three values."""

import msgspec
import pytest

from undolab.model.calls import FinalReport
from undolab.model.canon import canonical
from undolab.model.fault import Boundary, Exposure, FaultPlan
from undolab.model.verdict import FailureClass, Verdict
from undolab.model.wire import ArmId


def test_a_plan_writes_only_what_its_boundary_needs() -> None:
    """The bytes of a plan from before the later boundaries stay the same."""
    plan = FaultPlan(boundary=Boundary.PRE_MUTATION, scenario="s", tool="t")

    assert canonical(plan) == b'{"boundary":"PRE_MUTATION","match":{},"nth":1,"scenario":"s","tool":"t"}'


def test_a_plan_survives_the_way_through_its_bytes() -> None:
    """What is unset stays unset."""
    plan = FaultPlan(boundary=Boundary.DURING_MUTATION, scenario="s", tool="t", parts=1)

    assert msgspec.json.decode(canonical(plan), type=FaultPlan) == plan


@pytest.mark.parametrize(
    ("passed", "exposure", "outcome"),
    [
        (True, Exposure.WITNESSED, "pass"),
        (True, Exposure.NOT_EXPOSED, "pass"),
        (True, Exposure.INVALID_INJECTION, "unknown"),
        (False, Exposure.INVALID_INJECTION, "fail"),
        (False, Exposure.WITNESSED, "fail"),
    ],
)
def test_fail_beats_unknown_beats_pass(passed: bool, exposure: Exposure, outcome: str) -> None:
    """A pass without a witness is no pass, and a failure is one whatever the witness."""
    arm = ArmId(
        workflow="W", model="m", framework="F1", boundary="PRE_MUTATION", method="none", seed=1, arm="fault"
    )
    counts = dict.fromkeys(
        (
            "physical", "committed", "harmful_duplicates", "harmless_repeats", "replays", "second_commits",
            "missing", "orphans", "forbidden", "unsafe_resends", "reads_after_fault", "turns",
        ),
        0,
    )  # fmt: skip
    verdict = Verdict(
        arm=arm,
        rules=1,
        exposure=exposure,
        state=passed,
        effects=passed,
        order=True,
        passed=passed,
        report=FinalReport.DONE,
        truthful=passed,
        failure=FailureClass.NONE,
        **counts,
    )

    assert verdict.outcome == outcome
