"""What repeating a trial shows: how stable seeds are, and pass^k, the chance that k trials of a task all pass."""

from collections.abc import Sequence
from itertools import product
from math import comb

import msgspec
import numpy as np
from numpy.typing import NDArray

from undolab.stats.intervals import percentile_interval
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import FIELD
from undolab.stats.tally import Cell, Replicates, Tally, held

_K = (1, 2, 3, 5, 10, 20)


class StabilityRow(msgspec.Struct, frozen=True, kw_only=True):
    """Over the tasks of a cell: in how many all seeds agree. A task that the boundary does not apply to is none of them."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    """Empty for `control`."""
    method: str
    outcome: str
    """`control`: C. `fault`: F. `recovered`: F of the trials whose control passed."""
    tasks: int
    all_pass: int
    all_fail: int
    mixed: int
    none: int
    """Tasks without such a trial."""


class PassRow(msgspec.Struct, frozen=True, kw_only=True):
    """pass^k: the mean over tasks of C(passed, k) / C(trials, k), with a task-clustered interval."""

    model: str
    framework: str
    prompt: str
    examples: str
    boundary: str
    method: str
    outcome: str
    k: int
    tasks: int
    """Tasks with k trials or more."""
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int


def stability_rows(tally: Tally, matrix: Matrix) -> list[StabilityRow]:
    """Return the control of each model and framework, then both fault outcomes of each cell."""
    rows = []
    for cell, outcome, passed, trials in _outcomes(tally, matrix):
        rows.append(
            StabilityRow(
                **_scope(cell, outcome)._asdict(),
                prompt=matrix.prompt,
                examples=matrix.examples,
                outcome=outcome,
                tasks=len(trials),
                all_pass=int(((passed == trials) & (trials > 0)).sum()),
                all_fail=int(((passed == 0) & (trials > 0)).sum()),
                mixed=int(((passed > 0) & (passed < trials)).sum()),
                none=int((trials == 0).sum()),
            )
        )
    return rows


def pass_rows(tally: Tally, replicates: Replicates, matrix: Matrix) -> list[PassRow]:
    """Return pass^k of control and fault arms, for each k that the number of seeds allows."""
    rows = []
    for cell, outcome, passed, trials in _outcomes(tally, matrix):
        if outcome == "recovered":
            continue
        for k in [k for k in _K if k <= len(matrix.seeds)]:
            chances = [pass_k(int(c), int(n), k) for c, n in zip(passed, trials, strict=True) if n >= k]
            rows.append(
                PassRow(
                    **_scope(cell, outcome)._asdict(),
                    prompt=matrix.prompt,
                    examples=matrix.examples,
                    outcome=outcome,
                    k=k,
                    tasks=len(chances),
                    value=sum(chances) / len(chances) if chances else None,
                    **percentile_interval(_means(chances, replicates.draw(len(chances))))._asdict(),
                )
            )
    return rows


def pass_k(passed: int, trials: int, k: int) -> float:
    """Return the chance that k of the trials, drawn without replacement, all passed."""
    return comb(passed, k) / comb(trials, k)


_Counts = NDArray[np.int64]


def _outcomes(tally: Tally, matrix: Matrix) -> list[tuple[Cell, str, _Counts, _Counts]]:
    """Return (cell, outcome, passed and trials by task); a control is told once for each model and framework."""
    found = []
    for model, framework in product(matrix.models, matrix.frameworks):
        cells = [Cell(model, framework, *rest) for rest in product(matrix.boundaries, matrix.methods)]
        # every cell has the same controls, but for the tasks in which it is not applicable
        shared = held(np.max([tally.counts(cell) for cell in cells], axis=0))
        found.append((cells[0], "control", shared[:, FIELD["D"]], shared[:, FIELD["N"]]))
        for cell in cells:
            table = held(tally.counts(cell))
            found.append((cell, "fault", table[:, FIELD["F"]], table[:, FIELD["N"]]))
            found.append((cell, "recovered", table[:, FIELD["R"]], table[:, FIELD["D"]]))
    return found


def _scope(cell: Cell, outcome: str) -> Cell:
    return cell._replace(boundary="", method="") if outcome == "control" else cell


def _means(chances: Sequence[float], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean in every replicate; terms are added task by task, so no digit depends on a library."""
    total = np.zeros(drawn.shape[1])
    for chance, weight in zip(chances, drawn, strict=True):
        total += chance * weight
    return total / max(1, len(chances))
