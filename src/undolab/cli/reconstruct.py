"""`undolab reconstruct`: judge again from the wire alone."""

import argparse
from pathlib import Path

from undolab.cli.common import WORKFLOWS, Commands, read_tools
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.model.load import load_workflows
from undolab.model.verdict import Verdict
from undolab.trials.forensic import head_problems, reconstruct_shard


def add_commands(commands: Commands) -> None:
    """Add the subcommand."""
    again = commands.add_parser(
        "reconstruct",
        help="judge again from wire logs and fixtures alone",
        description="Recompute commits, duplicates, losses and verdicts from wire logs and fixtures alone.",
    )
    again.add_argument("log", nargs="+", type=Path, help="shards: .jsonl.zst or .jsonl")
    again.add_argument("--verdicts", type=Path, help="write the verdicts into this folder, one file a shard")
    again.add_argument(
        "--against", type=Path, metavar="BUILD", help="build whose live verdicts and ledgers must agree"
    )
    again.add_argument("--heads", type=Path, help="index of chain heads that the logs must agree with")
    again.set_defaults(run=_reconstruct)


def _reconstruct(arguments: argparse.Namespace) -> int:
    workflows = {workflow.id: workflow for workflow in load_workflows(WORKFLOWS)}
    tools = read_tools()
    failed = 0
    for log in arguments.log:
        if not log.is_file():
            raise UndolabError(f"{log} is not a file; name wire logs such as build/wire/RB-DB-005.jsonl.zst")
        name = log.name.split(".")[0]
        live, ledger = (
            (
                arguments.against / "trials" / f"{name}.jsonl.zst",
                arguments.against / "ledger" / f"{name}.jsonl.zst",
            )
            if arguments.against
            else (None, None)
        )
        verdicts, problems = reconstruct_shard(log, workflows, tools, live, ledger)
        if arguments.heads is not None:
            problems += head_problems(log, arguments.heads)
        for problem in problems:
            print(problem)
        failed += bool(problems)
        print(_summary(log, verdicts, len(problems)))
        if arguments.verdicts and not problems:
            data = b"".join(canonical(verdict) + b"\n" for verdict in verdicts)
            write_bytes(arguments.verdicts / f"{name}.jsonl", data)
    return 1 if failed else 0


def _summary(log: Path, verdicts: list[Verdict], problems: int) -> str:
    faults = [verdict for verdict in verdicts if verdict.arm.arm == "fault"]
    exactly = sum(verdict.effects for verdict in faults)
    duplicates = sum(verdict.harmful_duplicates > 0 for verdict in faults)
    lost = sum(verdict.missing > 0 for verdict in faults)
    commits = sum(verdict.committed for verdict in verdicts)
    eor = f"EOR {exactly}/{len(faults)}" if faults else "EOR undefined (no fault arm)"
    return (
        f"{log.name}: {len(verdicts)} arms, {commits} commits, {duplicates} arms with harmful duplicates, "
        f"{lost} with losses, {eor}, {problems} problems"
    )
