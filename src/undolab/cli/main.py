"""Parsing the command line, and turning what a person must mend into one sentence and exit code 2."""

import argparse
import sys
from collections.abc import Sequence

from undolab.cli import (
    claims,
    exports,
    models,
    readme,
    reconstruct,
    records,
    release,
    report,
    trials,
    undo,
    validate,
    wire,
    workflows,
)
from undolab.model.errors import UndolabError

_DESCRIPTION = """When a tool call's outcome is lost, does the agent's world end up exactly right?
Run from the root of the repository."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of every subcommand."""
    top = argparse.ArgumentParser(
        prog="undolab", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for room in (
        release,
        workflows,
        trials,
        reconstruct,
        validate,
        wire,
        undo,
        records,
        models,
        report,
        claims,
        exports,
        readme,
    ):
        room.add_commands(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; return its exit code: 0 fine, 1 a check failed, 2 something must be mended first."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except UndolabError as error:
        print(f"undolab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("undolab: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:
        where = error.filename2 or error.filename or "a file"
        print(f"undolab: {where}: {error.strerror}; name another place or mend this one", file=sys.stderr)
        return 2
    return code
