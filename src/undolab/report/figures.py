"""Figures 2, 3 and 5 from `metrics.json`, each as vector PDF and as PNG."""

from collections import Counter
from pathlib import Path

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from undolab.report.style import FULL, MARKERS, MM, colours, look, save
from undolab.report.words import boundary, fraction, method, pooled, scopes, whose
from undolab.stats.rows import CellRow, MetricsFile, read_metrics

_SAFETY = {
    "der": "Harmful duplicate (DER)",
    "mer": "Missing effect (MER)",
    "urr": "Unsafe re-send (URR)",
}

_DARK = 0.4
"""Below this value the colour map is dark, and letters on it are white."""


def write(stats_dir: Path, out_dir: Path) -> list[Path]:
    """Write `figure2`, `figure3` and `figure5` as .pdf and .png into `out_dir` and return the paths.

    Raises:
        UndolabError: the statistics are missing.
    """
    stats = read_metrics(stats_dir)
    written = []
    for name, draw in (("figure2", _figure2), ("figure3", _figure3), ("figure5", _figure5)):
        with look():
            written += save(draw(stats), out_dir, name)
    return written


def _figure2(stats: MetricsFile) -> Figure:
    rows = [(*scope, place) for scope in scopes(stats) for place in stats.study.boundaries]
    methods = stats.study.methods
    figure = Figure(figsize=(FULL, (8 + 40 * len(rows)) * MM))
    axes = figure.subplots(len(rows), len(methods), sharex=True, sharey=True, squeeze=False)
    shades = colours(len(methods))
    for line, (model, framework, place) in zip(axes, rows, strict=True):
        for index, (ax, name) in enumerate(zip(line, methods, strict=True)):
            total = stats.cell(model, framework, place, name)
            tasks = [stats.cell(model, framework, place, name, task) for task in stats.study.workflows]
            _competence(ax, tasks, total, shades[index])
        line[0].set_ylabel(f"{boundary(place)}{whose(stats, model, framework)}\nCRSR")
    for ax, name in zip(axes[0], methods, strict=True):
        ax.set_title(method(name))
    figure.supxlabel(f"Share of controls passed{_unsolved(stats)}", fontsize=7.5)
    return figure


def _unsolved(stats: MetricsFile) -> str:
    place, name = stats.study.boundaries[0], stats.study.methods[0]
    notes = []
    for model, framework in scopes(stats):
        cells = [stats.cell(model, framework, place, name, task) for task in stats.study.workflows]
        count = sum(cell.D == 0 for cell in cells)
        if count:
            notes.append(
                f"{count} task{'s' * (count > 1)} never solved{whose(stats, model, framework)}: D = 0"
            )
    return f" (not shown: {'; '.join(notes)})" if notes else ""


