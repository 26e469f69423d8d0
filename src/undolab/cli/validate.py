"""`undolab validate`: the cases whose verdict is known beforehand, and the mutants of the judge that they must catch."""

import argparse
import csv
import io
from pathlib import Path

from undolab.cli.common import BUILD, WORKFLOWS, Commands, read_tools, read_workflow
from undolab.model.files import write_bytes
from undolab.model.load import load_workflows
from undolab.trials.validity import Mutant, cases_csv, mutants, run_cases, summary


def add_commands(commands: Commands) -> None:
    """Add the subcommand."""
    validate = commands.add_parser(
        "validate",
        help="run the validity suite: cases with a known verdict, and mutants of the judge",
        description="Judge right and wrong runs of every workflow at every boundary, then drop each clause of the judge in turn.",
    )
    validate.add_argument(
        "--workflow", action="append", metavar="ID", help="only this workflow (may be repeated)"
    )
    validate.add_argument(
        "--out", type=Path, help="folder for the tables (default: build/validity, and none with --workflow)"
    )
    validate.set_defaults(run=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    names = arguments.workflow
    workflows = [read_workflow(name) for name in names] if names else load_workflows(WORKFLOWS)
    cases = list(run_cases(workflows, read_tools()))
    rows = [
        (case.workflow.id, case.boundary, case.kind, case.asks, case.expected, case.found()) for case in cases
    ]
    out = arguments.out or (None if names else BUILD / "validity")
    if out is not None:
        write_bytes(out / "cases.csv", cases_csv(rows))
    for line in summary(rows):
        print(line)
    wrong = [row for row in rows if row[4] != row[5]]
    for row in wrong:
        print(f"{row[0]} {row[1]}, {row[2]}: {row[3]} must be {row[4]}, the judge says {row[5]}")
    print(f"{len(rows) - len(wrong)}/{len(rows)} cases as expected")
    if wrong:
        return 1
    if names:
        print("mutants of the judge are tried on all workflows together: leave --workflow out")
        return 0
    found = list(mutants(cases))
    if out is not None:
        write_bytes(out / "mutants.csv", _table(found))
    caught = sum(mutant.caught_by > 0 for mutant in found)
    for mutant in found:
        if not mutant.caught_by:
            print(f"not caught: a judge without the clause: {mutant.clause}")
    print(f"{caught}/{len(found)} mutants of the judge caught")
    return 0 if caught == len(found) else 1


def _table(found: list[Mutant]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("clause dropped", "cases that show it", "first of them"))
    writer.writerows((one.clause, one.caught_by, one.example) for one in found)
    return text.getvalue().encode()
