"""TOST of two frameworks: are they within ten percentage points of each other, on shared draws of tasks?"""

from itertools import combinations, product

import msgspec

from undolab.stats.groups import Group, difference, groups
from undolab.stats.intervals import equivalence
from undolab.stats.matrix import Matrix
from undolab.stats.tally import Cell, Replicates, Tally

MARGIN = 0.10
_LEVEL = 0.05
_METRICS = ("rsr", "crsr", "eor", "der")


class EquivalenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """Framework a against framework b on one metric."""

    model: str
    prompt: str
    examples: str
    boundary: str
    """Empty for `control`, which knows no boundary and no method."""
    method: str
    metric: str
    a: str
    b: str
    a_num: int
    a_den: int
    b_num: int
    b_den: int
    value: float | None
    """a minus b."""
    lo90: float | None
    hi90: float | None
    dropped: int
    margin: float
    p: float | None
    """The larger p of the two one-sided tests."""
    equivalent: str
    """`yes`: p below 0.05 and the 90 % interval within the margins; `no`: not shown; `undefined`."""


def equivalence_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[EquivalenceRow]:
    """Return every pair of frameworks, in each model, boundary and method; no row with one framework."""
    rows = []
    for model, (a, b) in product(matrix.models, combinations(matrix.frameworks, 2)):
        # every cell has the same controls, but for the tasks in which it is not applicable
        widest = max(
            product(matrix.boundaries, matrix.methods),
            key=lambda place: Group(tally, [Cell(model, a, *place)]).counts("control")[1],
        )
        sides = [Group(tally, [Cell(model, framework, *widest)]) for framework in (a, b)]
        rows.append(_row(sides[0], sides[1], "control", "", replicates, matrix))
        for boundary, (label, methods), metric in product(matrix.boundaries, groups(matrix), _METRICS):
            sides = [
                Group(tally, [Cell(model, framework, boundary, method) for method in methods])
                for framework in (a, b)
            ]
            rows.append(_row(sides[0], sides[1], metric, label, replicates, matrix))
    return rows


def _row(
    left: Group, right: Group, metric: str, label: str, replicates: Replicates, matrix: Matrix
) -> EquivalenceRow:
    found = equivalence(left.replicates(metric, replicates) - right.replicates(metric, replicates), MARGIN)
    value = difference(left.value(metric), right.value(metric))
    shown = "undefined"
    if value is not None and found.p is not None and found.lo is not None and found.hi is not None:
        within = found.lo >= -MARGIN and found.hi <= MARGIN
        shown = "yes" if within and found.p < _LEVEL else "no"
    (a_num, a_den), (b_num, b_den) = left.counts(metric), right.counts(metric)
    return EquivalenceRow(
        model=left.cells[0].model,
        prompt=matrix.prompt,
        examples=matrix.examples,
        boundary=left.cells[0].boundary if label else "",
        method=label,
        metric=metric,
        a=left.cells[0].framework,
        b=right.cells[0].framework,
        a_num=a_num,
        a_den=a_den,
        b_num=b_num,
        b_den=b_den,
        value=value,
        lo90=found.lo,
        hi90=found.hi,
        dropped=found.dropped,
        margin=MARGIN,
        p=found.p,
        equivalent=shown,
    )
