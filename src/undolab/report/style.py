"""One look for all figures, and bytes that depend on nothing but the data: no date, no user settings, no user's font."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from undolab.model.files import write_bytes

MM = 1 / 25.4
FULL = 174 * MM
"""Width of a figure over both columns, inches."""
COLUMN = 84 * MM
"""Width of a figure in one column, inches."""
GREY = "#595959"

_RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 7.5,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.5,
    "hatch.color": "#9a9a9a",
    "hatch.linewidth": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    # Compression would tie the bytes to the zlib that Python was built with; the paper's build compresses anyway.
    "pdf.compression": 0,
    "pdf.fonttype": 42,
    "svg.hashsalt": "undolab",
    "xtick.labelsize": 7,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
}


@contextmanager
def look() -> Iterator[None]:
    """Draw with matplotlib's own defaults and ours, whatever the user's settings say."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def colours(count: int) -> list[tuple[float, float, float]]:
    """Return colours that people with a colour-vision deficiency can tell apart."""
    return [(red, green, blue) for red, green, blue in sns.color_palette("colorblind", count)]


MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]


def save(figure: Figure, out_dir: Path, name: str) -> list[Path]:
    """Write `name`.pdf and `name`.png (300 dpi), without dates or versions, and return the paths."""
    FigureCanvasAgg(figure)
    pdf, png = io.BytesIO(), io.BytesIO()
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    figure.savefig(png, format="png", dpi=300, metadata={"Software": None})
    write_bytes(out_dir / f"{name}.pdf", pdf.getvalue())
    write_bytes(out_dir / f"{name}.png", png.getvalue())
    return [out_dir / f"{name}.pdf", out_dir / f"{name}.png"]
