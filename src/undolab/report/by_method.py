"""Tables 1, 3, 5 and 13 and the tables of other models and of boundaries: methods, models and cells over all tasks."""

from collections.abc import Sequence
from typing import Any

from undolab.report.pool import pool, total
from undolab.report.sheet import (
    DASH,
    Sheet,
    block_head,
    empty,
    group_row,
    head,
    label,
    share,
    spanned,
    with_interval,
)
from undolab.report.tex import escape, tabular
from undolab.report.view import NONE, View
from undolab.report.words import boundary, method, percent, place
from undolab.stats.metrics import METRICS
from undolab.stats.rows import CellRow

_LABELS = ("model", "frameworks", "prompt", "examples", "boundary", "method")
_SHOWN = ("rsr", "crsr", "eor", "der", "mer", "urr", "truthfulness", "honest_abstention")
_BOUNDED = {"crsr", "eor", "der"}
_PLAIN = ("control", "rsr", "crsr", "eor", "eor_cond", "der", "der_pub", "mer", "urr")


def sheets(view: View) -> list[Sheet]:
    """Return these tables of a study."""
    return [*_by_model(view), _table03(view), _table05(view), _table13(view), _boundaries(view)]


def _by_model(view: View) -> list[Sheet]:
    """Recovery and safety by method: Table 1, whose TeX shows the first model as a page holds no more, and the others'."""
    found = {model: _recovery(view, model) for model in view.models}
    first, *others = view.models
    top = head(_LABELS, ["control", *_SHOWN])
    columns = "lr" + "r" * len(_SHOWN)
    header = [["Method", "Exp.", *(escape(label(metric)) for metric in _SHOWN)]]
    beside = [block for model in others for block in found[model][1]]
    return [
        Sheet(
            "table01",
            [top, *(row for rows, _ in found.values() for row in rows)],
            tabular(columns, header, found[first][1]),
        ),
        Sheet(
            "tableothers",
            [top, *(row for model in others for row in found[model][0])],
            tabular(columns, header, beside) if others else empty(["Method"], "the study has one model"),
        ),
    ]


def _recovery(view: View, model: str) -> tuple[list[list[Any]], list[list[list[str]]]]:
    """Return rows and TeX blocks of one model, its frameworks taken together: a block a boundary."""
    metrics = ["control", *_SHOWN]
    scopes = view.scopes_of(model)
    rows: list[list[Any]] = []
    blocks: list[list[list[str]]] = []
    for where in view.places:
        methods = [name for name in view.methods(where) if view.task_cells(where, name, scopes=scopes)]
        if not methods:
            continue
        sizes = view.task_cells(where, methods[0], scopes=scopes)
        control = pool(sizes, "control", view.study)
        words = (
            f"{model}. {boundary(where)} ({where}): {len(view.tasks(where))} tasks, N = {total(sizes, 'N')},"
            f" D = {total(sizes, 'D')}, control {percent(control.value)}\u00a0%"
        )
        block = [block_head(2 + len(_SHOWN), words)]
        frameworks = " ".join(framework for _, framework in scopes)
        for name in methods:
            cells = view.task_cells(where, name, scopes=scopes)
            labels = [model, frameworks, view.study.prompt, view.study.examples, where, name]
            rows.append(group_row(labels, cells, metrics, view.study))
            found = [pool(cells, metric, view.study) for metric in _SHOWN]
            shown = [
                with_interval(one) if metric in _BOUNDED else share(one)
                for metric, one in zip(_SHOWN, found, strict=True)
            ]
            block.append([escape(method(name)), str(total(cells, "exposed")), *shown])
        blocks.append(block)
    return rows, blocks


def _table03(view: View) -> Sheet:
    """What one model more shows: each model and framework, without a method and with all methods together."""
    where = view.main_place
    tracks = {NONE: [NONE], "methods": [name for name in view.methods(where) if name != NONE]}
    metrics = ["control", "rsr", "crsr", "der", "mer"]
    rows = [[*head(("model", "framework", "prompt", "examples", "boundary", "track"), metrics), "gap"]]
    blocks = []
    for model, framework in view.scopes:
        block = []
        for track, names in tracks.items():
            cells = [
                cell for name in names for cell in view.task_cells(where, name, scopes=[(model, framework)])
            ]
            if not cells:
                continue
            found = {metric: pool(cells, metric, view.study) for metric in metrics}
            control, crsr = found["control"].value, found["crsr"].value
            gap = None if control is None or crsr is None else control - crsr
            labels = [model, framework, view.study.prompt, view.study.examples, where, track]
            rows.append([*group_row(labels, cells, metrics, view.study), gap])
            points = DASH if gap is None else f"{100 * gap:.1f}".replace("-", r"\ensuremath{-}")
            block.append(
                [
                    escape(model),
                    escape(framework),
                    escape(track),
                    str(total(cells, "N")),
                    str(total(cells, "D")),
                    with_interval(found["control"]),
                    share(found["rsr"]),
                    with_interval(found["crsr"]),
                    points,
                    with_interval(found["der"]),
                    share(found["mer"]),
                ]
            )
        blocks.append(block)
    header = [["Model", "Framework", "Track", "N", "D", "Control", "RSR", "CRSR", "Gap", "DER", "MER"]]
    return Sheet("table03", rows, tabular("lll" + "r" * 8, header, blocks))


