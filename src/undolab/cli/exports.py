"""`undolab crate`, `metadata` and `captions`: the run, the data and the pictures, described for others' tools."""

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
    metadata = commands.add_parser("metadata", help="Croissant metadata of records, verdicts and statistics")
    metadata.add_argument("--build", type=Path, default=BUILD, help="folder of the build (default: build)")
    metadata.set_defaults(run=_metadata)
    captions = commands.add_parser("captions", help="captions of tables and figures for Snakemake's report")
    captions.add_argument(
        "names", nargs="+", metavar="NAME", help="tables and figures, as their files are called"
    )
    captions.add_argument("--build", type=Path, default=BUILD, help="folder of the build (default: build)")
    captions.set_defaults(run=_captions)


def _crate(arguments: argparse.Namespace) -> int:
    from undolab.release import crate, jobs

    rules = sorted(path.as_posix() for path in Path("workflow").rglob("*.smk"))
    sources = [*rules, "envs/artifact.lock", layout.MANIFEST]
    count = crate.write(_ROOT, arguments.out, jobs.of_run(_ROOT), sources, _epoch())
    print(f"{arguments.out}: a run of {count} files")
    return 0


def _metadata(arguments: argparse.Namespace) -> int:
    from undolab.release import croissant

    out = arguments.build / "metadata" / "croissant.json"
    print(f"{out}: {croissant.write(_ROOT, arguments.build, out, _epoch())} files")
    return 0


def _captions(arguments: argparse.Namespace) -> int:
    from undolab.report import exhibits

    exhibits.write(arguments.build, arguments.names)
    return 0


def _epoch() -> int:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", _EPOCH)
    if not epoch.isdigit():
        raise UndolabError(f"SOURCE_DATE_EPOCH is {epoch!r}; set it to a number of seconds, or unset it")
    return int(epoch)
