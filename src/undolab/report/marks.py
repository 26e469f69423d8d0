"""What the figures share: how a model and framework looks, points with intervals, axes of methods, legends."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from undolab.report.pool import pool
from undolab.report.style import MARKERS, colours
from undolab.report.view import View
from undolab.report.words import boundary
from undolab.stats.rows import Estimate

_SIZE = 3.4


class Look(NamedTuple):
    """Colour, shape, and whether the shape is filled."""

    colour: tuple[float, float, float]
    marker: str
    filled: bool = True

    @property
    def face(self) -> Any:
        """The colour inside the shape."""
        return self.colour if self.filled else "white"


class Line(NamedTuple):
    """One series of a figure: cells of single tasks, by method."""

    label: str
    view: View
    place: str
    scopes: list[tuple[str, str]]
    look: Look
    tasks: list[str] | None = None

    def estimate(self, method: str, metric: str) -> Estimate | None:
        """Return a metric of the series with a method, or None where there is no cell."""
        cells = self.view.task_cells(self.place, method, scopes=self.scopes, tasks=self.tasks)
        return pool(cells, metric, self.view.study) if cells else None


def looks(view: View) -> dict[tuple[str, str], Look]:
    """Return the look of each scope: colour by model, shape by framework, filled for the first framework only."""
    shades = colours(len(view.models))
    return {
        (model, framework): Look(
            shades[view.models.index(model)],
            MARKERS[view.frameworks.index(framework) % len(MARKERS)],
            view.frameworks.index(framework) == 0,
        )
        for model, framework in view.scopes
    }


def lines(view: View) -> list[Line]:
    """Return a series for each scope at the main boundary or, in a study of one scope, for each boundary."""
    if view.several:
        return scope_lines(view, view.main_place)
    shades = colours(len(view.places))
    return [
        Line(boundary(place), view, place, view.scopes, Look(shades[index], MARKERS[index % len(MARKERS)]))
        for index, place in enumerate(view.places)
    ]


def scope_lines(view: View, place: str) -> list[Line]:
    """Return a series for each scope at a boundary."""
    return [Line(", ".join(scope), view, place, [scope], look) for scope, look in looks(view).items()]


def model_lines(view: View, place: str, tasks: list[str] | None = None) -> list[Line]:
    """Return a series for each model at a boundary, frameworks together."""
    shades = colours(len(view.models))
    return [
        Line(
            model, view, place, [scope for scope in view.scopes if scope[0] == model],
            Look(shades[index], MARKERS[index % len(MARKERS)], index == 0), tasks,
        )
        for index, model in enumerate(view.models)
    ]  # fmt: skip


def points(ax: Axes, series: Sequence[Line], methods: Sequence[str], metric: str) -> None:
    """Draw a metric of each series over the methods, side by side, with its intervals."""
    step = min(0.2, 0.72 / len(series))
    for index, line in enumerate(series):
        found = [line.estimate(name, metric) for name in methods]
        place(ax, np.arange(len(methods)) + step * (index - (len(series) - 1) / 2), found, line)
    method_axis(ax, methods)


def place(ax: Axes, x: Any, found: Sequence[Estimate | None], line: Line) -> None:
    """Draw one series at given places; what is undefined draws nothing."""
    y, low, high = (
        np.array([None if one is None else getattr(one, name) for one in found], dtype=float)
        for name in ("value", "lo", "hi")
    )
    spread = [np.maximum(0, y - low), np.maximum(0, high - y)]
    ax.errorbar(
        x, y, yerr=spread, fmt=line.look.marker, markersize=_SIZE, markerfacecolor=line.look.face,
        markeredgewidth=0.8, capsize=1.2, capthick=0.7, elinewidth=0.8, color=line.look.colour, clip_on=False,
        zorder=3, label=line.label,
    )  # fmt: skip


def method_axis(ax: Axes, methods: Sequence[str]) -> None:
    """Give an axis its methods below and shares from 0 to 1 at its side."""
    ax.set_xticks(range(len(methods)), methods)
    ax.set_xlim(-0.6, len(methods) - 0.4)
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.grid(visible=True, axis="y")


def legend(figure: Figure, ax: Axes, columns: int = 2) -> None:
    """Put the legend of one axes below the figure."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=min(columns, len(labels)), columnspacing=1.2,
            handletextpad=0.4,
        )  # fmt: skip
