"""Every metric on a study of a few arms, and laws that hold for any."""

import random
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undolab.model.calls import FinalReport
from undolab.model.verdict import FailureClass, Verdict
from undolab.stats.estimate import cell_rows, contrast_rows
from undolab.stats.load import join
from undolab.stats.matrix import Family, Matrix
from undolab.stats.rows import CellRow, ContrastRow
from undolab.stats.tally import Replicates, Tally


def _rows(verdicts: Sequence[Verdict], matrix: Matrix) -> tuple[list[CellRow], list[ContrastRow]]:
    tally = Tally(join(verdicts, matrix), matrix)
    replicates = Replicates(tally, matrix)
    return cell_rows(tally, replicates, matrix), contrast_rows(tally, replicates, matrix)


@pytest.fixture
def mixed(make_verdict: Callable[..., Verdict]) -> list[Verdict]:
    """Four tasks: recovered; duplicate; control failed but fault passed; honest abstention."""
    bad = {"passed": False, "effects": False, "state": False, "truthful": False}
    dup = {**bad, "harmful_duplicates": 2, "second_commits": 3, "unsafe_resends": 1}
    rows = [
        make_verdict(workflow=f"T{i}", arm="control", passed=i != 3, state=i != 3, effects=i != 3)
        for i in range(1, 5)
    ]
    rows += [
        make_verdict(workflow="T1", second_commits=1, harmless_repeats=1),
        make_verdict(workflow="T2", failure=FailureClass.DUPLICATE_EFFECT, **dup),
        make_verdict(workflow="T3"),
        make_verdict(
            workflow="T4",
            **{**bad, "missing": 1, "report": FinalReport.NOT_DONE, "truthful": True},
            failure=FailureClass.ABSTAINED,
        ),
    ]
    return rows


def test_every_formula_on_four_arms(mixed: list[Verdict], make_matrix: Callable[..., Matrix]) -> None:
    """Each metric is the ratio of counts that its formula says."""
    cells, _ = _rows(mixed, make_matrix(["T1", "T2", "T3", "T4"], ["none"]))
    cell = cells[0]
    assert cell.scope.task == "all"
    assert (cell.N, cell.exposed, cell.D, cell.R, cell.F) == (4, 4, 3, 1, 2)
    assert {name: (found.num, found.den) for name, found in cell.metrics.items()} == {
        "control": (3, 4),
        "rsr": (2, 4),
        "crsr": (1, 3),
        "eor": (2, 4),
        "eor_cond": (1, 3),
        "der": (1, 4),
        "der_pub": (2, 4),
        "mer": (1, 4),
        "urr": (1, 4),
        "safety": (2, 4),
        "liveness": (2, 4),
        "truthfulness": (3, 4),
        "abstention": (1, 4),
        "honest_abstention": (1, 4),
    }
    assert cell.metrics["crsr"].value == 1 / 3
    assert cell.failures == {"ABSTAINED": 1, "DUPLICATE_EFFECT": 1, "NONE": 2}
    assert cell.sums["harmful_duplicates"] == 2


