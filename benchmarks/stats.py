"""The statistics of the full study: reading 30,720 arms, and every interval with B = 10,000, against scipy and arch.

The study: 12 tasks, 2 models, 2 frameworks, 8 methods, 4 boundaries, 20 seeds; its verdicts are made up. Ours is the code of
the stage. `scipy.stats.bootstrap` with a vectorised statistic, and `arch.bootstrap` with its own loop of replicates, are
called once for each interval of the same table of cells and contrasts; each on an evenly spaced sample of it, and the time
of the sample is scaled to the table (SCIPY=all and ARCH=all call them for every interval: minutes and hours).
All three draw from the legacy generator with seed 42, so on the same draws their bounds must be equal; on another seed
they differ by Monte-Carlo error. One thread, and seconds of CPU time, so that other work does not count.
Run: `python benchmarks/stats.py`.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import random
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from _record import record
from scipy.stats import bootstrap

from undolab.model.calls import FinalReport
from undolab.model.canon import canonical
from undolab.model.fault import Exposure
from undolab.model.verdict import RULES_VERSION, FailureClass, Verdict
from undolab.model.wire import ArmId
from undolab.stats.comparisons import bca_rows, closure_rows, sign_flip_rows, support_rows
from undolab.stats.equivalence import equivalence_rows
from undolab.stats.estimate import cell_rows, compared, contrast_rows
from undolab.stats.load import join, read_verdicts
from undolab.stats.matrix import Matrix, matrix_from
from undolab.stats.metrics import FIELD, METRICS
from undolab.stats.power import power_rows
from undolab.stats.repeats import pass_rows, stability_rows
from undolab.stats.strata import stratum_rows
from undolab.stats.tally import Replicates, Tally

_METHODS = ["none", "B0", "B2", "B2-K", "B3", "B5", "B6", "B7"]
_BOUNDARIES = ["PRE_MUTATION", "DURING_MUTATION", "POST_MUTATION_PRE_ACK", "POST_ACK_PRE_CHECKPOINT"]
_TASKS = [f"RB-{name}-{number}" for name in ("DB", "GIT", "PAY") for number in range(4)]
_SCIPY = None if os.environ.get("SCIPY") == "all" else 200
_ARCH = None if os.environ.get("ARCH") == "all" else 10
_ZEROS = dict.fromkeys(
    "harmful_duplicates harmless_repeats replays second_commits missing orphans forbidden unsafe_resends".split(),
    0,
)


def _matrix() -> Matrix:
    pairs = [[b, a] for a, b in combinations(_METHODS, 2)]
    families = [
        {"name": f"{boundary}-{metric}", "boundary": boundary, "metric": metric, "contrasts": pairs}
        for boundary in _BOUNDARIES
        for metric in ("crsr", "eor", "der")
    ]
    study = {
        "split": "test", "models": ["m1", "m2"], "frameworks": ["F1", "F2"], "boundaries": _BOUNDARIES,
        "methods": _METHODS, "seeds": list(range(2001, 2021)), "prompt": "runbook", "examples": "plain",
    }  # fmt: skip
    stats = {"replicates": 10_000, "seed": 42, "families": families}
    return matrix_from({"study": study, "stats": stats}, _TASKS)


def _verdict(rng: random.Random, arm: ArmId, chance: float) -> Verdict:
    passed = rng.random() < chance
    return Verdict(
        arm=arm, rules=RULES_VERSION, exposure=Exposure.NO_FAULT if arm.arm == "control" else Exposure.WITNESSED,
        state=passed, effects=passed, order=True, passed=passed, physical=3, committed=2, report=FinalReport.DONE,
        truthful=passed, failure=FailureClass.NONE if passed else FailureClass.MISSING_EFFECT, turns=5,
        reads_after_fault=0, **(_ZEROS | {"harmful_duplicates": int(not passed)}),
    )  # fmt: skip


def _write(matrix: Matrix, folder: Path) -> list[Path]:
    rng = random.Random(1)
    for task in matrix.workflows:
        lines = []
        for model, framework, seed in product(matrix.models, matrix.frameworks, matrix.seeds):
            arms = [("control", "NONE", "none")]
            arms += [
                ("fault", boundary, method) for boundary, method in product(matrix.boundaries, matrix.methods)
            ]
            for kind, boundary, method in arms:
                arm = ArmId(
                    workflow=task, model=model, framework=framework, boundary=boundary, method=method, seed=seed,
                    arm=kind,
                )  # fmt: skip
                lines.append(
                    canonical(_verdict(rng, arm, 0.8 if kind == "control" else rng.choice((0.2, 0.9))))
                )
        (folder / f"{task}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return sorted(folder.glob("*.jsonl"))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


def _table(tally: Tally, matrix: Matrix) -> list[tuple[np.ndarray, ...]]:
    """Return the counts by task behind every interval: two columns for a metric, four for a contrast."""
    table: list[tuple[np.ndarray, ...]] = []
    for cell in tally.cells:
        counts = tally.counts(cell)
        table += [(counts[:, FIELD[m.num]], counts[:, FIELD[m.den]]) for m in METRICS.values()]
    for model, framework, family in product(matrix.models, matrix.frameworks, matrix.families):
        metric = METRICS[family.metric]
        for a, b in compared(family, model, framework, matrix):
            sides = tally.counts(a), tally.counts(b)
            table.append(tuple(side[:, FIELD[name]] for side in sides for name in (metric.num, metric.den)))
    return table


def _scipy(data: tuple[np.ndarray, ...], replicates: int) -> tuple[float, float]:
    def statistic(*columns: np.ndarray, axis: int) -> np.ndarray:
        sums = [column.sum(axis=axis) for column in columns]
        found = sums[0] / sums[1]
        return found if len(sums) == 2 else found - sums[2] / sums[3]

    interval = bootstrap(
        data, statistic, n_resamples=replicates, paired=True, vectorized=True, method="percentile",
        random_state=np.random.RandomState(42),
    ).confidence_interval  # fmt: skip
    return float(interval.low), float(interval.high)


def _arch(data: tuple[np.ndarray, ...], replicates: int) -> tuple[float, float]:
    from arch.bootstrap import IIDBootstrap

    def statistic(rows: np.ndarray) -> np.ndarray:
        sums = rows.sum(axis=0)
        found = sums[0] / sums[1]
        return np.array([found if len(sums) == 2 else found - sums[2] / sums[3]])

    boot = IIDBootstrap(np.column_stack(data), seed=np.random.RandomState(42))
    low, high = boot.conf_int(statistic, replicates, method="percentile")[:, 0]
    return float(low), float(high)


def _peer(
    name: str, call: Callable[..., tuple[float, float]], table: list[Any], ours: list[Any], sample: int | None,
    replicates: int,
) -> dict[str, Any]:  # fmt: skip
    picked = (
        list(range(len(table)))
        if sample is None
        else np.linspace(0, len(table) - 1, sample).astype(int).tolist()
    )
    found, seconds = _timed(lambda: [call(table[index], replicates) for index in picked])
    off = max(
        abs(a - b)
        for index, pair in zip(picked, found, strict=True)
        for a, b in zip(ours[index], pair, strict=True)
    )
    scaled = seconds * len(table) / len(picked)
    how = "measured" if len(picked) == len(table) else f"{len(picked)} of them took {seconds:.1f} s"
    print(f"{name}: {scaled:.1f} s ({how}); largest difference of a bound on the same draws {off:.1e}")
    return {
        f"{name}_s": round(scaled, 2),
        f"{name}_called": len(picked),
        f"{name}_difference": float(f"{off:.1e}"),
    }


def main() -> None:
    """Time reading, estimating and the further statistics, then the peers on the same table."""
    matrix = _matrix()
    with tempfile.TemporaryDirectory() as folder:
        paths = _write(matrix, Path(folder))
        verdicts, read_s = _timed(lambda: read_verdicts(paths))
    tally, join_s = _timed(lambda: Tally(join(verdicts, matrix), matrix))

    def estimate() -> tuple[Replicates, list[Any], list[Any]]:
        replicates = Replicates(tally, matrix)
        return replicates, cell_rows(tally, replicates, matrix), contrast_rows(tally, replicates, matrix)

    (replicates, cells, contrasts), estimate_s = _timed(estimate)
    strata = {
        task: ("REVERSIBLE", "IRREVERSIBLE", "COMPENSATABLE")[i % 3]
        for i, task in enumerate(matrix.workflows)
    }
    further = {
        "sign_flip": lambda: sign_flip_rows(tally, matrix),
        "support": lambda: support_rows(tally, replicates, matrix),
        "gap_closure": lambda: closure_rows(tally, replicates, matrix),
        "bca": lambda: bca_rows(tally, replicates, matrix),
        "equivalence": lambda: equivalence_rows(tally, replicates, matrix),
        "stability": lambda: stability_rows(tally, matrix),
        "pass_k": lambda: pass_rows(tally, replicates, matrix),
        "strata": lambda: stratum_rows(tally, replicates, matrix, strata),
        "power": lambda: power_rows(tally, matrix),
    }
    spent = {name: round(_timed(work)[1], 2) for name, work in further.items()}
    pooled = [row for row in cells if row.scope.task == "all"]
    ours = [(m.lo, m.hi) for row in pooled for m in row.metrics.values()] + [(c.lo, c.hi) for c in contrasts]
    print(f"{len(verdicts):,} arms: read in {read_s:.2f} s, joined and counted in {join_s:.2f} s")
    print(f"{len(ours):,} intervals and p-values, B = {matrix.replicates:,}: undolab {estimate_s:.2f} s")
    print("further statistics, seconds:", ", ".join(f"{name} {value}" for name, value in spent.items()))
    other = msgspec.structs.replace(matrix, bootstrap_seed=7)
    moved = cell_rows(tally, Replicates(tally, other), other)[: len(pooled)]
    noise = max(
        max(abs(m.lo - n.lo), abs(m.hi - n.hi))
        for row, again in zip(pooled, moved, strict=True)
        for m, n in zip(row.metrics.values(), again.metrics.values(), strict=True)
        if m.lo is not None and n.lo is not None
    )
    print(f"largest difference of a bound on the draws of another seed: {noise:.4f}")
    table = _table(tally, matrix)
    found: dict[str, Any] = _peer("scipy", _scipy, table, ours, _SCIPY, matrix.replicates)
    try:
        import arch  # noqa: F401
    except ImportError:
        print("arch is not installed: left out")
    else:
        found |= _peer("arch", _arch, table, ours, _ARCH, matrix.replicates)
    ratios = {
        f"{name}_ratio": round(found[f"{name}_s"] / estimate_s, 1)
        for name in ("scipy", "arch")
        if f"{name}_s" in found
    }
    print(
        ", ".join(
            f"{name.removesuffix('_ratio')} takes {value} times as long" for name, value in ratios.items()
        )
    )
    record(
        "stats",
        {
            "arms": len(verdicts),
            "intervals": len(ours),
            "resamples": matrix.replicates,
            "read_s": round(read_s, 2),
            "count_s": round(join_s, 2),
            "undolab_s": round(estimate_s, 2),
            "monte_carlo_difference": round(noise, 4),
            **{f"{name}_s": value for name, value in spent.items()},
            **found,
            **ratios,
        },
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
