"""Captions of tables and figures for Snakemake's report: the paper's own words, with the numbers of this build."""

import re
from collections.abc import Sequence
from pathlib import Path

from undolab.model.files import write_bytes
from undolab.report.captions import captions
from undolab.stats.rows import read_metrics

_SPELLED = (
    "Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen Sixteen Seventeen"
    " Eighteen Nineteen Twenty"
).split()
_ITEM = re.compile(r"(table|figure)(?:0*(\d+)|(\w+))")


def write(build: Path, names: Sequence[str]) -> list[Path]:
    """Write `captions/<name>.rst` into the build for each table and figure named, and return the files.

    Args:
        build: holds `stats/metrics.json`.
        names: stems of files, such as `table01`, `tablebehaviour` or `figure2`.

    Raises:
        UndolabError: the statistics are missing.
    """
    texts = captions(read_metrics(build / "stats"))
    written = []
    for name in names:
        said = texts.get(macro(name), "Its caption stands in the paper.")
        path = build / "captions" / f"{name}.rst"
        write_bytes(path, f"**{title(name)}.** {escaped(said)}\n".encode())
        written.append(path)
    return written


def macro(name: str) -> str:
    """Return the name under which the paper knows the caption of a file: `TableOne` of `table01`."""
    match = _ITEM.fullmatch(name)
    if match is None:
        return ""
    kind, number, word = match.groups()
    return kind.capitalize() + (_SPELLED[int(number)] if number else word.capitalize())


def title(name: str) -> str:
    """Return what a reader calls a file: `Table 1` of `table01`, `Table behaviour` of `tablebehaviour`."""
    match = _ITEM.fullmatch(name)
    if match is None:
        return name
    kind, number, word = match.groups()
    return f"{kind.capitalize()} {int(number) if number else word}"


def escaped(text: str) -> str:
    """Return plain text as reStructuredText that says it: no mark-up of that language or of its templates acts."""
    marked = re.sub(r"([\\*`|_<>])", r"\\\1", text)
    return marked.replace("{", "&#123;").replace("&#123;", "{{ '{' }}")
