"""All cells and contrasts of the study with B = 10,000, against scipy.stats.bootstrap called once for each number.

Both draw whole tasks. Printed: seconds of each, and how many times faster ours is. Run: `python benchmarks/stats.py`.
"""

import time

import numpy as np
from _record import record
from numpy.typing import NDArray
from scipy.stats import bootstrap

from undolab.stats.intervals import draws, percentile_interval, ratios

_TASKS, _SEEDS, _CELLS, _METRICS, _CONTRASTS, _B = 12, 5, 8, 14, 48, 10_000


def _ours(num: NDArray[np.int64], den: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = draws(_TASKS, _B, 42)
    kept = [ratios(num[cell].T @ weights, den[cell].T @ weights) for cell in range(_CELLS)]
    rows = [percentile_interval(row)[:2] for cell in kept for row in cell]
    for a, b, metric in _planned():
        rows.append(percentile_interval(kept[a][metric] - kept[b][metric])[:2])
    return np.array(rows, dtype=float)


def _scipy(num: NDArray[np.int64], den: NDArray[np.int64]) -> NDArray[np.float64]:
    def interval(data: tuple[NDArray[np.int64], ...], statistic: object) -> tuple[float, float]:
        found = bootstrap(
            data, statistic, n_resamples=_B, paired=True, vectorized=True, method="percentile",
            random_state=np.random.RandomState(42),
        ).confidence_interval  # fmt: skip
        return float(found.low), float(found.high)

    def one(a: NDArray[np.int64], b: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        return a.sum(axis=axis) / b.sum(axis=axis)

    def two(*data: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        a, b, c, d = (part.sum(axis=axis) for part in data)
        return a / b - c / d

    rows = [
        interval((num[cell, :, metric], den[cell, :, metric]), one)
        for cell in range(_CELLS)
        for metric in range(_METRICS)
    ]
    for a, b, metric in _planned():
        data = (num[a, :, metric], den[a, :, metric], num[b, :, metric], den[b, :, metric])
        rows.append(interval(data, two))
    return np.array(rows)


def _planned() -> list[tuple[int, int, int]]:
    rng = np.random.RandomState(1)
    return [
        (*rng.choice(_CELLS, 2, replace=False).tolist(), int(rng.randint(_METRICS)))
        for _ in range(_CONTRASTS)
    ]


def main() -> None:
    """Time both on the same counts and print the ratio."""
    rng = np.random.RandomState(0)
    den = rng.randint(1, _SEEDS + 1, size=(_CELLS, _TASKS, _METRICS))
    num = rng.binomial(den, 0.5)
    begin = time.perf_counter()
    ours = _ours(num, den)
    middle = time.perf_counter()
    theirs = _scipy(num, den)
    end = time.perf_counter()
    mine, theirs_s = middle - begin, end - middle
    numbers = _CELLS * _METRICS + _CONTRASTS
    print(f"{numbers} intervals, B = {_B:,}, {_TASKS} tasks")
    print(f"undolab: {mine:.3f} s; scipy.stats.bootstrap: {theirs_s:.3f} s")
    print(f"ratio {theirs_s / mine:.1f}; largest difference of a bound {np.abs(ours - theirs).max():.4f}")
    record(
        "stats",
        {
            "intervals": numbers,
            "resamples": _B,
            "undolab_s": round(mine, 3),
            "scipy_s": round(theirs_s, 3),
            "ratio": round(theirs_s / mine, 1),
        },
    )


if __name__ == "__main__":
    main()
