"""`undolab trials conformance`, `sweep` and `methods`: what needs no model, for the agents are scripted."""

import argparse
from pathlib import Path

from undolab.cli.common import BUILD, MODELS, WORKFLOWS, Commands, read_config, read_tools
from undolab.model.canon import canonical
from undolab.model.files import write_bytes
from undolab.model.load import load_workflows
from undolab.models.config import load_all
from undolab.recovery.privileges import privileges_page
from undolab.trials.conformance import (
    applicability_csv,
    baselines_csv,
    cells_csv,
    classes_csv,
    compare,
    corpus,
    pairs_csv,
    prompts_csv,
)
from undolab.trials.expected import read_rules
from undolab.trials.sweep import sweep, sweep_csv


def add_scripted_actions(actions: Commands) -> None:
    """Add the actions of `undolab trials`."""
    conform = actions.add_parser(
        "conformance",
        help="run the scripted agents over every workflow, boundary and method; compare with the expected verdicts",
    )
    conform.add_argument("--out", type=Path, default=BUILD / "conformance" / "verdicts.jsonl")
    conform.set_defaults(run=conformance)

    budgets = actions.add_parser("sweep", help="attempt budgets and back-offs, as a table")
    budgets.add_argument("--out", type=Path, default=BUILD / "conformance" / "sweep.csv")
    budgets.set_defaults(run=_sweep)

    methods = actions.add_parser(
        "methods", help="maintainers: write the page of what each method may see and keep"
    )
    methods.add_argument("--out", type=Path, default=Path("docs/reference/privileges.md"))
    methods.set_defaults(run=_methods)


def conformance(arguments: argparse.Namespace) -> int:
    """Run the corpus, write its tables beside `arguments.out`, and compare; 1 where something is not as expected."""
    workflows, tools = load_workflows(WORKFLOWS), read_tools()
    verdicts, pairs = corpus(workflows, tools)
    write_bytes(arguments.out, b"".join(canonical(verdict) + b"\n" for verdict in verdicts))
    cells = compare(verdicts, workflows, tools, read_rules())
    write_bytes(arguments.out.parent / "cells.csv", cells_csv(cells))
    write_bytes(arguments.out.parent / "pairs.csv", pairs_csv(pairs))
    write_bytes(
        arguments.out.parent / "prompts.csv",
        prompts_csv(workflows, tools, read_config().studies().values(), load_all(MODELS)),
    )
    write_bytes(arguments.out.parent / "baselines.csv", baselines_csv(verdicts, workflows, tools))
    write_bytes(arguments.out.parent / "applicability.csv", applicability_csv(workflows, tools))
    write_bytes(arguments.out.parent / "classes.csv", classes_csv(workflows, tools))
    wrong = [cell for cell in cells if cell.expected != cell.found]
    for cell in wrong:
        print(
            f"{cell.workflow} {cell.boundary} {cell.method}: expected {cell.expected or 'nothing'}, found {cell.found}"
        )
    print(
        f"{sum(pair.equal for pair in pairs)}/{len(pairs)} pairs are equal up to the fault, or with the method on"
    )
    print(
        f"{len(verdicts)} verdicts of scripted agents; {len(cells) - len(wrong)}/{len(cells)} gold arms as expected"
    )
    unequal = [pair.arm for pair in pairs if not pair.equal]
    for arm in unequal:
        print(f"{arm}: is not its control but for what the method declares")
    return 1 if wrong or unequal else 0


def _sweep(arguments: argparse.Namespace) -> int:
    points = list(sweep(load_workflows(WORKFLOWS), read_tools()))
    write_bytes(arguments.out, sweep_csv(points))
    print(f"{len(points)} points over {points[0].arms} workflows written to {arguments.out}")
    return 0


def _methods(arguments: argparse.Namespace) -> int:
    write_bytes(arguments.out, privileges_page().encode())
    print(f"written to {arguments.out}")
    return 0