def _competence(ax: Axes, tasks: list[CellRow], total: CellRow, colour: tuple[float, float, float]) -> None:
    values = [(cell.metrics["control"].value, cell.metrics["crsr"].value) for cell in tasks]
    points = Counter((x, y) for x, y in values if x is not None and y is not None)
    ax.plot([0, 1], [0, 1], color="#bdbdbd", linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    for (x, y), count in sorted(points.items()):
        ax.scatter([x], [y], s=24 + 22 * count, color=[colour], alpha=0.55, linewidths=0, zorder=2)
        if count > 1:
            text = ax.annotate(str(count), (x, y), ha="center", va="center_baseline", fontsize=6.5, zorder=6)
            text.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    control, crsr = total.metrics["control"], total.metrics["crsr"]
    middle = np.array([control.value, crsr.value], dtype=float)
    low = np.array([control.lo, crsr.lo], dtype=float)
    high = np.array([control.hi, crsr.hi], dtype=float)
    # An undefined value is NaN here, and draws nothing.
    ax.plot([low[0], high[0]], [middle[1]] * 2, color="black", zorder=3)
    ax.plot([middle[0]] * 2, [low[1], high[1]], color="black", zorder=3)
    ax.plot(
        *middle[:, None], marker="D", markersize=4.5, color="white", markeredgecolor="black", markeredgewidth=0.9,
        zorder=5,
    )  # fmt: skip
    ax.set_xlim(-0.06, 1.1)
    ax.set_ylim(-0.12, 1.12)
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.grid(visible=True)


def _figure3(stats: MetricsFile) -> Figure:
    panels = [(*scope, place) for scope in scopes(stats) for place in stats.study.boundaries]
    tasks, methods = stats.study.workflows, stats.study.methods
    figure = Figure(figsize=(FULL, (22 + 5.6 * len(tasks)) * MM))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    undefined = False
    for ax, (model, framework, place) in zip(axes, panels, strict=True):
        cells = [[stats.cell(model, framework, place, name, task) for name in methods] for task in tasks]
        undefined |= _heat(ax, cells, tasks, methods)
        ax.set_title(boundary(place) + whose(stats, model, framework))
    shades = figure.colorbar(axes[0].collections[0], ax=list(axes), fraction=0.04, pad=0.02, aspect=30)
    shades.set_label("CRSR")
    shades.outline.set_visible(False)
    if undefined:
        patch = Patch(facecolor="#efefef", edgecolor="#9a9a9a", hatch="////", label="undefined: D = 0")
        figure.legend(handles=[patch], loc="outside lower center", handlelength=2.2)
    return figure


def _heat(ax: Axes, cells: list[list[CellRow]], tasks: list[str], methods: list[str]) -> bool:
    found = [[cell.metrics["crsr"] for cell in row] for row in cells]
    values = np.array([[np.nan if item.value is None else item.value for item in row] for row in found])
    labels = np.array([[fraction(item) for item in row] for row in found])
    sns.heatmap(
        values, ax=ax, vmin=0, vmax=1, cmap="cividis", cbar=False, annot=labels, fmt="", linewidths=0.8,
        linecolor="white", annot_kws={"fontsize": 7}, xticklabels=methods, yticklabels=tasks,
    )  # fmt: skip
    for text, value in zip(ax.texts, values[~np.isnan(values)], strict=True):
        text.set_color("black" if value > _DARK else "white")
    for y, x in np.argwhere(np.isnan(values)):
        ax.add_patch(
            Rectangle((x, y), 1, 1, facecolor="#efefef", hatch="////", edgecolor="#9a9a9a", linewidth=0)
        )
        box = {"facecolor": "#efefef", "edgecolor": "none", "pad": 1.0}
        ax.text(x + 0.5, y + 0.5, "D = 0", ha="center", va="center", fontsize=6.5, color="black", bbox=box)
    ax.tick_params(length=0)
    ax.tick_params(axis="y", labelrotation=0)
    return bool(np.isnan(values).any())


def _figure5(stats: MetricsFile) -> Figure:
    methods, places = stats.study.methods, stats.study.boundaries
    series = [(*scope, place) for scope in scopes(stats) for place in places]
    figure = Figure(figsize=(FULL, 58 * MM))
    axes = figure.subplots(1, len(_SAFETY), sharey=True)
    shades = colours(len(series))
    for ax, (name, title) in zip(axes, _SAFETY.items(), strict=True):
        for index, (model, framework, place) in enumerate(series):
            found = [cell.metrics[name] for cell in pooled(stats, model, framework, place)]
            shift = 0.26 * (index - (len(series) - 1) / 2)
            x = np.arange(len(methods)) + shift
            y = np.array([item.value for item in found], dtype=float)
            low = np.array([item.lo for item in found], dtype=float)
            high = np.array([item.hi for item in found], dtype=float)
            ax.errorbar(
                x, y, yerr=[np.maximum(0, y - low), np.maximum(0, high - y)], fmt=MARKERS[index], markersize=4,
                capsize=2, elinewidth=1.1, color=shades[index], clip_on=False, zorder=3,
                label=boundary(place) + whose(stats, model, framework),
            )  # fmt: skip
        ax.set_title(title)
        ax.set_xticks(range(len(methods)), methods)
        ax.set_xlim(-0.5, len(methods) - 0.5)
        ax.set_ylim(0, 1)
        ax.grid(visible=True, axis="y")
    axes[0].set_ylabel("Share of fault arms")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(series))
    return figure
