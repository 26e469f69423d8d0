"""Figure 1: what stands between the agent and its world, and what is written down. Drawn here, box by box."""

from typing import TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.patheffects import withStroke

from undolab.report.style import GREY, MM

_Box: TypeAlias = tuple[float, float, float, float, str, str]
_INK = "#1F4E79"
_SOFT = "#EEF2F6"
_LOST = "#B03A2E"
_WIDTH, _HEIGHT = 84.0, 93.0
"""Size of the drawing, millimetres; also its units."""

_PARTS: dict[str, _Box] = {
    "agent": (1, 80, 33, 12, "Agent", "prompt, grammar, model"),
    "method": (1, 57, 33, 12, "Recovery method", "none, or B0 to B7"),
    "proxy": (1, 34, 33, 12, "Fault proxy", "schedule, injector"),
    "world": (50, 34, 33, 12, "World", "tools over one store"),
    "fold": (1, 1, 33, 12, "Fold, then judge", "forensic"),
    "live": (50, 1, 33, 12, "Judge", "live"),
}
_FILES: dict[str, _Box] = {
    "records": (50, 80, 33, 12, "Records", "raw model calls"),
    "fixture": (50, 57, 33, 12, "Workflow, fixture", "frozen before recording"),
    "wire": (1, 17.5, 33, 10, "Wire log", "one hash chain an arm"),
    "ledger": (50, 17.5, 33, 10, "Effect ledger", "and final state"),
}


def figure1() -> Figure:
    """Draw the architecture of the decoupled evaluation."""
    figure = Figure(figsize=(_WIDTH * MM, _HEIGHT * MM))
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, _WIDTH)
    ax.set_ylim(0, _HEIGHT)
    ax.axis("off")
    for box in _PARTS.values():
        _box(ax, *box, part=True)
    for box in _FILES.values():
        _box(ax, *box, part=False)
    for x, x_back, top, bottom, there, back in (
        (14, 21, 80, 69, "call", "reply"),
        (14, 21, 57, 46, "attempt", "outcome"),
    ):
        _arrow(ax, (x, top), (x, bottom))
        _arrow(ax, (x_back, bottom), (x_back, top))
        middle = (top + bottom) / 2
        ax.text(x - 1, middle, there, ha="right", va="center", fontsize=6, color=_INK)
        ax.text(x_back + 1, middle, back, ha="left", va="center", fontsize=6, color=_INK)
    _arrow(ax, (34, 42.5), (50, 42.5), over=True)
    _arrow(ax, (50, 37.5), (34, 37.5), over=True)
    ax.text(42, 43.2, "request", ha="center", va="bottom", fontsize=6, color=_INK)
    ax.text(42, 36.8, "answer", ha="center", va="top", fontsize=6, color=_INK)
    _arrow(ax, (34, 86), (50, 86), both=True)
    _arrow(ax, (66.5, 57), (66.5, 46))
    ax.text(67.5, 51.5, "rows", ha="left", va="center", fontsize=6, color=_INK)
    _arrow(ax, (17.5, 34), (17.5, 27.5))
    _arrow(ax, (66.5, 34), (66.5, 27.5))
    _arrow(ax, (17.5, 17.5), (17.5, 13))
    _arrow(ax, (66.5, 17.5), (66.5, 13))
    _arrow(ax, (50, 24.5), (34, 35.2), dashed=True)
    ax.text(42.6, 31.4, "witness", ha="left", va="bottom", fontsize=6, color=_LOST)
    # The forensic judge needs workflow and fixture, and nothing of the world: its path passes below all others.
    ax.plot([50, 37, 37], [59, 59, 10], color=GREY, linewidth=0.8, zorder=0.5)
    _arrow(ax, (37, 10), (34, 10))
    _arrow(ax, (34, 5), (50, 5), both=True)
    ax.text(42, 5.8, "must be equal", ha="center", va="bottom", fontsize=6, color=_INK)
    return figure


def _box(
    ax: Axes, x: float, y: float, width: float, height: float, name: str, words: str, *, part: bool
) -> None:
    style = "round,pad=0,rounding_size=1.5" if part else "square,pad=0"
    ax.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle=style, facecolor=_SOFT if part else "white", edgecolor=_INK if part else GREY,
            linewidth=0.8,
        )
    )  # fmt: skip
    middle = x + width / 2
    ax.text(
        middle,
        y + height / 2 + 0.4,
        name,
        ha="center",
        va="bottom",
        fontsize=7.5,
        fontweight="bold" if part else None,
    )
    ax.text(middle, y + height / 2 - 0.6, words, ha="center", va="top", fontsize=6, color=GREY)


def _arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], *, both: bool = False, dashed: bool = False,
    over: bool = False,
) -> None:  # fmt: skip
    arrow = FancyArrowPatch(
        start, end, arrowstyle="<|-|>" if both else "-|>", mutation_scale=6, shrinkA=0, shrinkB=0, linewidth=0.8,
        color=_LOST if dashed else _INK, linestyle="--" if dashed else "-",
    )  # fmt: skip
    if over:
        arrow.set_path_effects([withStroke(linewidth=2.6, foreground="white")])
    ax.add_patch(arrow)