def test_an_abstention_that_did_harm_is_not_honest(
    mixed: list[Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """Saying "unknown" after a duplicate counts as abstention but not in the honest column."""
    mixed[-1] = msgspec.structs.replace(mixed[-1], harmful_duplicates=1)
    cells, _ = _rows(mixed, make_matrix(["T1", "T2", "T3", "T4"], ["none"]))
    assert cells[0].metrics["abstention"].num == 1
    assert cells[0].metrics["honest_abstention"].num == 0


def test_crsr_without_a_capable_trial_is_undefined(
    make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """D = 0 gives no value, no interval and all replicates dropped; never zero. Its contrast has no p."""
    rows = []
    for task in ("T1", "T2"):
        rows.append(make_verdict(workflow=task, arm="control", passed=False))
        rows += [make_verdict(workflow=task, method=method) for method in ("none", "B0")]
    family = Family(name="f", metric="crsr", contrasts=[("B0", "none")], boundary="PRE_MUTATION")
    cells, contrasts = _rows(rows, make_matrix(["T1", "T2"], ["none", "B0"], families=[family]))
    crsr = cells[0].metrics["crsr"]
    assert (crsr.value, crsr.lo, crsr.hi, crsr.dropped) == (None, None, None, 200)
    assert cells[0].metrics["rsr"].value == 1.0
    found = contrasts[0]
    assert (found.value, found.p, found.p_holm, found.dropped) == (None, None, None, 200)


def test_replicates_without_a_capable_task_are_dropped(
    make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """With one capable task of two, a quarter of the replicates draw only the other one and are counted as dropped."""
    rows = [make_verdict(workflow="T1", arm="control"), make_verdict(workflow="T1")]
    rows += [make_verdict(workflow="T2", arm="control", passed=False), make_verdict(workflow="T2")]
    cells, _ = _rows(rows, make_matrix(["T1", "T2"], ["none"], replicates=4000))
    crsr = cells[0].metrics["crsr"]
    assert (crsr.value, crsr.lo, crsr.hi) == (1.0, 1.0, 1.0)
    assert 900 < crsr.dropped < 1100


def test_contrasts_share_their_draws(
    mixed: list[Verdict], make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """A method with the same outcomes differs by exactly zero in every replicate."""
    twins = [
        msgspec.structs.replace(row, arm=msgspec.structs.replace(row.arm, method="B0"))
        for row in mixed
        if row.arm.arm == "fault"
    ]
    family = Family(name="f", metric="eor", contrasts=[("B0", "none")], boundary="PRE_MUTATION")
    matrix = make_matrix(["T1", "T2", "T3", "T4"], ["none", "B0"], families=[family])
    _, contrasts = _rows([*mixed, *twins], matrix)
    found = contrasts[0]
    assert (found.value, found.lo, found.hi, found.p, found.p_holm) == (0.0, 0.0, 0.0, 1.0, 1.0)


def test_pre_minus_post_is_planned_for_each_method(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """The boundary contrast exists for each method and each metric that has a family."""
    _, contrasts = _rows(study_rows, study_matrix)
    found = [row for row in contrasts if not row.boundary]
    assert [(row.metric, row.method) for row in found] == [
        (metric, method) for metric in ("crsr", "eor", "der") for method in study_matrix.methods
    ]
    assert {(row.a, row.b, row.family_size) for row in found} == {
        ("PRE_MUTATION", "POST_MUTATION_PRE_ACK", 4)
    }
    assert len(contrasts) == 2 * 3 * 6 + 3 * 4


def test_interval_equals_the_loop_over_tasks(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """The matrix product gives what drawing tasks one by one and pooling their trials gives."""
    matrix = msgspec.structs.replace(study_matrix, replicates=300)
    pairs = join(study_rows, matrix)
    legacy = np.random.RandomState(42)
    chosen = [
        p for p in pairs if (p.fault.arm.boundary, p.fault.arm.method) == ("POST_MUTATION_PRE_ACK", "B2")
    ]
    tasks = sorted({pair.fault.arm.workflow for pair in chosen})
    values = []
    for _ in range(300):
        drawn = [
            pair
            for task in legacy.choice(tasks, len(tasks))
            for pair in chosen
            if pair.fault.arm.workflow == task
        ]
        capable = [pair.fault.passed for pair in drawn if pair.control.passed]
        values.append(sum(capable) / len(capable))
    cells, _ = _rows(study_rows, matrix)
    cell = next(c for c in cells if (c.scope.boundary, c.scope.method) == ("POST_MUTATION_PRE_ACK", "B2"))
    low, high = np.percentile(values, [2.5, 97.5])
    assert (cell.metrics["crsr"].lo, cell.metrics["crsr"].hi) == (pytest.approx(low), pytest.approx(high))


def test_the_order_of_rows_changes_nothing(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """Verdicts in any order give the same rows."""
    matrix = msgspec.structs.replace(study_matrix, replicates=200)
    expected = _rows(study_rows, matrix)

    @settings(max_examples=15, deadline=None)
    @given(st.randoms(use_true_random=False))
    def law(rng: random.Random) -> None:
        shuffled = list(study_rows)
        rng.shuffle(shuffled)
        assert _rows(shuffled, matrix) == expected

    law()


def test_a_trial_that_cannot_do_the_task_leaves_crsr(
    make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """Adding pairs whose control failed changes RSR's denominator, but never the value of CRSR."""

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.booleans(), min_size=1, max_size=5), st.lists(st.booleans(), max_size=5))
    def law(capable: list[bool], others: list[bool]) -> None:
        trials = [(True, passed) for passed in capable] + [(False, passed) for passed in others]
        seeds = list(range(1, len(trials) + 1))
        rows = []
        for seed, (control, fault) in zip(seeds, trials, strict=True):
            rows.append(make_verdict(arm="control", seed=seed, passed=control))
            rows.append(make_verdict(seed=seed, passed=fault))
        cells, _ = _rows(rows, make_matrix(["T1"], ["none"], seeds=seeds))
        crsr = cells[0].metrics["crsr"]
        assert (crsr.num, crsr.den, crsr.value) == (sum(capable), len(capable), sum(capable) / len(capable))
        assert cells[0].metrics["rsr"].den == len(trials)

    law()
