"""`undolab claims`: every claim of README and paper held against released files and the build, and every typed number traced."""

import argparse
import sys
from io import StringIO
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from undolab.cli import evaluation
from undolab.cli.common import BUILD, Commands
from undolab.release import claims, manifest, numbers
from undolab.release.files import write_if_changed

_ROOT = Path()


def add_commands(commands: Commands) -> None:
    """Add the subcommand."""
    audit = commands.add_parser(
        "claims",
        help="hold every claim and every typed number against the released files, and against build/ if it is there",
    )
    audit.add_argument("--build", type=Path, default=BUILD, help="folder of the build (default: build)")
    audit.add_argument("--json", action="store_true", help="print the findings as JSON")
    audit.add_argument(
        "--write",
        action="store_true",
        help=f"maintainers: write values and minutes in {claims.CLAIMS} anew, then check",
    )
    audit.set_defaults(run=_claims)


def _claims(arguments: argparse.Namespace) -> int:
    covered = manifest.read(_ROOT)
    if arguments.write:
        data = claims.refreshed(_ROOT, covered, lambda name: _ROOT / name)
        new = write_if_changed(_ROOT / claims.CLAIMS, data)
        new |= evaluation.fill(_ROOT)
        say = f"{claims.CLAIMS} and {evaluation.PAGE}: {'written' if new else 'nothing to write'}"
        print(say, file=sys.stderr if arguments.json else sys.stdout)
    checked = claims.check(_ROOT, arguments.build)
    traced = numbers.audit(_ROOT, lambda name: _ROOT / name, covered)
    filled = evaluation.unfilled(_ROOT, covered)
    problems = (
        [f"{one.id}: {problem}" for one in checked for problem in one.problems] + traced.problems + filled
    )
    if arguments.json:
        found = {"claims": checked, "numbers": traced, "blocks": filled, "ok": not problems}
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        print(table(checked), end="")
        for name, count in traced.numbers.items():
            if count:
                print(f"{name}: {count} typed numbers")
    for problem in problems:
        print(problem, file=sys.stderr)
    say = (
        f"{sum(one.ok for one in checked)} of {len(checked)} claims stand; {len(traced.problems)} typed numbers and "
        f"{len(filled)} filled blocks are in doubt."
    )
    print(say, file=sys.stderr if problems or arguments.json else sys.stdout)
    return 1 if problems else 0


def table(checked: list[claims.Checked], *, width: int = 150) -> str:
    """Return the claims as a table of text, one a line."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("claim", "rule", "file", "says", "released", "rebuilt", "minutes", ""):
        grid.add_column(title, no_wrap=True, overflow="ellipsis")
    for one in checked:
        grid.add_row(
            one.id, one.rule, one.file, shown(one.value, one.tolerance), shown(one.found), shown(one.built),
            shown(one.minutes), "stands" if one.ok else "FAILS",
        )  # fmt: skip
    console = Console(file=StringIO(), width=width, no_color=True, highlight=False)
    console.print(grid)
    text = console.file.getvalue() if isinstance(console.file, StringIO) else ""
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def shown(value: object, tolerance: float = 0) -> str:
    """Return a value as it is printed; a dash for none."""
    if value is None:
        return "-"
    return f"{value} ± {tolerance:g}" if tolerance else str(value)
