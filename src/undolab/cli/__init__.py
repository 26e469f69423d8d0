"""The command `undolab`: one subcommand a stage; every stage is a function of files to files."""

from undolab.cli.main import main

__all__ = ["main"]