def _table05(view: View) -> Sheet:
    """The factorial matrix: what was run, and how many faults struck."""
    labels = ["model", "framework", "prompt", "examples", "boundary"]
    rows: list[list[object]] = [[*labels, "tasks", "seeds", "methods", "controls", "pairs", "exposed", "D"]]
    blocks = []
    for model, framework in view.scopes:
        block: list[list[str]] = []
        for where in view.places:
            every = [
                cell
                for name in view.methods(where)
                for cell in view.task_cells(where, name, scopes=[(model, framework)])
            ]
            if not every:
                continue
            names = [name for name in view.methods(where) if any(one.scope.method == name for one in every)]
            first = [cell for cell in every if cell.scope.method == names[0]]
            sizes = [len(first), max(cell.N for cell in first)]
            counts = [total(first, "N"), total(every, "N"), total(every, "exposed"), total(first, "D")]
            scope = [model, framework, view.study.prompt, view.study.examples, where]
            rows.append([*scope, *sizes, " ".join(names), *counts])
            block.append(
                [
                    escape(f"{model}, {framework}") if not block else "",
                    escape(boundary(where)),
                    *map(str, sizes),
                    escape(" ".join(names)),
                    *(f"{count:,}" for count in counts),
                ]
            )
        blocks.append(block)
    header = [
        ["Model, framework", "Boundary", "Tasks", "Seeds", "Methods", "Controls", "Pairs", "Exposed", "D"]
    ]
    return Sheet("table05", rows, tabular("llrrlrrrr", header, blocks))


def _table13(view: View) -> Sheet:
    """Model by method: every rate of each model and framework; TeX shows the main boundary."""
    labels = ("model", "framework", "prompt", "examples", "boundary", "method")
    rows = [head(labels, _PLAIN)]
    shown = [metric for metric in _PLAIN if metric not in ("control", "der_pub")]
    blocks = []
    for model, framework in view.scopes:
        block = []
        for where in view.places:
            for name in view.methods(where):
                cells = view.task_cells(where, name, scopes=[(model, framework)])
                if not cells:
                    continue
                scope = [model, framework, view.study.prompt, view.study.examples, where, name]
                rows.append(group_row(scope, cells, _PLAIN, view.study))
                if where == view.main_place:
                    block.append(_line13(view, name, cells, shown))
        if block:
            cell = view.cell(model, framework, view.main_place, view.methods(view.main_place)[0])
            control = DASH if cell is None else percent(cell.metrics["control"].value)
            sizes = "" if cell is None else f": N = {cell.N}, control {control}\u00a0%"
            blocks.append([block_head(4 + len(shown), f"{model}, {framework}{sizes}"), *block])
    header = [["Method", "D", "R", "F", *(escape(METRICS[metric].label) for metric in shown)]]
    return Sheet("table13", rows, tabular("l" + "r" * (3 + len(shown)), header, blocks))


def _line13(view: View, name: str, cells: Sequence[CellRow], shown: Sequence[str]) -> list[str]:
    found = {metric: pool(cells, metric, view.study) for metric in shown}
    line = [escape(method(name)), *(str(total(cells, size)) for size in ("D", "R", "F"))]
    return line + [
        with_interval(one) if metric in ("crsr", "der") else share(one) for metric, one in found.items()
    ]


def _boundaries(view: View) -> Sheet:
    """CRSR and DER of every cell: boundaries down, methods across."""
    methods = view.methods()
    rows = [head(("model", "framework", "prompt", "examples", "boundary", "method"), ("crsr", "der"))]
    blocks = []
    for model, framework in view.scopes:
        block = []
        for where in view.places:
            shown: dict[str, list[str]] = {"crsr": [], "der": []}
            sizes = ""
            for name in methods:
                cells = view.task_cells(where, name, scopes=[(model, framework)])
                crsr, der = (pool(cells, metric, view.study) for metric in shown)
                shown["crsr"].append(share(crsr))
                shown["der"].append(share(der))
                if cells:
                    sizes = sizes or f"{total(cells, 'D')}/{total(cells, 'N')}"
                    scope = [model, framework, view.study.prompt, view.study.examples, where, name]
                    rows.append(group_row(scope, cells, list(shown), view.study))
            if sizes:
                block.append([escape(place(where)), sizes, *shown["crsr"], *shown["der"]])
        blocks.append([block_head(2 + 2 * len(methods), f"{model}, {framework}"), *block])
    width = len(methods)
    header = [
        *spanned([("CRSR", width), ("DER", width)], 2),
        ["Boundary", "D/N", *(escape(name) for name in methods * 2)],
    ]
    return Sheet("tableboundaries", rows, tabular("lr" + "r" * (2 * width), header, blocks))
