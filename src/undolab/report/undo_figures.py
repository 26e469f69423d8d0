"""Figures U1, U2, U5 and U6 of the undo part: the policies over all histories, times, and what models' choices came to."""

from pathlib import Path

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from undolab.report import undo_diagrams
from undolab.report.style import FULL, MARKERS, MM, colours, look, save
from undolab.report.undo_data import (
    BRANCH_NAMES,
    POLICY_NAMES,
    Histories,
    Latency,
    Study,
    histories,
    latency,
    study,
)

_KINDS = ("set", "add", "grant", "create")
_LABELS = {"snapshot": (-7, 0), "undoscope": (1, 10), "object": (7, 3.5), "deny": (7, -4.5)}
"""Where a label stands beside its point, in points, where the usual place is another's."""
_DARK = 45
"""Percent below which the colour map is dark and the letters on it are white."""


def write(build: Path, measurements: Path, out_dir: Path) -> list[Path]:
    """Write `figureU1` to `figureU6` as .pdf and .png into `out_dir` and return the paths.

    Args:
        build: holds `undo/histories-summary.json` and `undo/study-summary.json`.
        measurements: holds `undo-latency.json`.
        out_dir: where the figures go.

    Raises:
        UndolabError: one of these is missing.
    """
    counts, models, times = histories(build), study(build), latency(measurements)
    with look():
        drawn = {
            "figureU1": _figure1(counts),
            "figureU2": _figure2(counts),
            "figureU3": undo_diagrams.boundary(),
            "figureU4": undo_diagrams.timelines(),
            "figureU5": _figure5(times),
            "figureU6": _figure6(models),
        }
        return [path for name, figure in drawn.items() for path in save(figure, out_dir, name)]


def _figure1(counts: Histories) -> Figure:
    """Safety against recovery: a point a policy."""
    figure = Figure(figsize=(FULL * 0.72, 78 * MM))
    ax = figure.subplots()
    shades = colours(10)
    groups: dict[tuple[float, float], list[str]] = {}
    for policy, found in counts.shown.items():
        point = (100 * found["collateral"] / counts.histories, 100 * found["recovered"] / found["eligible"])
        groups.setdefault(point, []).append(policy)
    for number, ((x, y), policies) in enumerate(groups.items()):
        ax.scatter(
            [x],
            [y],
            s=46,
            color=[shades[number % 10]],
            marker=MARKERS[number % len(MARKERS)],
            zorder=3,
            clip_on=False,
        )
        names = " = ".join(POLICY_NAMES[policy] for policy in policies)
        side, up = _LABELS.get(policies[0], (7, 0))
        ax.annotate(
            names, (x, y), textcoords="offset points", xytext=(side, up), va="center",
            ha="right" if side < 0 else "left",
        )  # fmt: skip
    ax.set_xlim(-2, 82)
    ax.set_ylim(-6, 110)
    ax.set_xlabel(f"Histories in which others' work is damaged, % of {counts.histories:,}")
    ax.set_ylabel("Eligible effects recovered exactly, %")
    ax.grid(visible=True)
    return figure


def _figure2(counts: Histories) -> Figure:
    """Two heat maps, policy by kind: damage and recovery."""
    figure = Figure(figsize=(FULL, 84 * MM))
    axes = figure.subplots(1, 2, sharey=True)
    policies = list(counts.shown)
    share = counts.histories // len(_KINDS)
    damage = [[100 * counts.kind(kind, name)["collateral"] / share for kind in _KINDS] for name in policies]
    recovered = [
        [100 * counts.kind(kind, name)["recovered"] / counts.kind(kind, name)["eligible"] for kind in _KINDS]
        for name in policies
    ]
    eligible = [counts.kind(kind, policies[0])["eligible"] for kind in _KINDS]
    names = [POLICY_NAMES[name] for name in policies]
    _heat(axes[0], damage, list(_KINDS), names, f"Others' work damaged, % of {share} histories a kind")
    columns = [f"{kind}\n({number})" for kind, number in zip(_KINDS, eligible, strict=True)]
    _heat(axes[1], recovered, columns, names, "Recovered exactly, % of those eligible (number)")
    return figure


def _heat(ax: Axes, values: list[list[float]], columns: list[str], rows: list[str], title: str) -> None:
    table = np.array(values)
    sns.heatmap(
        table, ax=ax, vmin=0, vmax=100, cmap="cividis", cbar=False, annot=True, fmt=".0f", linewidths=0.8,
        linecolor="white", annot_kws={"fontsize": 7}, xticklabels=columns, yticklabels=rows,
    )  # fmt: skip
    for text, value in zip(ax.texts, table.ravel(), strict=True):
        text.set_color("black" if value > _DARK else "white")
    ax.set_title(title)
    ax.tick_params(length=0)
    ax.tick_params(axis="y", labelrotation=0)


def _figure5(times: Latency) -> Figure:
    """How long one recovery takes: the whole distribution, with its tail."""
    figure = Figure(figsize=(FULL * 0.72, 72 * MM))
    ax = figure.subplots()
    shades = colours(10)
    for number, (case, found) in enumerate(times.microseconds.items()):
        values = np.sort(np.array(found)) / 1000
        share = np.arange(1, len(values) + 1) / len(values)
        ours = case == "undolab"
        ax.step(
            values, share, where="post", color="black" if ours else shades[number], linewidth=1.8 if ours else 1.0,
            linestyle=["-", "--", "-.", ":"][0 if ours else number % 4], label=POLICY_NAMES[case],
        )  # fmt: skip
    ax.set_xscale("log")
    for axis in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
        axis(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "125" else ""))
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"Time of one recovery with a synced commit, ms ({times.rounds} each, log scale)")
    ax.set_ylabel("Share of recoveries")
    ax.grid(visible=True, which="both")
    ax.legend(loc="lower right")
    return figure


def _figure6(models: Study) -> Figure:
    """Bars: in how many tasks of a cell others lost work, by branch; a model and prompt a panel."""
    rows = models.rows()
    figure = Figure(figsize=(FULL, 66 * MM))
    axes = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    shades = colours(3)
    places = np.arange(len(BRANCH_NAMES))
    top = 0
    for ax, (model, prompt) in zip(axes, rows, strict=True):
        cells = [models.cell(model, prompt, branch) for branch in BRANCH_NAMES]
        peers = [cell["collateral"] for cell in cells]
        victims = [cell["victim_changed"] for cell in cells]
        ax.bar(places, peers, color=shades[0], width=0.7, label="a peer's work on the same object")
        ax.bar(
            places, victims, bottom=peers, color=shades[1], width=0.7, hatch="////", edgecolor="white",
            label="another run's effect (an attack worked)",
        )  # fmt: skip
        for place, total in zip(places, np.add(peers, victims), strict=True):
            ax.text(place, total + 0.3, str(total), ha="center", va="bottom")
        top = max(top, *np.add(peers, victims).tolist())
        ax.set_title(f"{model},\n{prompt} prompt")
        ax.set_xticks(places, [name.replace(" ", "\n", 1) for name in BRANCH_NAMES.values()], rotation=90)
        ax.grid(visible=True, axis="y")
    tasks = models.cell(*rows[0], "mapped")["tasks"]
    axes[0].set_ylabel(f"Tasks with damage, of {tasks}")
    axes[0].set_ylim(0, 1.15 * max(top, 1))
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
