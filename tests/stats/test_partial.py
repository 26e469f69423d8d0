"""A boundary that applies to some tasks only: each statistic of its cells is that of a study of those tasks alone."""

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import msgspec
import pytest

from undolab.model.verdict import Verdict
from undolab.stats.comparisons import bca_rows, closure_rows, sign_flip_rows, support_rows
from undolab.stats.equivalence import equivalence_rows
from undolab.stats.estimate import cell_rows, contrast_rows
from undolab.stats.load import join
from undolab.stats.matrix import Family, Matrix
from undolab.stats.power import power_rows
from undolab.stats.repeats import pass_rows, stability_rows
from undolab.stats.strata import stratum_rows
from undolab.stats.tally import Replicates, Tally

_TASKS = [f"T{number:02}" for number in range(12)]
_FEW = ["T01", "T04", "T07", "T10"]
_HALF, _LOST = "DURING_MUTATION", "PRE_MUTATION"
_METHODS = ["none", "B0", "B2"]
_SEEDS = [1, 2, 3]
_KINDS = {task: "REVERSIBLE" if at % 2 else "IRREVERSIBLE" for at, task in enumerate(_TASKS)}
_FAMILIES = [
    Family(name="half", metric="crsr", contrasts=[("B0", "none"), ("B2", "B0")], boundary=_HALF),
    Family(name="across", metric="der", contrasts=[(_LOST, _HALF)]),
]
Maker = Callable[..., dict[str, list[dict[str, Any]]]]


@pytest.fixture
def every(make_verdict: Callable[..., Verdict], make_matrix: Callable[..., Matrix]) -> Maker:
    """Return a maker of all rows of all statistics: tasks, those with a half-done call, and boundaries."""

    def make(
        tasks: Sequence[str], few: Sequence[str], places: Sequence[str], *, power: bool = False
    ) -> dict[str, list[dict[str, Any]]]:
        absent = [(task, _HALF, method) for task, method in product(tasks, _METHODS) if task not in few]
        families = [one for one in _FAMILIES if one.boundary in places or len(places) > 1]
        matrix = make_matrix(
            list(tasks), _METHODS, models=["m", "n"], frameworks=["F1", "F2"], seeds=_SEEDS,
            boundaries=list(places), families=families, not_applicable=absent if _HALF in places else [],
        )  # fmt: skip
        rows = []
        for task, model, framework, seed in matrix.controls():
            made = make_verdict(
                workflow=task, model=model, seed=seed, arm="control",
                passed=_chance(task, model, framework, seed) < 0.8,
            )  # fmt: skip
            rows.append(_in(framework, made))
        for task, model, framework, place, method, seed in matrix.faults():
            luck = _chance(task, model, framework, place, method, seed)
            made = make_verdict(
                workflow=task, model=model, seed=seed, boundary=place, method=method,
                passed=luck < 0.6, effects=luck < 0.7, harmful_duplicates=int(luck > 0.8),
            )  # fmt: skip
            rows.append(_in(framework, made))
        tally = Tally(join(rows, matrix), matrix)
        replicates = Replicates(tally, matrix)
        first = msgspec.structs.replace(matrix, models=["m"], frameworks=["F1"])
        found: dict[str, Sequence[msgspec.Struct]] = {
            "cells": [row for row in cell_rows(tally, replicates, matrix) if row.scope.task == "all"],
            "contrasts": contrast_rows(tally, replicates, matrix),
            "sign_flip": sign_flip_rows(tally, matrix),
            "closure": closure_rows(tally, replicates, matrix),
            "bca": bca_rows(tally, replicates, matrix),
            "equivalence": equivalence_rows(tally, replicates, matrix),
            "support": support_rows(tally, replicates, matrix),
            "pass_k": pass_rows(tally, replicates, matrix),
            "stability": stability_rows(tally, matrix),
            "strata": stratum_rows(tally, replicates, matrix, _KINDS),
            "power": power_rows(tally, first) if power else [],
        }
        return {name: [msgspec.to_builtins(row) for row in rows] for name, rows in found.items()}

    return make


def _chance(*names: object) -> float:
    return random.Random(repr(names)).random()


