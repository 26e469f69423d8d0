"""Every figure of the paper, each as vector PDF and as PNG."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.report import grids, house, rates
from undolab.report.across import splits
from undolab.report.evidence import repeats
from undolab.report.strata import by_evidence, of_study
from undolab.report.style import look, save
from undolab.report.view import read_view, side_views

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(
    build: Path, out_dir: Path, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]
) -> list[Path]:
    """Write every figure as .pdf and .png into `out_dir` and return the paths.

    Args:
        build: holds `stats`, `conformance/classes.csv` and, where there are side studies, `side/<name>/stats`.
        out_dir: folder of the figures.
        workflows: those of every split.
        tools: the catalogue.

    Raises:
        UndolabError: the statistics or the classes are missing.
    """
    view = read_view(build / "stats")
    kinds = by_evidence(of_study(view, workflows), tools, repeats(build))
    studies = splits(view, side_views(build), workflows)
    drawings: dict[str, Callable[[], Figure]] = {
        "figure1": house.figure1,
        "figure2": lambda: grids.figure2(view),
        "figure3": lambda: grids.figure3(view),
        "figure4": lambda: rates.figure4(view, kinds),
        "figure5": lambda: rates.figure5(view),
        "figure6": lambda: (
            rates.figure6(studies) if len(studies) > 1 else rates.nothing("only one split was run")
        ),
        "figureboundaries": lambda: rates.boundaries(view),
    }
    written = []
    for name, draw in drawings.items():
        with look():
            written += save(draw(), out_dir, name)
    return written
