"""The two CSV files of the histories: every row of a short grammar, and one line a policy with columns for each kind."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from undolab.undo.histories.grammar import words
from undolab.undo.histories.merged import Graph
from undolab.undo.histories.score import Row
from undolab.undo.histories.summary import PUBLISHED_COUNTS
from undolab.undo.policies.resource import KINDS
from undolab.undo.policies.table import POLICIES, PUBLISHED

HEADER = (
    "case", "kind", "history", "policy", "eligible", "collateral", "recovered", "changed", "status",
    "outcome", "visible", "provenance", "replay_outcome", "replay_visible", "replay_provenance",
)  # fmt: skip


def rows(depth: int) -> Iterator[tuple[int, str, str, str, Row]]:
    """Yield (case, kind, history, policy, row) for the published policies, kind by kind, in the order of the words."""
    case = 0
    for kind in KINDS:
        graph = Graph(kind, depth)
        nodes = (node for level in graph.nodes(depth) for node in level)
        for word, node in zip(words(depth), nodes, strict=True):
            for policy, row in zip(PUBLISHED, graph.rows[node], strict=False):
                yield case, kind, word, policy, row
            case += 1


def rows_csv(depth: int) -> bytes:
    """Return every row as CSV: the nine published columns, then ours."""
    return _csv(
        HEADER,
        (
            (case, kind, word, policy, *row[:5], row.outcome, *row.damage, row.replay_outcome, *row.replay_damage)
            for case, kind, word, policy, row in rows(depth)
        ),
    )  # fmt: skip


def policies_csv(found: dict[str, Any]) -> bytes:
    """Return one line a policy from a summary: its totals, then the same counts for each kind."""
    header = ["policy", *PUBLISHED_COUNTS, *(f"{kind}_{name}" for kind in KINDS for name in PUBLISHED_COUNTS)]
    lines = []
    for policy in POLICIES:
        kinds = found["by_kind"] if policy in PUBLISHED else found["by_kind_ours"]
        line = [policy, *(found["policies"][policy][name] for name in PUBLISHED_COUNTS)]
        lines.append(line + [kinds[kind][policy][name] for kind in KINDS for name in PUBLISHED_COUNTS])
    return _csv(header, lines)


def _csv(header: Iterable[object], lines: Iterable[Iterable[object]]) -> bytes:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(header)
    table.writerows(lines)
    return out.getvalue().encode()
