"""Captions of tables and figures for Snakemake's report: the paper's own words, with the numbers of this build."""

import re
from collections.abc import Sequence
from pathlib import Path

from undolab.model.files import write_bytes
from undolab.report.captions import captions
from undolab.report.numbering import items
from undolab.stats.rows import read_metrics

_UNDO = {
    "figureU1": "Safety against recovery of every undo policy over all published histories, a point a policy.",
    "figureU2": "Damage to others' work and recovery, in percent, by policy and kind of effect.",
    "figureU3": "Where trust ends: what an agent may say, what the host fixes, and the one transaction behind them.",
    "figureU4": "Two stories with the same values at the end, in which two different things are right; played on the store.",
    "figureU5": "How long one recovery takes: the whole distribution, with its tail. From committed measurements.",
    "figureU6": "In how many tasks of a cell others lost work by a model's choice, by branch; a panel a model and prompt.",
    "tableU1": "The undo policies over all published histories.",
    "tableU2": "What models chose, and what came of it.",
    "tableU3": "Times of one recovery. From committed measurements.",
}
"""What the undo part shows. Its captions in the paper say more."""


def write(build: Path, names: Sequence[str]) -> list[Path]:
    """Write `captions/<name>.rst` into the build for each table and figure named, and return the files.

    Args:
        build: holds `stats/metrics.json`.
        names: stems of files, such as `table01`, `tablebehaviour` or `figureU2`.

    Raises:
        UndolabError: the statistics are missing.
    """
    texts = captions(read_metrics(build / "stats"))
    said = _UNDO | {item.name: texts[item.macro] for item in items()}
    written = []
    for name in names:
        path = build / "captions" / f"{name}.rst"
        text = said.get(name, "Its caption stands in the paper.")
        write_bytes(path, f"**{title(name)}.** {escaped(text)}\n".encode())
        written.append(path)
    return written


def title(name: str) -> str:
    """Return what a reader calls a file: `Table 1` of `table01`, `Figure U2` of `figureU2`, `Table behaviour`."""
    match = re.fullmatch(r"(table|figure)0*(\w+)", name)
    return f"{match[1].capitalize()} {match[2]}" if match else name


def escaped(text: str) -> str:
    """Return plain text as reStructuredText that says it: no mark-up of that language or of its templates acts."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", text).replace("{", "{{ '{' }}")
