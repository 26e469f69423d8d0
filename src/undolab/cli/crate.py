"""`undolab crate` and `undolab metadata`: the run and the data, described in the terms of others' tools."""

import argparse
import os
from pathlib import Path

from undolab.cli.common import BUILD, Commands
from undolab.model.errors import UndolabError
from undolab.release import layout

_ROOT = Path()
_EPOCH = "1767225600"


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    crate = commands.add_parser(
        "crate", help="the last run as a Provenance Run Crate (RO-Crate), after `snakemake all`"
    )
    crate.add_argument(
        "--out", type=Path, default=BUILD / "crate", help="folder, made anew (default: build/crate)"
    )
    crate.set_defaults(run=_crate)


def _crate(arguments: argparse.Namespace) -> int:
    from undolab.release import crate, jobs

    epoch = os.environ.get("SOURCE_DATE_EPOCH", _EPOCH)
    if not epoch.isdigit():
        raise UndolabError(f"SOURCE_DATE_EPOCH is {epoch!r}; set it to a number of seconds, or unset it")
    rules = sorted(path.as_posix() for path in Path("workflow").rglob("*.smk"))
    sources = [*rules, "envs/artifact.lock", layout.MANIFEST]
    count = crate.write(_ROOT, arguments.out, jobs.of_run(_ROOT), sources, int(epoch))
    print(f"{arguments.out}: a run of {count} files")
    return 0
