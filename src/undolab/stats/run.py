"""The stage: verdicts and matrix in, `metrics.json`, `contrasts.json` and CSV files out (docs/reference/statistics.md)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from undolab.model.files import write_bytes
from undolab.model.verdict import RULES_VERSION
from undolab.stats.comparisons import (
    BcaRow,
    ClosureRow,
    SignFlipRow,
    SupportRow,
    bca_rows,
    closure_rows,
    sign_flip_rows,
    support_rows,
)
from undolab.stats.equivalence import EquivalenceRow, equivalence_rows
from undolab.stats.estimate import cell_rows, contrast_rows
from undolab.stats.load import join, read_verdicts
from undolab.stats.matrix import Matrix
from undolab.stats.metrics import COUNTS, METRICS
from undolab.stats.power import PowerRow, power_rows
from undolab.stats.repeats import PassRow, StabilityRow, pass_rows, stability_rows
from undolab.stats.rows import CellRow, ContrastRow, ContrastsFile, MetricsFile, Study
from undolab.stats.strata import StratumRow, stratum_rows
from undolab.stats.tally import Replicates, Tally
from undolab.stats.text import to_csv, to_json

_SCOPE = ["model", "framework", "prompt", "examples", "boundary", "method"]


def run(
    verdict_paths: Iterable[Path],
    matrix: Matrix,
    out_dir: Path,
    reversibility: Mapping[str, str] | None = None,
) -> list[Path]:
    """Compute everything and return the files written, in a fixed order.

    Args:
        verdict_paths: the verdicts of the study.
        matrix: the cells that it promises.
        out_dir: for the files.
        reversibility: workflow to its reversibility, for the strata; without it `strata.csv` has no row.

    Raises:
        UndolabError: a verdict file is unreadable, or the frozen matrix has a missing or invalid cell.
    """
    tally = Tally(join(read_verdicts(verdict_paths), matrix), matrix)
    replicates = Replicates(tally, matrix)
    cells = cell_rows(tally, replicates, matrix)
    contrasts = contrast_rows(tally, replicates, matrix)
    facts = msgspec.structs.asdict(matrix)
    study = Study(
        **{name: facts[name] for name in Study.__struct_fields__ if name in facts}, rules=RULES_VERSION
    )
    texts = {
        "metrics.json": to_json(MetricsFile(study=study, cells=cells)),
        "contrasts.json": to_json(ContrastsFile(contrasts=contrasts)),
        "metrics.csv": to_csv(_metric_table(cells)),
        "tasks.csv": to_csv(_task_table(cells)),
        "contrasts.csv": to_csv(_contrast_table(contrasts)),
        **_further(tally, replicates, matrix, reversibility or {}),
    }
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def _further(
    tally: Tally, replicates: Replicates, matrix: Matrix, reversibility: Mapping[str, str]
) -> dict[str, str]:
    """Return the files beyond metrics and planned contrasts; one with nothing to compare has its header alone."""
    tables: dict[str, tuple[type[msgspec.Struct], Sequence[msgspec.Struct]]] = {
        "bca.csv": (BcaRow, bca_rows(tally, replicates, matrix)),
        "equivalence.csv": (EquivalenceRow, equivalence_rows(tally, replicates, matrix)),
        "gap_closure.csv": (ClosureRow, closure_rows(tally, replicates, matrix)),
        "pass_k.csv": (PassRow, pass_rows(tally, replicates, matrix)),
        "power.csv": (PowerRow, power_rows(tally, matrix)),
        "sign_flip.csv": (SignFlipRow, sign_flip_rows(tally, matrix)),
        "stability.csv": (StabilityRow, stability_rows(tally, matrix)),
        "strata.csv": (StratumRow, stratum_rows(tally, replicates, matrix, reversibility)),
        "support.csv": (SupportRow, support_rows(tally, replicates, matrix)),
    }
    return {
        name: to_csv([kind.__struct_fields__, *(msgspec.structs.astuple(row) for row in rows)])
        for name, (kind, rows) in tables.items()
    }


def _metric_table(cells: Sequence[CellRow]) -> list[list[Any]]:
    sizes = ["N", "exposed", "D", "R", "F"]
    estimate = ["num", "den", "value", "lo", "hi", "dropped"]
    rows: list[list[Any]] = [[*_SCOPE, *sizes, "metric", *estimate]]
    for cell in cells:
        if cell.scope.task == "all":
            scope = [getattr(cell.scope, name) for name in _SCOPE] + [getattr(cell, name) for name in sizes]
            rows += [[*scope, name, *msgspec.structs.astuple(found)] for name, found in cell.metrics.items()]
    return rows


def _task_table(cells: Sequence[CellRow]) -> list[list[Any]]:
    header = [*_SCOPE, "task", *COUNTS, "crsr"]
    rows: list[list[Any]] = [header]
    for cell in cells:
        if cell.scope.task != "all":
            scope = [getattr(cell.scope, name) for name in [*_SCOPE, "task"]]
            rows.append([*scope, *_counts(cell).values(), cell.metrics["crsr"].value])
    return rows


def _counts(cell: CellRow) -> dict[str, int]:
    """Return the integer counts of a cell under the names of `COUNTS`."""
    found = {metric.num: cell.metrics[name].num for name, metric in METRICS.items()}
    return {name: found[name] if name in found else getattr(cell, name) for name in COUNTS}


def _contrast_table(contrasts: Sequence[ContrastRow]) -> list[list[Any]]:
    return [list(ContrastRow.__struct_fields__), *(list(msgspec.structs.astuple(row)) for row in contrasts)]
