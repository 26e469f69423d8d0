"""Captions of tables and figures, so that each can be read alone: model, framework, prompt mode, worked examples, N."""

from undolab.report.numbering import Item, items
from undolab.report.view import View
from undolab.report.words import boundary, listed
from undolab.stats.rows import MetricsFile

_ALONE = "No model took part."


def captions(stats: MetricsFile) -> dict[str, str]:
    """Return plain-text captions by name (`TableOne`, `FigureTwo`, ...)."""
    view = View(stats)
    place = boundary(view.main_place)
    facts = {"B": f"{stats.study.replicates:,}", "place": place[0].lower() + place[1:]}
    return {item.macro: f"{item.caption.format(**facts)} {_tail(item, view)}" for item in items()}


def _tail(item: Item, view: View) -> str:
    if not item.scoped:
        return _ALONE
    scope = _scope(view)
    return item.lead + (scope[0].lower() + scope[1:] if item.lead else scope)


def _scope(view: View) -> str:
    study = view.study
    models = f"{'Models' if len(view.models) > 1 else 'Model'} {listed(view.models)}"
    frameworks = f"{'frameworks' if len(view.frameworks) > 1 else 'framework'} {listed(view.frameworks)}"
    return f"{models}, {frameworks}, prompt mode {study.prompt}, worked examples {study.examples}; {_sizes(view)}."


def _sizes(view: View) -> str:
    """Return the size of a cell of one model, framework, boundary and method, which may differ between boundaries."""
    sizes: dict[tuple[int, int], list[str]] = {}
    for place in view.places:
        cells = view.task_cells(place, view.methods(place)[0], scopes=view.scopes[:1])
        sizes.setdefault((len(cells), max((cell.N for cell in cells), default=0)), []).append(place)
    (tasks, seeds), _ = max(sizes.items(), key=lambda item: (len(item[1]), item[0]))
    words = f"N = {tasks * seeds} pairs a cell ({tasks} tasks, {seeds} seeds)"
    others = [
        f"{few * each} ({few} tasks) at {boundary(place).lower()}"
        for (few, each), places in sizes.items()
        for place in places
        if (few, each) != (tasks, seeds)
    ]
    return "; ".join([words, *others])
