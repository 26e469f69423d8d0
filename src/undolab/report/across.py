"""Table 11 and the factor study: the main study beside its side studies, on other splits and with other worked examples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from undolab.model.workflow import Split, Workflow
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
from undolab.report.view import NONE, View
from undolab.report.words import boundary

_METRICS = ("control", "rsr", "crsr", "eor", "der", "mer", "urr")
_FACTOR = ("control", "crsr", "der", "mer", "urr", "truthfulness")


class Study(NamedTuple):
    """One study beside others."""

    level: str
    """Its split, or its variant of the worked examples."""
    view: View


def splits(main: View, sides: Mapping[str, View], workflows: Sequence[Workflow]) -> list[Study]:
    """Return the studies with the main study's prompt and examples, one a split, in the order of the splits."""
    split_of = {one.id: one.split for one in workflows}
    found: dict[Split, View] = {}
    for view in (main, *sides.values()):
        same = (view.study.prompt, view.study.examples) == (main.study.prompt, main.study.examples)
        split = split_of.get(view.tasks()[0])
        if same and split is not None and main.main_place in view.places:
            found.setdefault(split, view)
    return [Study(split.value, found[split]) for split in Split if split in found]


def variants(main: View, sides: Mapping[str, View]) -> list[Study]:
    """Return the main study, then the studies of its tasks that differ from it in their worked examples, by name."""
    tasks = set(main.tasks())
    others = {
        view.study.examples: view
        for view in sides.values()
        if view.study.examples != main.study.examples
        and set(view.tasks()) <= tasks
        and NONE in view.methods()
    }
    return [Study(main.study.examples, main), *(Study(name, others[name]) for name in sorted(others))]


def shared_methods(studies: Sequence[Study], place: str) -> list[str]:
    """Return the methods that every study has at a boundary."""
    every = [set(one.view.methods(place)) for one in studies]
    return [name for name in studies[0].view.methods(place) if all(name in held for held in every)]


def sheets(main: View, sides: Mapping[str, View], workflows: Sequence[Workflow]) -> list[Sheet]:
    """Return Table 11 and the table of worked examples.

    Args:
        main: the main study.
        sides: the side studies by name.
        workflows: every workflow, for its split.
    """
    return [_table11(splits(main, sides, workflows)), _examples(main, variants(main, sides))]


def _table11(studies: Sequence[Study]) -> Sheet:
    """Do the splits agree? The same cells on each, at the main boundary."""
    labels = ("split", "model", "framework", "prompt", "examples", "boundary", "tasks", "method")
    rows = [head(labels, _METRICS)]
    if len(studies) < 2:
        return Sheet("table11", rows, empty(["Split"], "only one split was run"))
    where = studies[0].view.main_place
    methods = shared_methods(studies, where)
    width = len(methods)
    blocks = []
    for split, view in studies:
        block: list[list[str]] = []
        for model, framework in view.scopes:
            line: list[str] = []
            crsr, der = [], []
            for name in methods:
                cells = view.task_cells(where, name, scopes=[(model, framework)])
                tasks = len(view.tasks(where))
                scope = [split, model, framework, view.study.prompt, view.study.examples, where, tasks, name]
                rows.append(group_row(scope, cells, _METRICS, view.study))
                control = with_interval(pool(cells, "control", view.study))
                line = line or [str(tasks), str(total(cells, "N")), control]
                crsr.append(share(pool(cells, "crsr", view.study)))
                der.append(share(pool(cells, "der", view.study)))
            first = split.upper() if not block else ""
            block.append([first, escape(f"{model}, {framework}"), *line, *crsr, *der])
        blocks.append(block)
    header = [
        *spanned([("CRSR", width), ("DER", width)], 5),
        ["Split", "Model, framework", "Tasks", "N", "Control", *(escape(name) for name in methods * 2)],
    ]
    return Sheet("table11", rows, tabular("llrrr" + "r" * (2 * width), header, blocks))


def _examples(main: View, studies: Sequence[Study]) -> Sheet:
    """What the worked examples decide: the agent alone, with each variant, on the tasks and cells that all have."""
    labels = ("examples", "model", "framework", "prompt", "boundary", "tasks")
    rows = [head(labels, _FACTOR)]
    if len(studies) == 1:
        return Sheet("tableexamples", rows, empty(["Examples"], "only one variant of the examples was run"))
    places = [name for name in main.places if all(name in one.view.places for one in studies)]
    scopes = [scope for scope in main.scopes if all(scope in one.view.scopes for one in studies)]
    shown = [metric for metric in _FACTOR if metric != "control"]
    blocks = []
    for scope in scopes:
        for where in places:
            tasks = sorted(set.intersection(*(set(one.view.tasks(where)) for one in studies)))
            block: list[list[str]] = [block_head(4 + len(shown), f"{', '.join(scope)}: {boundary(where)}")]
            for level, view in studies:
                cells = view.task_cells(where, NONE, scopes=[scope], tasks=tasks)
                if not cells:
                    continue
                row: list[Any] = [level, *scope, view.study.prompt, where, len(tasks)]
                rows.append(group_row(row, cells, _FACTOR, view.study))
                control = with_interval(pool(cells, "control", view.study))
                found = [
                    with_interval(one) if metric in ("crsr", "der") else share(one)
                    for metric, one in ((metric, pool(cells, metric, view.study)) for metric in shown)
                ]
                exposed = str(total(cells, "exposed")) if cells else DASH
                block.append([escape(level), str(total(cells, "N")), exposed, control, *found])
            blocks.append(block)
    header = [["Examples", "N", "Exp.", "Control", "CRSR", "DER", "MER", "URR", "Truthful"]]
    return Sheet("tableexamples", rows, tabular("lrrr" + "r" * len(shown), header, blocks))
