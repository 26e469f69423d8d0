"""`undolab stats from-counts` and `undolab stats published`: statistics of counts that did not come from a build."""

import argparse
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from undolab.model.errors import UndolabError

if TYPE_CHECKING:
    from undolab.stats.counted import Difference, Report

PUBLISHED = Path("data/published")
_POOLED = "*"
# The stages import what they need when they run: the base install has no numpy.


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the actions to `undolab stats`; without one it computes the statistics of a build."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    counted = actions.add_parser(
        "from-counts", help="every metric, interval and contrast of a file of counts"
    )
    counted.add_argument(
        "file", type=Path, help="CSV with the columns task, model, method, n, d, r and maybe f, dup, miss"
    )
    counted.add_argument(
        "--mode",
        choices=("ours", "published"),
        default="ours",
        help="published: UndoBench's recipe to the digit (default: ours)",
    )
    counted.add_argument(
        "--interval",
        choices=("percentile", "bca"),
        default="percentile",
        help="bootstrap interval (default: percentile)",
    )
    counted.add_argument("--json", action="store_true", help="print JSON")
    counted.set_defaults(run=_from_counts)
    published = actions.add_parser(
        "published",
        help="each published figure beside our recomputation and, where a defect changed it, the corrected one",
    )
    published.set_defaults(run=_published)


def _published(arguments: argparse.Namespace) -> int:
    _need_numpy()
    from undolab.stats.published import write

    found = write(PUBLISHED, arguments.build / "undo", arguments.build / "published")
    for name, figures in found.items():
        told = [figure.agrees for figure in figures]
        corrected = sum(bool(figure.corrected) for figure in figures)
        print(
            f"{name}: {len(told)} published figures; {told.count('yes')} come out as printed, {told.count('no')} do not,"
            f" {told.count('')} cannot be recomputed; {corrected} are corrected for a known defect"
        )
    return 0


def _from_counts(arguments: argparse.Namespace) -> int:
    _need_numpy()
    from undolab.stats.counted import report
    from undolab.stats.counts import read_counts
    from undolab.stats.recipe import Bca, Published, Recipe
    from undolab.stats.text import to_json

    if arguments.mode == "published" and arguments.interval != "percentile":
        raise UndolabError("The published recipe has percentile intervals; leave out --interval or --mode.")
    recipes = {"published": Published, "percentile": Recipe, "bca": Bca}
    recipe = recipes["published" if arguments.mode == "published" else arguments.interval]()
    found = report(read_counts(arguments.file), recipe)
    print(to_json(found) if arguments.json else _page(found), end="")
    return 0


def _need_numpy() -> None:
    if find_spec("numpy") is None:
        raise UndolabError("Statistics need numpy; install the extra: pip install 'undolab[study]'.")


def _page(found: "Report") -> str:
    digits = 4
    sizes = f"{len(found.tasks)} tasks, {len(found.models)} models, {len(found.methods)} methods"
    lines = [
        f"{sizes}; recipe: {found.mode}; {found.interval} intervals, B = {found.replicates:,}, seed {found.seed}"
    ]
    lines += [f"note: {note}" for note in found.notes]
    head = [
        "model",
        "method",
        "tasks",
        "metric",
        "count",
        "value",
        "95 % (tasks)",
        "95 % (Wilson)",
        "dropped",
    ]
    rows = [
        [
            scope.model or _POOLED,
            scope.method or _POOLED,
            str(scope.tasks),
            name,
            "" if metric.num is None else f"{metric.num}/{metric.den}",
            _number(metric.value, digits),
            _bounds(metric.lo, metric.hi, digits),
            "" if metric.num is None else _bounds(metric.wilson_lo, metric.wilson_hi, digits),
            str(metric.dropped or ""),
        ]
        for scope in found.scopes
        for name, metric in scope.metrics.items()
    ]
    lines += ["", f"Metrics ({_POOLED}: all, pooled)", *_table(head, rows)]
    for title, differences in (
        ("Contrasts (a - b)", found.contrasts),
        ("Common support: CRSR over the tasks in which both are capable (a - b)", found.common_support),
        ("Gap closure: (CRSR a - CRSR b) / (1 - CRSR b)", found.gap_closure),
    ):
        if differences:
            lines += ["", title, *_differences(differences, digits)]
    return "\n".join(lines) + "\n"


def _differences(found: "Iterable[Difference]", digits: int) -> list[str]:
    head = ["model", "method", "metric", "a", "b", "tasks", "value", "95 % (tasks)", "p", "p Holm", "m"]
    head += ["p sign flip", "least", "dropped"]
    rows = [
        [
            "a, b" if row.between == "model" else row.model or _POOLED,
            "a, b" if row.between == "method" else row.method or _POOLED,
            row.metric,
            row.a,
            row.b,
            str(row.tasks),
            _number(row.value, digits),
            _bounds(row.lo, row.hi, digits),
            "" if row.metric == "gap_closure" else _number(row.p, digits),
            "" if row.metric == "gap_closure" else _number(row.p_holm, digits),
            str(row.family_size or ""),
            "" if row.p_sign_flip is None else _number(row.p_sign_flip, digits),
            "" if row.p_sign_flip_least is None else _number(row.p_sign_flip_least, digits),
            str(row.dropped or ""),
        ]
        for row in found
    ]
    return _table(head, rows)


def _number(value: float | None, digits: int) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def _bounds(low: float | None, high: float | None, digits: int) -> str:
    return "undefined" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return aligned lines; a column without any text is left out."""
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    widths = {place: max(len(head[place]), *(len(row[place]) for row in rows)) for place in kept}
    return ["  ".join(row[place].ljust(widths[place]) for place in kept).rstrip() for row in (head, *rows)]
