"""Tables of what the benchmark is made of, from workflows and tools: nothing in them depends on a run of a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from undolab.model.files import write_bytes
from undolab.model.tools import Reversibility, ToolSpec
from undolab.model.workflow import Split, Workflow
from undolab.report.evidence import repeats
from undolab.report.tex import escape, tabular
from undolab.stats.text import to_csv

_REPEAT = {
    "harm": "does harm",
    "same": "changes nothing",
    "exists": "is refused",
    "refused": "is refused",
}
_ALL = "workflows"
_CROSSES = "plan crosses domains"
_PARTS = "a planned call has several parts"
_KEY = "lost call: its service honours a key"
_READER = "lost call: a reader shows its effect"
_EFFECT = "main effect "
_AGAIN = "lost call: a repeat "
_MARKS = (
    _ALL,
    _CROSSES,
    _PARTS,
    *(_EFFECT + kind.value.lower() for kind in Reversibility),
    *(_AGAIN + words for words in dict.fromkeys(_REPEAT.values())),
    _KEY,
    _READER,
)
_Rows = list[list[str | int]]


def write(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], split: Split, build: Path, out_dir: Path
) -> list[Path]:
    """Write `tableworkflows` (one split) and `tablecomposition` (all) as .csv and .tex, and return the paths.

    Args:
        workflows: every workflow.
        tools: the catalogue.
        split: the split that `tableworkflows` lists.
        build: holds `conformance/classes.csv`, which says what a repeat of each target call does.
        out_dir: folder of the tables.

    Raises:
        UndolabError: the classes are missing.
    """
    classes = repeats(build)
    listed = _listed([workflow for workflow in workflows if workflow.split is split], tools, classes)
    made_of = _composition(workflows, tools, classes)
    texts = {
        "tableworkflows.csv": to_csv(listed),
        "tableworkflows.tex": _listed_tex(listed),
        "tablecomposition.csv": to_csv(made_of),
        "tablecomposition.tex": _composition_tex(made_of),
    }
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def target(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> ToolSpec:
    """Return the tool whose call is struck: that of the first scenario."""
    return tools[workflow.scenarios[0].tool]


def crosses(workflow: Workflow, tools: Mapping[str, ToolSpec]) -> bool:
    """Return True if the plan calls tools of more than one domain."""
    return len({tools[step.tool].domain for step in workflow.plan}) > 1


def _listed(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], classes: Mapping[str, str]
) -> _Rows:
    table: _Rows = [
        [
            "workflow",
            "task",
            "calls",
            "effects",
            "ordered",
            "target",
            "reversibility",
            "repeat",
            "key",
            "reader",
        ]
    ]
    for workflow in workflows:
        struck = target(workflow, tools)
        table.append(
            [
                workflow.id,
                workflow.name,
                len(workflow.plan),
                len(workflow.effects),
                _yes(bool(workflow.order)),
                struck.name,
                workflow.reversibility.value.lower(),
                _REPEAT[classes[workflow.id]],
                _yes(struck.idempotency_key),
                _yes(struck.observe is not None),
            ]
        )
    return table


def _listed_tex(table: _Rows) -> str:
    lines = []
    for name, task, calls, effects, ordered, struck, *rest in table[1:]:
        wanted = f"{effects}, in order" if ordered == "yes" else str(effects)
        lines.append(
            [escape(str(name)), escape(str(task)), str(calls), wanted, rf"\code{{{escape(str(struck))}}}"]
            + [escape(str(cell)) for cell in rest]
        )
    head = ["Workflow", "Task", "Calls", "Effects", "Call that is lost", "Effect is"]
    return tabular("llrllllcc", [[*head, "A repeat", "Key", "Reader"]], [lines])


def _composition(
    workflows: Sequence[Workflow], tools: Mapping[str, ToolSpec], classes: Mapping[str, str]
) -> _Rows:
    groups = {
        **{split.value: [one for one in workflows if one.split is split] for split in Split},
        "all": list(workflows),
    }
    marks = {one.id: _marks(one, tools, _REPEAT[classes[one.id]]) for one in workflows}
    table: _Rows = [["", *groups]]
    for words in _MARKS:
        table.append([words, *(sum(words in marks[one.id] for one in group) for group in groups.values())])
    return table


def _marks(workflow: Workflow, tools: Mapping[str, ToolSpec], repeat: str) -> set[str]:
    struck = target(workflow, tools)
    holds = {
        _CROSSES: crosses(workflow, tools),
        _PARTS: any(tools[step.tool].sub_writes > 1 for step in workflow.plan),
        _KEY: struck.idempotency_key,
        _READER: struck.observe is not None,
    }
    always = {_ALL, _EFFECT + workflow.reversibility.value.lower(), _AGAIN + repeat}
    return always | {words for words, true in holds.items() if true}


def _composition_tex(table: _Rows) -> str:
    head, *body = table
    header = [["", *(escape(str(name).upper() if name != "all" else "All") for name in head[1:])]]
    lines = [[escape(str(cell)) for cell in row] for row in body]
    return tabular("l" + "r" * (len(head) - 1), header, [lines[:1], lines[1:]])


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
