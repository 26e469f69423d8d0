"""Sign-flip tests of the planned contrasts, models on their common support, gap closure, and BCa beside percentiles."""

from itertools import combinations, product

import msgspec
import numpy as np

from undolab.stats.estimate import compared, named
from undolab.stats.groups import Group, difference, groups
from undolab.stats.intervals import (
    bca_interval,
    drawn_sums,
    holm,
    percentile_interval,
    ratios,
    two_sided_p,
)
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import COLUMN, FIELD, METRICS
from undolab.stats.rows import in_family
from undolab.stats.signflip import sign_flip
from undolab.stats.tally import Cell, Replicates, Tally, held

_BCA = ("control", "crsr", "eor", "der")


class SignFlipRow(msgspec.Struct, frozen=True, kw_only=True):
    """A planned contrast, tested by flipping the signs of the tasks' differences."""

    family: str
    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    metric: str
    a: str
    b: str
    tasks: int
    differing: int
    mean: float | None
    """Mean over tasks of a minus b: each task weighs the same, unlike in the pooled contrast."""
    p: float | None
    p_least: float | None
    p_holm: float | None
    family_size: int
    exact: str
    """`yes`, or `no` where seeded sign patterns stand for all."""


class SupportRow(msgspec.Struct, frozen=True, kw_only=True):
    """Model a against model b in CRSR over the tasks in which both have a capable trial."""

    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    a: str
    b: str
    tasks: int
    left_out: str
    """Tasks of the cells in which not both have a capable trial, joined by spaces."""
    a_num: int
    a_den: int
    b_num: int
    b_den: int
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int
    p: float | None
    p_holm: float | None
    family_size: int
    """Holm's family: all rows of a framework and boundary."""


class ClosureRow(msgspec.Struct, frozen=True, kw_only=True):
    """Gap closure of a method over a reference: (CRSR - reference's CRSR) / (1 - reference's CRSR)."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    reference: str
    num: int
    den: int
    reference_num: int
    reference_den: int
    value: float | None
    """Undefined where the reference fails nowhere."""
    lo: float | None
    hi: float | None
    dropped: int


class BcaRow(msgspec.Struct, frozen=True, kw_only=True):
    """Percentile and BCa interval of one metric of one cell, on the same draws."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    metric: str
    num: int
    den: int
    value: float | None
    lo: float | None
    hi: float | None
    bca_lo: float | None
    bca_hi: float | None
    dropped: int


def sign_flip_rows(tally: Tally, matrix: Matrix) -> list[SignFlipRow]:
    """Return a row for every row of `contrasts.csv`, in its order."""
    rows: list[SignFlipRow] = []
    for model, framework, family in product(matrix.models, matrix.frameworks, matrix.families):
        found = []
        for a, b in compared(family, model, framework, matrix):
            left, right = Group(tally, [a]), Group(tally, [b])
            flip = sign_flip(left.by_task(family.metric), right.by_task(family.metric))
            found.append(
                SignFlipRow(
                    **named(family, a, b, matrix)._asdict(),
                    tasks=flip.tasks,
                    differing=flip.differing,
                    mean=flip.mean,
                    p=flip.p,
                    p_least=flip.p_least,
                    p_holm=None,
                    family_size=0,
                    exact="yes" if flip.exact else "no",
                )
            )
        rows += in_family(found, holm([row.p for row in found]))
    return rows


def support_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[SupportRow]:
    """Return every pair of models in each framework, boundary and method; no row with one model."""
    rows: list[SupportRow] = []
    for framework, boundary in product(matrix.frameworks, matrix.boundaries):
        found = []
        for (a, b), (label, methods) in product(combinations(matrix.models, 2), groups(matrix)):
            left, right = (
                Group(tally, [Cell(model, framework, boundary, method) for method in methods])
                for model in (a, b)
            )
            found.append(_support(left, right, label, tally, replicates, matrix))
        rows += in_family(found, holm([row.p for row in found]))
    return rows


def closure_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[ClosureRow]:
    """Return each method over each that stands before it in the matrix, in each model, framework and boundary."""
    rows = []
    for model, framework, boundary in product(matrix.models, matrix.frameworks, matrix.boundaries):
        for reference, method in combinations(matrix.methods, 2):
            cells = [Cell(model, framework, boundary, name) for name in (method, reference)]
            ours, theirs = (Group(tally, [cell], tally.both(*cells)) for cell in cells)
            base = theirs.value("crsr")
            gain = difference(ours.value("crsr"), base)
            spread = theirs.replicates("crsr", replicates)
            closed = ratios(ours.replicates("crsr", replicates) - spread, 1 - spread)
            (num, den), (reference_num, reference_den) = ours.counts("crsr"), theirs.counts("crsr")
            rows.append(
                ClosureRow(
                    model=model,
                    framework=framework,
                    prompt=matrix.prompt,
                    examples=matrix.examples,
                    boundary=boundary,
                    method=method,
                    reference=reference,
                    num=num,
                    den=den,
                    reference_num=reference_num,
                    reference_den=reference_den,
                    value=None if gain is None or base is None or base == 1 else gain / (1 - base),
                    **percentile_interval(closed)._asdict(),
                )
            )
    return rows


def bca_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[BcaRow]:
    """Return both intervals for the tested metrics and control of every cell."""
    rows = []
    for cell in tally.cells:
        group = Group(tally, [cell])
        for name in _BCA:
            metric, spread = METRICS[name], replicates.of(cell)[COLUMN[name]]
            table = held(group.table)
            left = table.sum(axis=0) - table
            left_out = ratios(left[:, FIELD[metric.num]], left[:, FIELD[metric.den]])
            plain = percentile_interval(spread)
            corrected = bca_interval(group.value(name), spread, left_out)
            num, den = group.counts(name)
            rows.append(
                BcaRow(
                    **cell._asdict(),
                    prompt=matrix.prompt,
                    examples=matrix.examples,
                    metric=name,
                    num=num,
                    den=den,
                    value=group.value(name),
                    **plain._asdict(),
                    bca_lo=corrected.lo,
                    bca_hi=corrected.hi,
                )
            )
    return rows


def _support(
    left: Group, right: Group, label: str, tally: Tally, replicates: Replicates, matrix: Matrix
) -> SupportRow:
    pairs = list(zip(left.by_task("crsr"), right.by_task("crsr"), strict=True))
    kept = [index for index, (a, b) in enumerate(pairs) if a[1] and b[1]]
    counts = np.array([[*pairs[index][0], *pairs[index][1]] for index in kept], dtype=np.int64).reshape(-1, 4)
    a_num, a_den, b_num, b_den = counts.sum(axis=0).tolist()
    sums = drawn_sums(counts, replicates.draw(len(kept)))
    value, spread = None, ratios(sums[0], sums[1]) - ratios(sums[2], sums[3])
    if kept:
        value = a_num / a_den - b_num / b_den
    held = (left.table + right.table)[:, FIELD["N"]] > 0
    return SupportRow(
        framework=left.cells[0].framework,
        prompt=matrix.prompt,
        examples=matrix.examples,
        boundary=left.cells[0].boundary,
        method=label,
        a=left.cells[0].model,
        b=right.cells[0].model,
        tasks=len(kept),
        left_out=" ".join(
            task for index, task in enumerate(tally.tasks) if held[index] and index not in kept
        ),
        a_num=a_num,
        a_den=a_den,
        b_num=b_num,
        b_den=b_den,
        value=value,
        **percentile_interval(spread)._asdict(),
        p=None if value is None else two_sided_p(value, spread),
        p_holm=None,
        family_size=0,
    )
