"""Table 12: related work by eight named dimensions, each cell with its source, from `data/related.yaml`."""

from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.load import read_yaml
from undolab.report.sheet import DASH, Sheet
from undolab.report.tex import escape, tabular


class Answer(StrEnum):
    """Whether a system has what a dimension names."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNSTATED = "unstated"
    """The source does not say, or we have read too little of it."""


class Dimension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One dimension."""

    id: str
    title: str
    """Head of its column."""
    asks: str
    """The question that the cells answer."""


class Cell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer."""

    answer: Answer
    because: str = ""
    """What the source says; needed unless the answer is `unstated`."""


class System(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One piece of related work."""

    id: str
    name: str
    cite: str = ""
    """Its key in `paper/references.bib`; empty for our own."""
    source: str
    """What was read: paper, page, repository or file."""
    read: str
    """How much of it: `abstract`, `paper`, `repository`, `notes`, `own`."""
    cells: dict[str, Cell]
    """Dimension id to answer."""


class Literature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`data/related.yaml`."""

    dimensions: list[Dimension]
    systems: list[System]


def read_literature(path: Path) -> Literature:
    """Return the literature, checked.

    Raises:
        UndolabError: the file is missing, has another shape, or leaves a cell open or without a reason.
    """
    if not path.is_file():
        raise UndolabError(f"{path} is missing; restore it from the repository")
    try:
        found = msgspec.convert(read_yaml(path), Literature)
    except msgspec.ValidationError as error:
        raise UndolabError(f"{path}: {error}; mend that entry") from error
    wanted = [dimension.id for dimension in found.dimensions]
    problems = []
    for system in found.systems:
        problems += [f"{system.id} has no cell {name}" for name in wanted if name not in system.cells]
        problems += [
            f"{system.id} has a cell {name}, which is no dimension"
            for name in system.cells
            if name not in wanted
        ]
        problems += [
            f"{system.id}/{name} has an answer and no reason"
            for name, cell in system.cells.items()
            if cell.answer is not Answer.UNSTATED and not cell.because
        ]
    if problems:
        raise UndolabError(f"{path}: {'; '.join(problems)}; mend these entries")
    return found


def sheet(path: Path) -> Sheet:
    """Return Table 12 from the file at `path`."""
    found = read_literature(path)
    wanted = [dimension.id for dimension in found.dimensions]
    rows: list[list[Any]] = [["system", "cite", "source", "read", *wanted]]
    lines = []
    for one in found.systems:
        answers = [one.cells[name].answer for name in wanted]
        rows.append([one.name, one.cite, one.source, one.read, *answers])
        name = escape(one.name) + (rf"~\citep{{{one.cite}}}" if one.cite else "")
        lines.append([name, *(DASH if answer is Answer.UNSTATED else answer for answer in answers)])
    titles = [rf"\shortstack{{{_stacked(dimension.title)}}}" for dimension in found.dimensions]
    tex = tabular("l" + "c" * len(wanted), [["System", *titles]], [lines[:-1], lines[-1:]])
    return Sheet("table12", rows, tex)


def _stacked(title: str) -> str:
    """Return a title with a line for each word, so that its column stays narrow."""
    return r"\\".join(escape(word) for word in title.split())
