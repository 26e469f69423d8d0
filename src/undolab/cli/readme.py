"""`undolab readme`: what the README says was checked and how long it takes, taken from files instead of typed."""

import argparse
import json
import math
import re
from collections import Counter
from pathlib import Path

from undolab.cli.common import BUILD, Commands
from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes

README = Path("README.md")
MEASURED = Path("data/measurements/paths.json")
_CLOSING = ("files checked, and they", "All files are as released:")
_ROW = re.compile(r"^\| [^|]*\| `([^`]+)` \|", re.MULTILINE)


def add_commands(commands: Commands) -> None:
    """Add the subcommand."""
    readme = commands.add_parser(
        "readme", help="maintainers: fill the README's table of checks and its minutes"
    )
    readme.add_argument(
        "--check", type=Path, default=BUILD / "check.txt", help="the table of `undolab check`"
    )
    readme.set_defaults(run=_readme)


def _readme(arguments: argparse.Namespace) -> int:
    if not arguments.check.is_file():
        raise UndolabError(f"{arguments.check} is missing; `snakemake all` writes it")
    text = filled(README.read_text(encoding="utf-8"), "checks", block(arguments.check.read_text("utf-8")))
    if MEASURED.is_file():
        text = filled(text, "minutes", minutes(between(text, "minutes"), measured(MEASURED)))
    write_bytes(README, text.encode())
    from undolab.cli import evaluation

    if evaluation.PAGE.is_file():
        evaluation.fill(Path())
    print(f"{README} is filled from {arguments.check}" + (f" and {MEASURED}" if MEASURED.is_file() else ""))
    return 0


def block(check: str) -> str:
    """Return the README's block: a line a folder, and the two sentences that end the table of checks.

    Raises:
        UndolabError: the text is no such table.
    """
    lines = check.splitlines()
    closing = [line for line in lines if any(words in line for words in _CLOSING)]
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines[1:]:
        cells = line.split()
        if len(cells) == 4 and "/" in cells[0]:
            counts[cells[0].rpartition("/")[0], cells[1]] += 1
    if len(closing) != len(_CLOSING) or not counts:
        raise UndolabError("this is no table of checks; `snakemake all` writes build/check.txt")
    width = max(len(folder) for folder, _ in counts)
    rows = [f"{folder:<{width}}  {count:>3} {status}" for (folder, status), count in sorted(counts.items())]
    return "\n".join(["```text", *rows, *closing, "```"]) + "\n"


def measured(path: Path) -> dict[str, float]:
    """Return command to seconds from a file of measurements, whose member `seconds` holds them.

    Raises:
        UndolabError: the file has no such member.
    """
    try:
        found = json.loads(path.read_bytes())["seconds"]
        return {str(command): float(seconds) for command, seconds in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UndolabError(
            f"{path} has no `seconds` of command to number ({error}); measure again"
        ) from error


def commands(table: str) -> list[str]:
    """Return the commands of the README's table, in its order."""
    return _ROW.findall(table)


def minutes(table: str, seconds: dict[str, float]) -> str:
    """Return the table with the minutes of each measured command in its first column, rounded up.

    Raises:
        UndolabError: no row has the command.
    """
    lost = sorted(seconds.keys() - set(commands(table)))
    if lost:
        raise UndolabError(
            f"{README} has no row for {', '.join(lost)}; name the command there as it was measured"
        )

    def row(match: re.Match[str]) -> str:
        command = match[1]
        if command not in seconds:
            return match[0]
        return f"| {max(1, math.ceil(seconds[command] / 60))} | `{command}` |"

    return _ROW.sub(row, table)


def between(text: str, name: str) -> str:
    """Return what stands between the markers of a block.

    Raises:
        UndolabError: the markers are not there.
    """
    return _parts(text, name)[1]


def filled(text: str, name: str, content: str) -> str:
    """Return the text with the block's content replaced.

    Raises:
        UndolabError: the markers are not there.
    """
    head, _, tail = _parts(text, name)
    return head + content + tail


def _parts(text: str, name: str) -> tuple[str, str, str]:
    match = re.fullmatch(rf"(.*<!-- {name}:begin[^\n]*-->\n)(.*?)(<!-- {name}:end -->.*)", text, re.DOTALL)
    if match is None:
        raise UndolabError(f"{README} has no markers {name}:begin and {name}:end; restore them")
    return match[1], match[2], match[3]
