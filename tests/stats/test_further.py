"""Equivalence, common support, gap closure, stability, pass^k, strata and power on studies worked out by hand."""

from collections.abc import Callable, Sequence
from itertools import product
from math import comb

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.verdict import Verdict
from undolab.stats.comparisons import bca_rows, closure_rows, sign_flip_rows, support_rows
from undolab.stats.equivalence import equivalence_rows
from undolab.stats.estimate import cell_rows, contrast_rows
from undolab.stats.load import join
from undolab.stats.matrix import Family, Matrix
from undolab.stats.power import power_rows
from undolab.stats.repeats import pass_k, pass_rows, stability_rows
from undolab.stats.strata import stratum_rows
from undolab.stats.tally import Replicates, Tally

_SEEDS = [1, 2, 3, 4]
Outcome = Callable[[str, str, str, str, int], bool]


@pytest.fixture
def small(
    make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> Callable[..., tuple[Tally, Replicates, Matrix]]:
    """Return a maker of studies from two rules: who is capable, and who recovers."""

    def make(
        capable: Outcome,
        recovers: Outcome,
        *,
        tasks: Sequence[str] = ("T1", "T2", "T3"),
        models: Sequence[str] = ("m",),
        frameworks: Sequence[str] = ("F1",),
        methods: Sequence[str] = ("none", "B0", "B2"),
    ) -> tuple[Tally, Replicates, Matrix]:
        matrix = make_matrix(
            list(tasks), list(methods), models=list(models), frameworks=list(frameworks), seeds=_SEEDS
        )
        rows = []
        for task, model, framework, seed in product(tasks, models, frameworks, _SEEDS):
            for kind, method in [("control", "none"), *(("fault", method) for method in methods)]:
                rule = capable if kind == "control" else recovers
                passed = rule(task, model, framework, method, seed)
                made = make_verdict(
                    workflow=task,
                    model=model,
                    method=method,
                    seed=seed,
                    arm=kind,
                    passed=passed,
                    effects=passed,
                )
                arm = msgspec.structs.replace(made.arm, framework=framework)
                rows.append(msgspec.structs.replace(made, arm=arm))
        tally = Tally(join(rows, matrix), matrix)
        return tally, Replicates(tally, matrix), matrix

    return make


Small = Callable[..., tuple[Tally, Replicates, Matrix]]


def _always(*_: object) -> bool:
    return True


def test_one_model_and_one_framework_have_nothing_to_compare(small: Small) -> None:
    """Then equivalence and common support have no row."""
    tally, replicates, matrix = small(_always, _always)
    assert equivalence_rows(tally, replicates, matrix) == []
    assert support_rows(tally, replicates, matrix) == []


def test_equal_frameworks_are_equivalent_and_different_ones_are_not(small: Small) -> None:
    """F2 equal to F1 under `none` is shown equivalent; F2 that never recovers under B0 is not; control is told once."""
    tally, replicates, matrix = small(
        _always, lambda t, m, f, method, s: method != "B0" or f == "F1", frameworks=("F1", "F2")
    )
    rows = {(row.method, row.metric): row for row in equivalence_rows(tally, replicates, matrix)}
    assert len(rows) == 1 + 4 * 4
    same, other = rows["none", "crsr"], rows["B0", "crsr"]
    assert (same.value, same.lo90, same.hi90, same.p, same.equivalent) == (0.0, 0.0, 0.0, 1 / 200, "yes")
    assert (other.value, other.p, other.equivalent) == (1.0, 1.0, "no")
    assert (rows["", "control"].a_num, rows["", "control"].a_den) == (12, 12)
    pooled = rows["track 2", "crsr"]
    assert (pooled.a_num, pooled.a_den, pooled.b_num, pooled.b_den) == (24, 24, 12, 24)


def test_equivalence_without_a_capable_trial_is_undefined(small: Small) -> None:
    """Where CRSR does not exist nothing is said of it."""
    tally, replicates, matrix = small(lambda *_: False, _always, frameworks=("F1", "F2"))
    row = next(row for row in equivalence_rows(tally, replicates, matrix) if row.metric == "crsr")
    assert (row.value, row.p, row.equivalent, row.dropped) == (None, None, "undefined", 200)


def test_common_support_drops_tasks_that_one_model_never_does(small: Small) -> None:
    """T3 is beyond model b: it is left out, and its recoveries by model a with it."""
    tally, replicates, matrix = small(
        lambda t, m, f, k, s: m == "a" or t != "T3",
        lambda t, m, f, k, s: t == "T3" or (m == "b" and s == 1),
        models=("a", "b"),
        methods=("B0",),
    )
    (row,) = support_rows(tally, replicates, matrix)
    assert (row.tasks, row.left_out) == (2, "T3")
    assert (row.a_num, row.a_den, row.b_num, row.b_den) == (0, 8, 2, 8)
    assert (row.value, row.lo, row.hi) == (-0.25, -0.25, -0.25)
    assert (row.p, row.p_holm, row.family_size) == (1 / 200, 1 / 200, 1)


def test_no_common_support_is_undefined(small: Small) -> None:
    """Models that share no task have no difference, and nothing to draw from."""
    tally, replicates, matrix = small(
        lambda t, m, f, k, s: (m == "a") == (t == "T1"), _always, models=("a", "b"), methods=("B0",)
    )
    (row,) = support_rows(tally, replicates, matrix)
    assert (row.tasks, row.value, row.p, row.dropped) == (0, None, None, 0)


def test_gap_closure_of_a_method_over_a_reference(small: Small) -> None:
    """From 1/4 to 3/4 closes two thirds; over a method that never fails nothing is defined."""
    tally, replicates, matrix = small(
        _always,
        lambda t, m, f, k, s: s <= {"none": 1, "B0": 4, "B2": 3}[k],
    )
    rows = {(row.method, row.reference): row for row in closure_rows(tally, replicates, matrix)}
    assert set(rows) == {("B0", "none"), ("B2", "none"), ("B2", "B0")}
    assert rows["B2", "none"].value == pytest.approx(2 / 3)
    assert rows["B0", "none"].value == 1.0
    assert (rows["B2", "B0"].value, rows["B2", "B0"].dropped) == (None, 200)


def test_stability_counts_tasks_whose_seeds_agree(small: Small) -> None:
    """T1 passes with every seed, T2 with none, T3 with one; T3's control never passes."""
    tally, _, matrix = small(
        lambda t, m, f, k, s: t != "T3",
        lambda t, m, f, k, s: t == "T1" or (t == "T3" and s == 1),
        methods=("B0",),
    )
    rows = {row.outcome: row for row in stability_rows(tally, matrix)}
    found = {name: (row.all_pass, row.all_fail, row.mixed, row.none) for name, row in rows.items()}
    assert found == {"control": (2, 1, 0, 0), "fault": (1, 1, 1, 0), "recovered": (1, 1, 0, 1)}
    assert (rows["control"].boundary, rows["control"].method) == ("", "")


def test_pass_k_is_the_mean_of_the_tasks_chances(small: Small) -> None:
    """With 4, 3 and 0 of 4 passed, pass^2 is (1 + 1/2 + 0) / 3; a k beyond the number of seeds has no row."""
    tally, replicates, matrix = small(
        _always, lambda t, m, f, k, s: s <= {"T1": 4, "T2": 3, "T3": 0}[t], methods=("B0",)
    )
    rows = {(row.outcome, row.k): row for row in pass_rows(tally, replicates, matrix)}
    assert set(rows) == {(outcome, k) for outcome in ("control", "fault") for k in (1, 2, 3)}
    assert rows["fault", 1].value == pytest.approx(7 / 12)
    assert rows["fault", 2].value == pytest.approx(0.5)
    assert rows["fault", 3].value == pytest.approx((1 + 1 / 4) / 3)
    assert (rows["fault", 3].lo, rows["fault", 3].hi) == (0.0, pytest.approx(1.0))
    assert rows["control", 3].value == 1.0


@given(st.integers(1, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_pass_k_falls_with_k(case: tuple[int, int, int]) -> None:
    """pass^1 is the rate itself, more trials never pass more often, and all of them pass only if all do."""
    passed, trials, k = case
    assert pass_k(passed, trials, 1) == pytest.approx(passed / trials)
    assert pass_k(passed, trials, k) <= pass_k(passed, trials, max(1, k - 1))
    assert pass_k(passed, trials, trials) == float(passed == trials)
    assert pass_k(passed, trials, k) * comb(trials, k) == pytest.approx(comb(passed, k))


def test_strata_draw_their_own_tasks(small: Small) -> None:
    """A stratum of one task has no interval; one of two has; a task of no known reversibility is in none."""
    tally, replicates, matrix = small(
        _always, lambda t, m, f, k, s: t == "T1", tasks=("T1", "T2", "T3", "T4"), methods=("B0",)
    )
    kinds = {"T1": "REVERSIBLE", "T2": "REVERSIBLE", "T3": "IRREVERSIBLE"}
    rows = {(row.stratum, row.metric): row for row in stratum_rows(tally, replicates, matrix, kinds)}
    two, one = rows["REVERSIBLE", "crsr"], rows["IRREVERSIBLE", "crsr"]
    assert (two.tasks, two.num, two.den, two.value, two.lo, two.hi) == (2, 4, 8, 0.5, 0.0, 1.0)
    assert (one.tasks, one.value, one.lo, one.hi) == (1, 0.0, None, None)
    assert len(rows) == 2 * 7


def test_power_grows_with_tasks_and_with_spread(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """More tasks find smaller differences, spread effects are found sooner than concentrated ones, and chance is kept."""
    tally = Tally(join(study_rows, study_matrix), study_matrix)
    rows = power_rows(tally, study_matrix)
    found = {(row.effect, row.test, row.tasks): row for row in rows}
    assert len(rows) == len(found) == 12
    for test in ("bootstrap", "sign_flip"):
        for size in (36, 60):
            spread, packed = found["spread", test, size], found["concentrated", test, size]
            assert spread.detectable is not None
            assert packed.detectable is not None
            assert spread.detectable < packed.detectable
            assert spread.power is not None
            assert spread.power >= 0.8
        assert found["spread", test, 60].detectable < found["spread", test, 36].detectable  # type: ignore[operator]
        assert found["spread", "sign_flip", 60].false_findings < 0.08  # type: ignore[operator]
    assert power_rows(tally, study_matrix) == rows


def test_power_without_a_capable_trial_is_undefined(small: Small) -> None:
    """Nothing can be simulated from no capable trial; the rows say so."""
    tally, _, matrix = small(lambda *_: False, _always)
    assert {(row.reference_crsr, row.detectable, row.power) for row in power_rows(tally, matrix)} == {
        (None, None, None)
    }


def test_every_planned_contrast_has_its_sign_flip(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """The rows stand in the order of the contrasts; each p is at least its least, and Holm never lowers it."""
    tally = Tally(join(study_rows, study_matrix), study_matrix)
    planned = contrast_rows(tally, Replicates(tally, study_matrix), study_matrix)
    rows = sign_flip_rows(tally, study_matrix)
    keys = ("family", "model", "framework", "boundary", "method", "metric", "a", "b", "family_size")
    assert [[getattr(row, key) for key in keys] for row in rows] == [
        [getattr(row, key) for key in keys] for row in planned
    ]
    assert all(row.p_least <= row.p <= row.p_holm for row in rows if row.p is not None)  # type: ignore[operator]


def test_bca_stands_beside_the_percentiles(study_rows: list[Verdict], study_matrix: Matrix) -> None:
    """Each cell has both intervals for four metrics, and both hold the value."""
    tally = Tally(join(study_rows, study_matrix), study_matrix)
    rows = bca_rows(tally, Replicates(tally, study_matrix), study_matrix)
    assert len(rows) == 8 * 4
    for row in rows:
        assert row.value is not None
        assert row.lo is not None
        assert row.lo <= row.value <= row.hi  # type: ignore[operator]
        assert row.bca_lo is None or row.bca_lo <= row.value <= row.bca_hi  # type: ignore[operator]


def test_what_is_not_applicable_is_compared_nowhere(
    make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]
) -> None:
    """B0 has no arm in T3: it is compared over T1 and T2 alone, and controls still count T3."""
    family = Family(name="f", metric="eor", contrasts=[("none", "B0")], boundary="PRE_MUTATION")
    absent = [("T3", "PRE_MUTATION", "B0")]
    matrix = make_matrix(["T1", "T2", "T3"], ["B0", "none"], families=[family], not_applicable=absent)
    rows = [make_verdict(workflow=task, arm="control") for task in ("T1", "T2", "T3")]
    lost = {"passed": False, "effects": False}
    for task in ("T1", "T2", "T3"):
        rows.append(make_verdict(workflow=task, method="none", **({} if task == "T3" else lost)))
        if task != "T3":
            rows.append(make_verdict(workflow=task, method="B0", **({} if task == "T2" else lost)))
    tally = Tally(join(rows, matrix), matrix)
    replicates = Replicates(tally, matrix)
    (row,) = contrast_rows(tally, replicates, matrix)
    assert row.value == -0.5
    assert (row.lo, row.hi) == (-1.0, 0.0)
    (flip,) = sign_flip_rows(tally, matrix)
    assert (flip.tasks, flip.differing, flip.mean) == (2, 1, -0.5)
    (closed,) = closure_rows(tally, replicates, matrix)
    assert (closed.method, closed.num, closed.den, closed.reference_num, closed.reference_den) == (
        "none",
        0,
        2,
        1,
        2,
    )
    pooled = {(c.scope.method, c.scope.task): c.metrics["eor"] for c in cell_rows(tally, replicates, matrix)}
    assert (pooled["B0", "all"].num, pooled["B0", "all"].den, pooled["B0", "all"].dropped) == (1, 2, 0)
    assert (pooled["B0", "all"].lo, pooled["B0", "all"].hi) == (0.0, 1.0)
    assert replicates.draw(2).shape == (2, 200)
    fault = {row.method: row for row in pass_rows(tally, replicates, matrix) if row.outcome == "fault"}
    assert (fault["B0"].tasks, fault["B0"].value, fault["none"].tasks) == (2, 0.5, 3)
    control, *_ = stability_rows(tally, matrix)
    assert (control.outcome, control.tasks, control.all_pass) == ("control", 3, 3)
