"""Tables 2, 4, 7, 8 and 14: single tasks, and the tasks with a call of several parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from undolab.model.fault import Boundary
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Workflow
from undolab.report.composition import target
from undolab.report.pool import pool, total
from undolab.report.sheet import (
    DASH,
    Sheet,
    block_head,
    empty,
    group_row,
    head,
    share,
    spanned,
    with_interval,
)
from undolab.report.tex import escape, tabular
from undolab.report.view import ALL, View
from undolab.report.words import boundary, method, place
from undolab.stats.rows import CellRow

_SCOPE = ["model", "framework", "prompt", "examples", "boundary", "method"]
_VERIFY = "B6"
_SAFETY = ("der", "mer", "urr")


def sheets(view: View, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> list[Sheet]:
    """Return these tables of a study.

    Args:
        view: the study.
        workflows: those of its split.
        tools: the catalogue.
    """
    return [
        _table02(view),
        _table04(view, workflows, tools),
        _table07(view),
        _table08(view, workflows, tools),
        _table14(view),
    ]


def representative(workflows: Sequence[str]) -> list[str]:
    """Return the first task of each domain by id: a choice that cannot depend on the outcome."""
    first: dict[str, str] = {}
    for workflow in sorted(workflows):
        first.setdefault(workflow.split("-")[1], workflow)
    return list(first.values())


def composite(workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> list[str]:
    """Return the tasks with a planned call of several parts, by id: those that a fault can leave half done."""
    return sorted(one.id for one in workflows if any(tools[step.tool].sub_writes > 1 for step in one.plan))


def _counts(cell: CellRow) -> list[Any]:
    scope = [getattr(cell.scope, name) for name in _SCOPE]
    sizes = [cell.scope.task, cell.N, cell.exposed, cell.D, cell.R, cell.F]
    return [*scope, *sizes, *(cell.metrics[name].num for name in _SAFETY), cell.metrics["crsr"].value]


_COUNTED = [*_SCOPE, "task", "N", "exposed", "D", "R", "F", "duplicate", "missing", "unsafe_resend", "crsr"]


def _table02(view: View) -> Sheet:
    """Representative outcomes: one task of each domain, at the main boundary."""
    where = view.main_place
    methods = view.methods(where)
    tasks = representative(view.tasks(where))
    rows: list[list[Any]] = [_COUNTED]
    blocks = []
    for model, framework in view.scopes:
        lines = []
        for task in tasks:
            found = [view.cell(model, framework, where, name, task) for name in methods]
            held = [cell for cell in found if cell is not None]
            rows += [_counts(cell) for cell in held]
            if held:
                lines.append([escape(task), f"{held[0].D}/{held[0].N}", *map(_outcome, found)])
        blocks.append([*_titled(view, model, framework, 2 + len(methods)), *lines])
    header = [["Task", "D/N", *(escape(method(name)) for name in methods)]]
    return Sheet("table02", rows, tabular("lr" + "r" * len(methods), header, blocks))


def _outcome(cell: CellRow | None) -> str:
    if cell is None:
        return DASH
    recovered = str(cell.R) if cell.D else DASH
    return f"{recovered}/{cell.metrics['der'].num}/{cell.metrics['mer'].num}"


def _titled(view: View, model: str, framework: str, columns: int) -> list[list[str]]:
    return [block_head(columns, f"{model}, {framework}")] if view.several else []


def _table04(view: View, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> Sheet:
    """Three boundaries on the tasks with a call of several parts."""
    wanted = [Boundary.PRE_MUTATION, Boundary.DURING_MUTATION, Boundary.POST_MUTATION_PRE_ACK]
    places = [str(one) for one in wanted if one in view.places]
    tasks = composite(workflows, tools)
    metrics = ["crsr", "der", "mer", "urr"]
    rows = [head([*_SCOPE, "tasks"], metrics)]
    blocks = []
    for model, framework in view.scopes:
        block = []
        for name in view.methods():
            line = [escape(method(name))]
            for where in places:
                held = [task for task in tasks if task in view.tasks(where)]
                cells = view.task_cells(where, name, scopes=[(model, framework)], tasks=held)
                if not cells:
                    line += [DASH] * 3
                    continue
                scope = [model, framework, view.study.prompt, view.study.examples, where, name]
                rows.append(group_row([*scope, " ".join(held)], cells, metrics, view.study))
                crsr, der = (pool(cells, metric, view.study) for metric in ("crsr", "der"))
                line += [f"{crsr.num}/{crsr.den}", with_interval(crsr), share(der)]
            block.append(line)
        blocks.append([*_titled(view, model, framework, 1 + 3 * len(places)), *block])
    if len(rows) == 1:
        return Sheet(
            "table04",
            rows,
            empty(
                ["Method"],
                "no task of this study has a call of several parts, or it has none of these boundaries",
            ),
        )
    header = [
        *spanned([(escape(boundary(where)), 3) for where in places], 1),
        ["Method", *["R/D", "CRSR", "DER"] * len(places)],
    ]
    return Sheet("table04", rows, tabular("l" + "rrr" * len(places), header, blocks))


def _table07(view: View) -> Sheet:
    """Every task: recovered runs by method. CSV has every boundary; TeX has all of them where there is one scope."""
    rows: list[list[Any]] = [_COUNTED]
    rows += [_counts(cell) for cell in view.stats.cells if cell.scope.task != ALL and cell.N]
    methods = view.methods()
    width = 1 + len(methods)
    if view.several:
        blocks = [
            _matrix(view, [(model, one, view.main_place) for one in view.frameworks]) for model in view.models
        ]
        groups = view.frameworks
    else:
        model, framework = view.scopes[0]
        blocks = [_matrix(view, [(model, framework, where)]) for where in view.places]
        groups = [framework]
    header = [
        *(spanned([(escape(name), width) for name in groups], 1) if view.several else []),
        ["Task", *["D", *(escape(name) for name in methods)] * len(groups)],
    ]
    return Sheet("table07", rows, tabular("l" + ("r" * width) * len(groups), header, blocks))


def _matrix(view: View, groups: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """Return a block: a line a task, and for each (model, framework, boundary) D and R of each method."""
    methods = view.methods()
    tasks = sorted({task for _, _, where in groups for task in view.tasks(where)})
    columns = 1 + len(groups) * (1 + len(methods))
    words = groups[0][0] if view.several else boundary(groups[0][2])
    block = [block_head(columns, words)]
    for task in [*tasks, ALL]:
        line = ["All" if task == ALL else escape(task)]
        for model, framework, where in groups:
            found = [view.cell(model, framework, where, name, task) for name in methods]
            held = [cell for cell in found if cell is not None]
            line.append(f"{held[0].D}/{held[0].N}" if held else DASH)
            line += [DASH if cell is None or not cell.D else str(cell.R) for cell in found]
        block.append(line)
    return block


def _table08(view: View, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec]) -> Sheet:
    """What reading before a retry gives, task by task, with what the readers show."""
    head_row = [
        "model",
        "frameworks",
        "prompt",
        "examples",
        "boundary",
        "method",
        "task",
        "call",
        "reader",
        "N",
    ]
    head_row += ["exposed", "D", "R", "duplicate", "missing", "abstained", "reads", "crsr"]
    rows: list[list[Any]] = [head_row]
    where = view.main_place
    if _VERIFY not in view.methods(where):
        return Sheet("table08", rows, empty(["Task"], f"the study has no {_VERIFY}"))
    known = {one.id: target(one, tools) for one in workflows}
    blocks = []
    for model in view.models:
        block = [block_head(11, model)] if len(view.models) > 1 else []
        for task in view.tasks(where):
            scopes = [scope for scope in view.scopes if scope[0] == model]
            cells = view.task_cells(where, _VERIFY, scopes=scopes, tasks=[task])
            if not cells:
                continue
            struck = known[task]
            reader = struck.observe.tool if struck.observe else "none"
            found = {name: pool(cells, name, view.study) for name in ("der", "mer", "abstention", "crsr")}
            reads, exposed = total(cells, "reads_after_fault"), total(cells, "exposed")
            counts = [total(cells, name) for name in ("N", "exposed", "D", "R")]
            counts += [found[name].num for name in ("der", "mer", "abstention")]
            study = view.study
            frameworks = " ".join(view.frameworks)
            scope = [
                model,
                frameworks,
                study.prompt,
                study.examples,
                where,
                _VERIFY,
                task,
                struck.name,
                reader,
            ]
            rows.append([*scope, *counts, reads, found["crsr"].value])
            each = f"{reads / exposed:.1f}" if exposed else DASH
            block.append(
                [
                    escape(task),
                    rf"\code{{{escape(struck.name)}}}",
                    "none" if reader == "none" else rf"\code{{{escape(reader)}}}",
                    str(counts[0]),
                    str(counts[1]),
                    f"{counts[3]}/{counts[2]}",
                    share(found["crsr"]),
                    *map(str, counts[4:]),
                    each,
                ]
            )
        blocks.append(block)
    columns = [
        "Task",
        "Call that is lost",
        "Reader",
        "N",
        "Exp.",
        "R/D",
        "CRSR",
        "Dup.",
        "Miss.",
        "Abst.",
        "Reads",
    ]
    return Sheet("table08", rows, tabular("lll" + "r" * 8, [columns], blocks))


def _table14(view: View) -> Sheet:
    """Task by method where the call was half done."""
    where = str(Boundary.DURING_MUTATION)
    rows: list[list[Any]] = [_COUNTED]
    if where not in view.places:
        why = f"the study has no cell at {place(where).lower()} ({where})"
        return Sheet("table14", rows, empty(["Task"], why))
    methods = view.methods(where)
    blocks = []
    for model, framework in view.scopes:
        block = []
        for task in view.tasks(where):
            found = [view.cell(model, framework, where, name, task) for name in methods]
            held = [cell for cell in found if cell is not None]
            rows += [_counts(cell) for cell in held]
            if held:
                block.append([escape(task), f"{held[0].D}/{held[0].N}", *map(_outcome, found)])
        if block:
            blocks.append([*_titled(view, model, framework, 2 + len(methods)), *block])
    header = [["Task", "D/N", *(escape(method(name)) for name in methods)]]
    return Sheet("table14", rows, tabular("lr" + "r" * len(methods), header, blocks))
