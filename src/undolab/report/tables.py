"""Every table that needs no wire log: from the statistics, the side studies, the workflows and the literature."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.report import across, by_method, by_task, inference, related, strata
from undolab.report.evidence import repeats
from undolab.report.sheet import write_sheets
from undolab.report.strata import of_study
from undolab.report.view import read_view, side_views


def write(
    build: Path, out_dir: Path, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], literature: Path
) -> list[Path]:
    """Write `table01` to `table09`, `table11` to `table14` and ours as .csv and .tex, and return the paths.

    Args:
        build: holds `stats`, `conformance/classes.csv` and, where there are side studies, `side/<name>/stats`.
        out_dir: folder of the tables.
        workflows: those of every split.
        tools: the catalogue.
        literature: `data/related.yaml`.

    Raises:
        UndolabError: a file is missing or has another shape.
    """
    view = read_view(build / "stats")
    sides = side_views(build)
    chosen = of_study(view, workflows)
    sheets = [
        *by_method.sheets(view),
        *by_task.sheets(view, chosen, tools),
        *strata.sheets(view, chosen, tools, repeats(build)),
        *across.sheets(view, sides, workflows),
        *inference.sheets(build / "stats"),
        related.sheet(literature),
    ]
    return write_sheets(sorted(sheets), out_dir)
