"""Figures 2 and 3: every task, as a point of competence against recovery, and as a row of a heat map."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from undolab.report.marks import Look, looks
from undolab.report.pool import pool
from undolab.report.style import COLUMN, GREY, MM
from undolab.report.view import View
from undolab.report.words import boundary, method
from undolab.stats.rows import CellRow

_DARK = 0.4
"""Below this value the colour map is dark, and letters on it are white."""
_ACROSS = 3
_EMPTY = "#efefef"


def figure2(view: View) -> Figure:
    """Draw the share of controls passed against CRSR, a panel a method; tasks small, pooled values as diamonds."""
    where = view.main_place
    methods = view.methods(where)
    across = min(_ACROSS, len(methods))
    down = -(-len(methods) // across)
    figure = Figure(figsize=(COLUMN, (16 + 29 * down) * MM))
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, name in zip(axes, methods, strict=False):
        ax.plot([0, 1], [0, 1], color="#bdbdbd", linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        for scope, look in looks(view).items():
            _competence(ax, view.task_cells(where, name, scopes=[scope]), look, view)
        ax.set_title(method(name))
        ax.set_xlim(-0.08, 1.1)
        ax.set_ylim(-0.1, 1.12)
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.tick_params(axis="x", labelbottom=True)
        ax.grid(visible=True)
    for ax in axes[len(methods) :]:
        ax.axis("off")
    figure.supxlabel("Share of controls passed (of N)", fontsize=7)
    figure.supylabel("CRSR (of D)", fontsize=7)
    if view.several:
        figure.legend(handles=[_handle(", ".join(scope), look) for scope, look in looks(view).items()],
                      loc="outside upper center", ncols=2, columnspacing=1.2, handletextpad=0.2)  # fmt: skip
    return figure


def _handle(label: str, look: Look) -> Line2D:
    return Line2D(
        [], [], linestyle="", marker=look.marker, color=look.colour, markerfacecolor=look.face, markersize=4,
        label=label,
    )  # fmt: skip


def _competence(ax: Axes, cells: Sequence[CellRow], look: Look, view: View) -> None:
    values = [(cell.metrics["control"].value, cell.metrics["crsr"].value) for cell in cells]
    spots = Counter((x, y) for x, y in values if x is not None and y is not None)
    for (x, y), count in sorted(spots.items()):
        ax.scatter(
            [x], [y], s=5 + 9 * count, marker=look.marker, facecolors=[look.colour] if look.filled else "none",
            edgecolors=[look.colour], alpha=0.45 if look.filled else 0.9, linewidths=0.7, zorder=2, clip_on=False,
        )  # fmt: skip
    control, crsr = (pool(cells, metric, view.study) for metric in ("control", "crsr"))
    if control.value is None or crsr.value is None:
        return
    low, high = ([getattr(one, side) for one in (control, crsr)] for side in ("lo", "hi"))
    ax.plot([low[0], high[0]], [crsr.value] * 2, color=look.colour, linewidth=0.9, zorder=3)
    ax.plot([control.value] * 2, [low[1], high[1]], color=look.colour, linewidth=0.9, zorder=3)
    ax.plot(
        [control.value], [crsr.value], marker="D", markersize=3.6, color=look.colour if look.filled else "white",
        markeredgecolor="black" if look.filled else look.colour, markeredgewidth=0.7, zorder=5,
    )  # fmt: skip


def figure3(view: View) -> Figure:
    """Draw CRSR by task and method, a panel a scope or, in a study of one scope, a boundary."""
    if view.several:
        panels = [(*scope, view.main_place, ", ".join(scope)) for scope in view.scopes]
    else:
        panels = [(*view.scopes[0], place, boundary(place)) for place in view.places]
    tasks = view.tasks()
    row = 3.1 if len(panels) * len(tasks) <= 50 else 2.7
    figure = Figure(figsize=(COLUMN, (16 + (row * len(tasks) + 8) * len(panels)) * MM))
    axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    undefined = False
    for ax, (model, framework, where, title) in zip(axes, panels, strict=True):
        methods = view.methods(where)
        cells = [[view.cell(model, framework, where, name, task) for name in methods] for task in tasks]
        undefined |= _heat(ax, cells, tasks, methods)
        ax.set_title(title)
    shades = figure.colorbar(
        axes[0].collections[0],
        ax=list(axes),
        location="bottom",
        fraction=0.03,
        pad=0.02,
        aspect=30,
        shrink=0.8,
    )
    shades.set_label("CRSR, percent of D")
    shades.set_ticks([0, 0.5, 1], labels=["0", "50", "100"])
    shades.outline.set_visible(False)
    if undefined:
        patch = Patch(facecolor=_EMPTY, edgecolor="#9a9a9a", hatch="////", label="undefined: D = 0")
        figure.legend(handles=[patch], loc="outside upper right", handlelength=2.2)
    return figure


def _heat(
    ax: Axes, cells: Sequence[Sequence[CellRow | None]], tasks: Sequence[str], methods: Sequence[str]
) -> bool:
    found = [[None if cell is None else cell.metrics["crsr"].value for cell in row] for row in cells]
    values = np.array(found, dtype=float)
    labels = np.array([["" if one is None else f"{100 * one:.0f}" for one in row] for row in found])
    sns.heatmap(
        values, ax=ax, vmin=0, vmax=1, cmap="cividis", cbar=False, annot=labels, fmt="", linewidths=0.6,
        linecolor="white", annot_kws={"fontsize": 6}, xticklabels=methods, yticklabels=tasks,
    )  # fmt: skip
    for text, value in zip(ax.texts, values[~np.isnan(values)], strict=True):
        text.set_color("black" if value > _DARK else "white")
    hatched = False
    for y, x in np.argwhere(np.isnan(values)):
        if cells[y][x] is None:
            continue
        hatched = True
        ax.add_patch(
            Rectangle((x, y), 1, 1, facecolor=_EMPTY, hatch="////", edgecolor="#9a9a9a", linewidth=0)
        )
    ax.tick_params(length=0, labelsize=6.5)
    ax.tick_params(axis="y", labelrotation=0)
    ax.tick_params(axis="x", labelrotation=0)
    for side in ax.spines.values():
        side.set_edgecolor(GREY)
    return hatched
