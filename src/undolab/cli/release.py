"""`undolab verify`, `freeze`, `check`, `release`: what is covered, frozen, compared and released."""

import argparse
import os
import sys
from pathlib import Path

from undolab.cli.common import BUILD, MODELS, Commands
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.models.config import load_all
from undolab.models.sources import unreadable
from undolab.release import compare, freeze, layout, manifest
from undolab.release.release import release

_ROOT = Path()
_RECORDS = Path("data/records")


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    verify = commands.add_parser(
        "verify", help="compare every covered file with manifest.sha256, and decode every record"
    )
    verify.set_defaults(run=_verify)

    split = commands.add_parser(
        "split", help="compute build/splits/<split>.json and compare it with the freeze"
    )
    split.add_argument("split", choices=layout.SPLITS)
    split.set_defaults(run=_split)

    frozen = commands.add_parser("freeze", help="maintainers: write data/splits/<split>.json")
    frozen.add_argument("split", choices=layout.SPLITS)
    frozen.set_defaults(run=_freeze)

    check = commands.add_parser("check", help="compare build/ with the released files and print the table")
    check.add_argument("--out", type=Path, help="also write the table here")
    check.add_argument("--only", nargs="+", metavar="FILE", help="compare only these released files")
    check.set_defaults(run=_check)

    ship = commands.add_parser(
        "release", help="maintainers: copy build/ to the released places, rewrite the manifest"
    )
    ship.add_argument(
        "--remove", action="store_true", help="remove released files that the build no longer makes"
    )
    ship.set_defaults(run=_release)


def _verify(_: argparse.Namespace) -> int:
    found = manifest.verify(_ROOT)
    print(found.text())
    if found.exit_code:
        return found.exit_code
    problems = unreadable(load_all(MODELS), _RECORDS)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _split(arguments: argparse.Namespace) -> int:
    found = freeze.check(_ROOT, arguments.split)
    for line in (*found.broken, *found.notes):
        print(line)
    print(f"split {arguments.split}: {'the freeze is broken' if found.broken else 'as frozen'}")
    return found.exit_code


def _freeze(arguments: argparse.Namespace) -> int:
    state = freeze.freeze(_ROOT, arguments.split)
    print(f"frozen: {arguments.split}, {len(state.entries)} files, composite {state.composite}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    verified = manifest.verify(_ROOT)
    checks = compare.compare(_ROOT, BUILD)
    if arguments.only:
        checks = [check for check in checks if check.name in arguments.only]
    if os.environ.get("TEX") == "no":
        checks = [check for check in checks if check.name != layout.PAPER]
    text = compare.table(checks) + verified.text() + "\n"
    if os.environ.get("TEX") == "no":
        text += "The PDF was not built and not checked, because TEX=no.\n"
    code = compare.exit_code(checks) or verified.exit_code
    print(text, end="", file=sys.stderr if code else sys.stdout)
    if arguments.out and not code:
        write_bytes(arguments.out, text.encode())
    return code


def _release(arguments: argparse.Namespace) -> int:
    if os.environ.get("TEX") == "no":
        raise UndolabError(
            "TEX=no is set, so there is no PDF; unset it and build everything before releasing"
        )
    print(release(_ROOT, BUILD, remove=arguments.remove).text())
    return 0
