"""Figures 4, 5 and 6 and the figure of boundaries: rates with intervals, by method."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from undolab.report.across import Study, shared_methods
from undolab.report.marks import (
    Line,
    Look,
    legend,
    lines,
    method_axis,
    model_lines,
    place,
    points,
    scope_lines,
)
from undolab.report.strata import Stratum
from undolab.report.style import COLUMN, MARKERS, MM, colours
from undolab.report.view import View
from undolab.report.words import boundary

_SAFETY = {
    "der": "Harmful duplicate (DER)",
    "mer": "Missing effect (MER)",
    "urr": "Unsafe re-send (URR)",
}


def figure4(view: View, kinds: Sequence[Stratum]) -> Figure:
    """Draw CRSR and DER by method for each kind of task, a series a model."""
    where = view.main_place
    methods = view.methods(where)
    held = [(kind, [task for task in kind.tasks if task in view.tasks(where)]) for kind in kinds]
    held = [(kind, tasks) for kind, tasks in held if tasks]
    figure = Figure(figsize=(COLUMN, (12 + 27 * len(held)) * MM))
    axes = figure.subplots(len(held), 2, sharex=True, sharey=True, squeeze=False)
    for row, (kind, tasks) in zip(axes, held, strict=True):
        series = model_lines(view, where, tasks)
        for ax, metric in zip(row, ("crsr", "der"), strict=True):
            points(ax, series, methods, metric)
            ax.tick_params(axis="x", labelrotation=90)
            ax.set_title(f"{metric.upper()}: {kind.level} ({len(tasks)})", fontsize=6.5)
    figure.supylabel("Share (CRSR of D, DER of N pairs)", fontsize=7)
    legend(figure, axes[0][0])
    return figure


def figure5(view: View) -> Figure:
    """Draw the three rates of harm and risk by method."""
    series = lines(view)
    methods = view.methods() if not view.several else view.methods(view.main_place)
    figure = Figure(figsize=(COLUMN, 112 * MM))
    axes = figure.subplots(len(_SAFETY), 1, sharex=True)
    for ax, (metric, title) in zip(axes, _SAFETY.items(), strict=True):
        points(ax, series, methods, metric)
        ax.set_title(title)
    axes[1].set_ylabel("Share of fault arms (N)")
    legend(figure, axes[0])
    return figure


def boundaries(view: View) -> Figure:
    """Draw CRSR by method, a panel a boundary."""
    methods = view.methods()
    figure = Figure(figsize=(COLUMN, (14 + 25 * len(view.places)) * MM))
    axes = figure.subplots(len(view.places), 1, sharex=True, squeeze=False)[:, 0]
    for ax, where in zip(axes, view.places, strict=True):
        points(ax, scope_lines(view, where), methods, "crsr")
        ax.set_title(f"{boundary(where)} ({len(view.tasks(where))} tasks)")
    figure.supylabel("CRSR (share of D pairs)", fontsize=7)
    legend(figure, axes[0])
    return figure


def figure6(studies: Sequence[Study]) -> Figure:
    """Draw control, CRSR and DER of the same cells on each split, a column of panels a model."""
    main = studies[-1].view
    where = main.main_place
    methods = shared_methods(studies, where)
    models = [name for name in main.models if all(name in one.view.models for one in studies)]
    figure = Figure(figsize=(COLUMN, 76 * MM))
    axes = figure.subplots(2, len(models), sharey=True, squeeze=False)
    shades = colours(len(studies))
    step = min(0.22, 0.72 / len(studies))
    for column, model in enumerate(models):
        above, below = axes[0][column], axes[1][column]
        for index, (split, view) in enumerate(studies):
            scopes = [scope for scope in view.scopes if scope[0] == model]
            look = Look(shades[index], MARKERS[index])
            line = Line(f"{split.upper()} ({len(view.tasks(where))})", view, where, scopes, look)
            shift = step * (index - (len(studies) - 1) / 2)
            crsr = [line.estimate(name, "crsr") for name in methods]
            place(
                above,
                np.arange(1 + len(methods)) + shift,
                [line.estimate(methods[0], "control"), *crsr],
                line,
            )
            place(
                below,
                np.arange(1, 1 + len(methods)) + shift,
                [line.estimate(name, "der") for name in methods],
                line,
            )
        method_axis(above, ["control", *methods])
        method_axis(below, ["", *methods])
        above.set_title(model)
        for ax in (above, below):
            ax.axvline(0.5, color="#bdbdbd", linewidth=0.6)
            ax.tick_params(axis="x", labelrotation=90 if len(methods) * len(models) > 6 else 0)
    axes[0][0].set_ylabel("Control, CRSR")
    axes[1][0].set_ylabel("DER")
    legend(figure, axes[0][0], columns=3)
    return figure


def nothing(why: str) -> Figure:
    """Draw the place of a figure that this study cannot fill, and say why."""
    figure = Figure(figsize=(COLUMN, 20 * MM))
    ax = figure.subplots()
    ax.axis("off")
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes)
    return figure