def _in(framework: str, made: Verdict) -> Verdict:
    return msgspec.structs.replace(made, arm=msgspec.structs.replace(made.arm, framework=framework))


def _at(place: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a boundary."""
    return [row for row in rows if row.get("scope", row).get("boundary") == place]


def test_a_boundary_of_few_tasks_has_the_statistics_of_those_tasks_alone(every: Maker) -> None:
    """Half-done calls in 4 of 12 tasks: every row, interval and p is that of a study of the four."""
    whole, alone = every(_TASKS, _FEW, [_HALF, _LOST], power=True), every(_FEW, _FEW, [_HALF], power=True)
    for name, rows in alone.items():
        expected = _at(_HALF, rows)
        assert expected, name
        assert _at(_HALF, whole[name]) == expected, name


def test_the_other_boundaries_keep_all_tasks(every: Maker) -> None:
    """What does not apply at one boundary takes no task from another, nor from control."""
    whole, alone = every(_TASKS, _FEW, [_HALF, _LOST]), every(_TASKS, [], [_LOST])
    for name in ("cells", "closure", "bca", "equivalence", "support", "pass_k", "stability", "strata"):
        assert _at(_LOST, whole[name]) == _at(_LOST, alone[name]), name
    for name in ("equivalence", "pass_k", "stability"):
        assert _at("", whole[name]) == _at("", alone[name]) != [], name


def test_boundaries_are_compared_over_the_tasks_of_both(every: Maker) -> None:
    """A contrast of boundaries is that of a study of the four tasks at both of them, by either test."""
    whole, alone = every(_TASKS, _FEW, [_HALF, _LOST]), every(_FEW, _FEW, [_HALF, _LOST])
    for name in ("contrasts", "sign_flip"):
        assert _at("", whole[name]) == _at("", alone[name]) != [], name
    assert {row["tasks"] for row in _at("", whole["sign_flip"])} == {4}


def test_a_task_that_does_not_apply_is_not_told_as_left_out(every: Maker) -> None:
    """Only tasks of the cells can be beyond a model, agree over seeds, or have no trial."""
    whole = every(_TASKS, _FEW, [_HALF, _LOST])
    for row in _at(_HALF, whole["support"]):
        left_out = row["left_out"].split()
        assert set(left_out) <= set(_FEW)
        assert row["tasks"] + len(left_out) == 4
    for row in _at(_HALF, whole["stability"]):
        assert row["tasks"] == 4 == row["all_pass"] + row["all_fail"] + row["mixed"] + row["none"]


def test_one_task_cannot_be_drawn(every: Maker) -> None:
    """A boundary of one task has values, and no interval, no bootstrap p, and no replicate that could be dropped."""
    whole = every(_TASKS, ["T01"], [_HALF, _LOST])
    for name in ("cells", "contrasts", "closure", "bca", "equivalence", "support", "pass_k", "strata"):
        rows = _at(_HALF, whole[name])
        assert rows, name
        for row in rows:
            for found in row["metrics"].values() if name == "cells" else [row]:
                bounds = ("lo", "hi", "lo90", "hi90", "bca_lo", "bca_hi", "p", "p_holm")
                assert {found.get(key) for key in bounds} == {None}, (name, row)
                assert found["dropped"] == 0
    assert all(row["p"] == 1.0 for row in _at(_HALF, whole["sign_flip"]) if row["tasks"])


def test_a_boundary_without_a_task_has_no_value(every: Maker) -> None:
    """Where no task has a half-done call every number of that boundary is undefined."""
    whole = every(_TASKS, [], [_LOST, _HALF])
    for row in _at(_HALF, whole["cells"]):
        assert {(found["value"], found["lo"], found["dropped"]) for found in row["metrics"].values()} == {
            (None, None, 0)
        }
    for name in ("contrasts", "closure", "bca", "equivalence", "support", "pass_k", "strata"):
        assert {(row["value"], row["dropped"]) for row in _at(_HALF, whole[name])} == {(None, 0)}, name
    assert {row["tasks"] for row in _at(_HALF, whole["stability"])} == {0}
