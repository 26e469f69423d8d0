"""Every cell by the reversibility of its tasks; each stratum draws its own tasks."""

from collections.abc import Mapping

import msgspec

from undolab.stats.groups import Group
from undolab.stats.intervals import drawn_sums, percentile_interval, ratios
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import FIELD, METRICS
from undolab.stats.tally import Replicates, Tally, held

_METRICS = ("control", "rsr", "crsr", "eor", "der", "mer", "urr")


class StratumRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one cell over the tasks of one reversibility."""

    stratum: str
    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    tasks: int
    N: int
    D: int
    R: int
    metric: str
    num: int
    den: int
    value: float | None
    lo: float | None
    """Undefined with one task: tasks cannot be drawn."""
    hi: float | None
    dropped: int


def stratum_rows(
    tally: Tally, replicates: Replicates, matrix: Matrix, reversibility: Mapping[str, str]
) -> list[StratumRow]:
    """Return the metrics of each stratum and cell; tasks without a known reversibility are in none."""
    rows = []
    for stratum in sorted({reversibility[task] for task in tally.tasks if task in reversibility}):
        kept = [index for index, task in enumerate(tally.tasks) if reversibility.get(task) == stratum]
        for cell in tally.cells:
            table = held(Group(tally, [cell]).table[kept])
            total = table.sum(axis=0).tolist()
            sums = drawn_sums(table, replicates.draw(len(table)))
            for name in _METRICS:
                num, den = FIELD[METRICS[name].num], FIELD[METRICS[name].den]
                rows.append(
                    StratumRow(
                        stratum=stratum,
                        **cell._asdict(),
                        prompt=matrix.prompt,
                        examples=matrix.examples,
                        tasks=len(table),
                        **{count: total[FIELD[count]] for count in ("N", "D", "R")},
                        metric=name,
                        num=total[num],
                        den=total[den],
                        value=total[num] / total[den] if total[den] else None,
                        **percentile_interval(ratios(sums[num], sums[den]))._asdict(),
                    )
                )
    return rows
