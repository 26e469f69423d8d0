"""`undolab undo histories`: count every bounded history and write summary and tables under build/undo."""

import argparse
import json
from typing import Any

from undolab.cli.common import BUILD, Commands
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.undo.histories import agents
from undolab.undo.histories.ablation import ablation_csv
from undolab.undo.histories.grammar import DEPTH
from undolab.undo.histories.summary import summary
from undolab.undo.histories.tables import policies_csv, rows_csv
from undolab.undo.policies.table import POLICIES

FOLDER = BUILD / "undo"
_DEEPEST, _ROWS_DEEPEST = 8, 5


def add_histories(actions: Commands) -> None:
    """Add `histories` to the actions of `undolab undo`."""
    command = actions.add_parser("histories", help="every bounded history under every policy, by two oracles")
    command.add_argument(
        "--depth", type=int, default=DEPTH, help=f"longest word, 0 to {_DEEPEST} (default {DEPTH})"
    )
    command.add_argument("--json", action="store_true", help="print the summary as JSON")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    depth: int = arguments.depth
    if not 0 <= depth <= _DEEPEST:
        raise UndolabError(f"--depth {depth} is not between 0 and {_DEEPEST}; {DEPTH} is the published depth")
    found = summary(depth, agents.DEPTH)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    write_bytes(FOLDER / "histories-summary.json", text.encode())
    write_bytes(FOLDER / "histories-by-kind.csv", policies_csv(found))
    write_bytes(FOLDER / "ablation.csv", ablation_csv())
    table = FOLDER / "histories.csv"
    if depth <= _ROWS_DEEPEST:
        write_bytes(table, rows_csv(depth))
    else:  # hundreds of megabytes; nor may a table of another depth stand beside the summary
        table.unlink(missing_ok=True)
    print(text if arguments.json else _page(found), end="")
    return 1 if any(counts["wrong"] for counts in found["kernel"].values()) else 0


def _page(found: dict[str, Any]) -> str:
    lines = [
        f"{found['histories']:,} histories of up to {found['depth']} peer events; {found['rows']:,} published rows",
        "",
        f"{'policy':10} {'eligible':>9} {'recovered':>9} {'collateral':>10} {'visible':>9} {'provenance':>10}",
    ]
    for policy in POLICIES:
        counts = {**found["policies"][policy], **found["damage"][policy]}
        lines.append(
            f"{policy:10} {counts['eligible']:9,} {counts['recovered']:9,} {counts['collateral']:10,}"
            f" {counts['visible']:9,} {counts['provenance']:10,}"
        )
    wrong = sum(counts["wrong"] for counts in found["kernel"].values())
    lines += ["", f"kernel: {wrong} histories wrong", f"Written: {FOLDER}/histories-summary.json", ""]
    return "\n".join(lines)
