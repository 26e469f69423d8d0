"""Tables 6 and 9 and the table of strata: what the tasks are, and how recovery differs between kinds of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from undolab.model.errors import UndolabError
from undolab.model.tools import Reversibility, ToolSpec
from undolab.model.workflow import Workflow
from undolab.report.by_task import composite
from undolab.report.composition import target
from undolab.report.pool import pool, total
from undolab.report.sheet import DASH, Sheet, block_head, group_row, head, share, spanned
from undolab.report.tex import escape, tabular
from undolab.report.view import View
from undolab.stats.rows import CellRow

_METRICS = ("control", "crsr", "der", "mer", "urr", "eor")
_HARM = "harm"


class Stratum(NamedTuple):
    """A kind of tasks."""

    factor: str
    level: str
    tasks: list[str]


def of_study(view: View, workflows: Sequence[Workflow]) -> list[Workflow]:
    """Return the workflows of a study's tasks, by id.

    Raises:
        UndolabError: a task of the study is no workflow.
    """
    known = {one.id: one for one in workflows}
    lost = [task for task in view.tasks() if task not in known]
    if lost:
        raise UndolabError(
            f"the statistics name tasks that are no workflow ({', '.join(lost)}); compute them again"
        )
    return [known[task] for task in view.tasks()]


def by_reversibility(workflows: Sequence[Workflow]) -> list[Stratum]:
    """Return the tasks by what can be done about their main effect; kinds without a task are left out."""
    found = [
        Stratum(
            "reversibility", kind.value.lower(), [one.id for one in workflows if one.reversibility is kind]
        )
        for kind in Reversibility
    ]
    return [one for one in found if one.tasks]


def by_target(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], repeats: Mapping[str, str]
) -> list[Stratum]:
    """Return the tasks by what their lost call allows: a key, a reader, and whether a repeat does harm."""
    struck = {one.id: target(one, tools) for one in workflows}
    marks = [
        ("key honoured", {name: tool.idempotency_key for name, tool in struck.items()}),
        ("effect readable", {name: tool.observe is not None for name, tool in struck.items()}),
        ("repeat harms", {name: repeats[name] == _HARM for name in struck}),
    ]
    found = [
        Stratum(factor, "yes" if wanted else "no", sorted(name for name in holds if holds[name] is wanted))
        for factor, holds in marks
        for wanted in (True, False)
    ]
    return [one for one in found if one.tasks]


def by_evidence(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], repeats: Mapping[str, str]
) -> list[Stratum]:
    """Return the tasks by what looking can prevent: harm that a reader shows, harm that none shows, no harm."""
    groups: dict[str, list[str]] = {}
    for one in workflows:
        harm = repeats[one.id] == _HARM
        seen = target(one, tools).observe is not None
        level = "harmless" if not harm else "harmful, seen" if seen else "harmful, unseen"
        groups.setdefault(level, []).append(one.id)
    return [
        Stratum("a repeat is", level, sorted(groups[level]))
        for level in ("harmful, seen", "harmful, unseen", "harmless")
        if level in groups
    ]


def sheets(
    view: View, workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], repeats: Mapping[str, str]
) -> list[Sheet]:
    """Return these tables of a study.

    Args:
        view: the study.
        workflows: those of its split.
        tools: the catalogue.
        repeats: what the lost call of each workflow does a second time.
    """
    kinds = by_reversibility(workflows)
    all_kinds = [*kinds, *by_target(workflows, tools, repeats)]
    return [
        _table06(workflows, tools, repeats),
        _strata("table09", view, kinds, apart=True),
        _strata("tablestrata", view, all_kinds, apart=False),
    ]


def _table06(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], repeats: Mapping[str, str]
) -> Sheet:
    """What the split is made of: reversibility against what services and readers offer."""
    rows: list[list[Any]] = [["reversibility", "tasks", "key", "reader", "repeat_harms", "parts", "ids"]]
    lines = []
    for _, level, names in [*by_reversibility(workflows), Stratum("", "all", [one.id for one in workflows])]:
        struck = {one.id: target(one, tools) for one in workflows if one.id in names}
        counts = [
            len(names),
            sum(tool.idempotency_key for tool in struck.values()),
            sum(tool.observe is not None for tool in struck.values()),
            sum(repeats[name] == _HARM for name in names),
            len(composite([one for one in workflows if one.id in names], tools)),
        ]
        rows.append([level, *counts, " ".join(sorted(names))])
        short = ", ".join(name.removeprefix("RB-") for name in sorted(names)) if level != "all" else ""
        lines.append([escape(level), *map(str, counts), escape(short)])
    header = [["Main effect", "Tasks", "Key", "Reader", "Harm", "Parts", "Which"]]
    tex = tabular(r"lrrrrrp{75mm}", header, [lines[:-1], lines[-1:]])
    return Sheet("table06", rows, tex)


def _strata(name: str, view: View, kinds: Sequence[Stratum], *, apart: bool) -> Sheet:
    """Return CRSR and DER by kind of task and method, a model's frameworks apart or together; at the main boundary in TeX."""
    groups = {", ".join(one): [one] for one in view.scopes}
    if not apart:
        groups = {model: view.scopes_of(model) for model in view.models}
    labels = ["model", "frameworks", "prompt", "examples", "boundary", "factor", "level", "tasks", "method"]
    rows = [head(labels, _METRICS)]
    methods = view.methods(view.main_place)
    blocks = []
    for title, group in groups.items():
        block = [block_head(3 + 2 * len(methods), title)] if len(groups) > 1 else []
        for kind in kinds:
            for where in view.places:
                held = [task for task in kind.tasks if task in view.tasks(where)]
                found: dict[str, list[CellRow]] = {}
                for one in view.methods(where):
                    cells = view.task_cells(where, one, scopes=group, tasks=held)
                    if not cells:
                        continue
                    found[one] = cells
                    scope = [group[0][0], " ".join(framework for _, framework in group)]
                    scope += [view.study.prompt, view.study.examples, where, kind.factor, kind.level]
                    rows.append(group_row([*scope, len(held), one], cells, _METRICS, view.study))
                if where == view.main_place and found:
                    block.append(_line(view, kind, found, methods))
        blocks.append(block)
    width = len(methods)
    header = [
        *spanned([("CRSR", width), ("DER", width)], 3),
        ["Kind", "Tasks", "D", *(escape(one) for one in methods * 2)],
    ]
    return Sheet(name, rows, tabular("lrr" + "r" * (2 * width), header, blocks))


def _line(
    view: View, kind: Stratum, found: Mapping[str, Sequence[CellRow]], methods: Sequence[str]
) -> list[str]:
    words = kind.level if kind.factor == "reversibility" else f"{kind.factor}: {kind.level}"
    cells = next(iter(found.values()))
    held = len({cell.scope.task for cell in cells})
    line = [escape(words), str(held), str(total(cells, "D"))]
    for metric in ("crsr", "der"):
        line += [share(pool(found[one], metric, view.study)) if one in found else DASH for one in methods]
    return line
