"""The hash chain of one arm's log: each line names the digest of the line before it."""

import hashlib
from collections.abc import Sequence

from undolab.model.canon import canonical
from undolab.model.wire import ArmStart, ReportEvent, WireLine

GENESIS = "0" * 32
"""What the first line names as the line before it."""


def line_digest(line: bytes) -> str:
    """Return the first 32 hex digits of the SHA-256 of a line without its newline."""
    return hashlib.sha256(line).hexdigest()[:32]


def chain_problems(lines: Sequence[WireLine]) -> list[str]:
    """Return what is wrong with the chain, one sentence a problem; an empty list if it is whole.

    A whole chain starts with a start line, ends with a report line, numbers its lines from 1 and links each to the one before.
    """
    problems = []
    if not lines or not isinstance(lines[0], ArmStart):
        problems.append("the log does not begin with a start line")
    if not lines or not isinstance(lines[-1], ReportEvent):
        problems.append("the log is cut: it does not end with a report line")
    before = GENESIS
    for number, line in enumerate(lines, start=1):
        if line.seq != number:
            problems.append(f"line {number} has sequence number {line.seq}")
        if line.prev != before:
            problems.append(f"line {number} does not follow from the line before it")
        before = line_digest(canonical(line))
    return problems
