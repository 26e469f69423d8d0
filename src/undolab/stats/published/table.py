"""The table of published figures: each beside our recomputation, the difference, and the corrected figure."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.stats.text import fixed, to_csv

_SCALE = {"percent": 100, "pp": 100}
_HALF = 0.5
_SLACK = 1e-9
UNDEFINED = "undefined"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One published figure and what became of it. Ratios stand in the published unit: percent times 100."""

    id: str
    study: str
    section: str
    scope: str
    metric: str
    stat: str
    unit: str
    mark: str
    published: str
    """As printed."""
    recomputed: str
    """Six decimals; empty where the published data do not give it."""
    basis: str
    """What it was recomputed from: `counts` by task, `arithmetic` on published totals, `histories`, or empty."""
    difference: str
    """Recomputed minus published."""
    agrees: Literal["yes", "no", ""]
    """Whether the recomputed figure rounds to the published one."""
    defect: str
    """The known defect that changes it."""
    corrected: str
    """The figure without the defect; `undefined` where nothing is left to measure."""
    note: str


def figure(
    row: Mapping[str, str], value: float | None, basis: str, corrected: float | str | None = None
) -> Figure:
    """Return a figure.

    Args:
        row: id, study, section, scope, metric, stat, unit, mark, published and maybe defect and note.
        value: recomputed, as a ratio or in the figure's own unit.
        basis: what from.
        corrected: the same without the defect.
    """
    scale = _SCALE.get(row["unit"], 1)
    published = float(row["published"])
    decimals = len(row["published"].partition(".")[2])
    off = None if value is None else value * scale - published
    agrees: Literal["yes", "no", ""] = ""
    if off is not None:
        agrees = "yes" if abs(off) <= _HALF * 10**-decimals + _SLACK else "no"
    names = ("id", "study", "section", "scope", "metric", "stat", "unit", "mark", "published")
    return Figure(
        **{name: row[name] for name in names},
        recomputed="" if value is None else fixed(value * scale),
        basis="" if value is None else basis,
        difference="" if off is None else fixed(off),
        agrees=agrees,
        defect=row.get("defect", ""),
        corrected=fixed(corrected * scale) if isinstance(corrected, float) else corrected or "",
        note=row.get("note", ""),
    )


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file with a header.

    Raises:
        UndolabError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UndolabError(f"{path} cannot be read ({error}); restore it from the repository.") from error


def to_rows(figures: Sequence[Figure]) -> str:
    """Return figures as CSV."""
    return to_csv([Figure.__struct_fields__, *(msgspec.structs.astuple(found) for found in figures)])


def write(data: Path, undo: Path, out_dir: Path) -> dict[str, list[Figure]]:
    """Recompute every figure under `data`, write a CSV file for each system, and return the figures.

    Args:
        data: `data/published`.
        undo: our own `histories.csv` and `ablation.csv`.
        out_dir: for `undobench.csv` and `undoscope.csv`.
    """
    from undolab.stats.published import undobench, undoscope

    found = {
        "undobench": undobench.figures(data / "undobench"),
        "undoscope": undoscope.figures(data / "undoscope", undo),
    }
    for name, figures in found.items():
        write_bytes(out_dir / f"{name}.csv", to_rows(figures).encode())
    return found
