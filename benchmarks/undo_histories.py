"""Bounded histories of depth 8: rows per second with shared states, one core, against the plain walk at a lesser depth.

A row is one policy's recovery at the end of one history, judged by both oracles; the seven published policies are
counted, the three of ours are run as well. Printed: rows per second of both, how many times faster sharing is, and
seconds of the kernel over the same histories. Target: 250,000 rows per second. Run: `python benchmarks/undo_histories.py`.
"""

import time
from collections.abc import Callable

from _record import record

from undolab.undo.histories.conform import conform
from undolab.undo.histories.direct import direct
from undolab.undo.histories.grammar import histories
from undolab.undo.histories.merged import Graph
from undolab.undo.policies.resource import KINDS
from undolab.undo.policies.table import POLICIES, PUBLISHED

_DEPTH, _PLAIN, _TARGET, _ROUNDS = 8, 6, 250_000, 3


def _shared() -> int:
    collateral = 0
    for kind in KINDS:
        graph = Graph(kind, _DEPTH)
        for node, times in graph.tally(_DEPTH).items():
            collateral += times * sum(row.collateral for row in graph.rows[node][: len(PUBLISHED)])
    return collateral


def _plain() -> int:
    return sum(
        row.collateral for kind in KINDS for _, rows in direct(kind, _PLAIN) for row in rows[: len(PUBLISHED)]
    )


def _kernel() -> int:
    return sum(len(conform(kind, _PLAIN).wrong) for kind in KINDS)


def _best(work: Callable[[], int]) -> float:
    times = []
    for _ in range(_ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    shared = histories(_DEPTH) * len(PUBLISHED) / _best(_shared)
    plain = histories(_PLAIN) * len(PUBLISHED) / _best(_plain)
    kernel = histories(_PLAIN) / _best(_kernel)
    print(f"policies a history: {len(POLICIES)}, counted: {len(PUBLISHED)}")
    print(f"shared states, depth {_DEPTH}: {shared:12,.0f} rows/s ({shared / _TARGET:.1f} times the target)")
    print(
        f"plain walk,    depth {_PLAIN}: {plain:12,.0f} rows/s; sharing is {shared / plain:.0f} times faster"
    )
    print(f"kernel,        depth {_PLAIN}: {kernel:12,.0f} histories/s")
    record(
        "undo_histories",
        {
            "target_rows_per_s": _TARGET,
            "shared_depth": _DEPTH,
            "shared_rows_per_s": round(shared),
            "plain_depth": _PLAIN,
            "plain_rows_per_s": round(plain),
            "shared_to_plain": round(shared / plain, 1),
            "kernel_histories_per_s": round(kernel),
        },
    )


if __name__ == "__main__":
    main()
