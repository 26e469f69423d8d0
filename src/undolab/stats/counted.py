"""Every metric, interval and contrast of a file of counts: pooled, by model, by method, by both, on shared draws."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec

from undolab.stats.counts import CountRow, Counts
from undolab.stats.intervals import Interval, wilson
from undolab.stats.recipe import Recipe
from undolab.stats.rows import in_family
from undolab.stats.sides import GAP, NEEDS, RATIOS, REPLICATES, SEED, Side
from undolab.stats.signflip import sign_flip

_NAMED = 3


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one scope; the counts are None where it is a difference of two ratios."""

    num: int | None
    den: int | None
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int
    """Replicates without a value."""
    wilson_lo: float | None
    wilson_hi: float | None


class ScopeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One scope; a model or method of None is pooled over."""

    scope: str
    """`pooled`, `model`, `method` or `model_method`."""
    model: str | None
    method: str | None
    tasks: int
    counts: dict[str, int]
    metrics: dict[str, Metric]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """a against b in one scope, on shared draws; Holm's family are the scope's pairs on one metric."""

    between: str
    """`method` or `model`."""
    model: str | None
    """The model within which methods are compared; None: all, pooled."""
    method: str | None
    """The method within which models are compared; None: all, pooled."""
    metric: str
    a: str
    b: str
    tasks: int
    """Tasks that were drawn."""
    tasks_both: int
    """Those of them in which both sides have a row."""
    value: float | None
    lo: float | None
    hi: float | None
    dropped: int
    p: float | None = None
    p_holm: float | None = None
    family_size: int = 0
    p_sign_flip: float | None = None
    p_sign_flip_least: float | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that a file of counts gives."""

    mode: str
    interval: str
    replicates: int
    seed: int
    tasks: list[str]
    models: list[str]
    methods: list[str]
    notes: list[str]
    """What a reader must know: assumed columns, missing rows, undefined metrics."""
    scopes: list[ScopeRow]
    contrasts: list[Difference]
    """a minus b."""
    common_support: list[Difference]
    """The difference in CRSR over the tasks in which both sides have a capable trial."""
    gap_closure: list[Difference]
    """(CRSR_a - CRSR_b) / (1 - CRSR_b): the share of what b leaves undone that a does."""


class _Comparison(NamedTuple):
    between: str
    model: str | None
    method: str | None
    pairs: list[tuple[str, str]]


class _Versus(NamedTuple):
    """Two sides over the same tasks."""

    a: str
    b: str
    left: Side
    right: Side
    tasks: int


_Sides = dict[tuple[str, tuple[str, ...]], Side]
"""Sides that several pairs share, by name and tasks."""


def report(counts: Counts, recipe: Recipe) -> Report:
    """Return everything that the counts give, by the recipe.

    Raises:
        UndolabError: a count is too large to be added exactly.
    """
    rows = counts.rows
    models, methods = _levels(row.model for row in rows), _levels(row.method for row in rows)
    metrics = [name for name in (*RATIOS, GAP) if NEEDS.get(name, name) in (name, *counts.given)]
    scopes = [
        _scope(found, model, method, metrics, recipe)
        for model, method in _scopes(models, methods)
        if (found := _within(rows, model, method))
    ]
    contrasts: list[Difference] = []
    support: list[Difference] = []
    closure: list[Difference] = []
    for compared in _comparisons(models, methods):
        inside: dict[str, list[CountRow]] = {}
        for row in _within(rows, compared.model, compared.method):
            inside.setdefault(getattr(row, compared.between), []).append(row)
        sides: _Sides = {}
        pooled = [_versus(inside, pair, recipe, sides, capable=False) for pair in compared.pairs]
        for metric in metrics:
            contrasts += _family(metric, compared, pooled, recipe)
        common = [_versus(inside, pair, recipe, sides, capable=True) for pair in compared.pairs]
        support += _family("crsr", compared, common, recipe)
        if compared.between == "method":
            closure += [_closure(compared, versus, recipe) for versus in pooled]
    return Report(
        mode=recipe.mode,
        interval=recipe.interval_name,
        replicates=REPLICATES,
        seed=SEED,
        tasks=sorted({row.task for row in rows}),
        models=models,
        methods=methods,
        notes=_notes(counts, models, methods),
        scopes=scopes,
        contrasts=contrasts,
        common_support=support,
        gap_closure=closure,
    )


def _scopes(models: Sequence[str], methods: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    yield None, None
    yield from ((model, None) for model in models)
    yield from ((None, method) for method in methods)
    yield from ((model, method) for model in models for method in methods)


def _comparisons(models: Sequence[str], methods: Sequence[str]) -> Iterator[_Comparison]:
    """Yield what is compared: a later method minus an earlier one, a model minus a later one, as published."""
    by_method = [(b, a) for a, b in combinations(methods, 2)]
    by_model = list(combinations(models, 2))
    for model in (None, *models):
        yield _Comparison("method", model, None, by_method)
    for method in (None, *methods):
        yield _Comparison("model", None, method, by_model)


def _within(rows: Sequence[CountRow], model: str | None, method: str | None) -> list[CountRow]:
    return [row for row in rows if model in (None, row.model) and method in (None, row.method)]


def _versus(
    inside: dict[str, list[CountRow]],
    pair: tuple[str, str],
    recipe: Recipe,
    sides: _Sides,
    *,
    capable: bool,
) -> _Versus:
    """Return both sides over the tasks that either has, or over those in which both have a capable trial."""
    left, right = (inside.get(name, []) for name in pair)
    if capable:
        tasks = {row.task for row in left if row.d} & {row.task for row in right if row.d}
    else:
        tasks = {row.task for row in (*left, *right)}
    chosen = tuple(sorted(tasks))
    for name, rows in zip(pair, (left, right), strict=True):
        if (name, chosen) not in sides:
            sides[name, chosen] = Side(rows, chosen, recipe)
    a, b = pair
    return _Versus(a, b, sides[a, chosen], sides[b, chosen], len(chosen))


def _levels(names: Iterable[str]) -> list[str]:
    """Return the names as a person would sort them: `none` first, B2 before B10."""

    def key(name: str) -> tuple[bool, list[tuple[int, int, str]], str]:
        parts = re.findall(r"[0-9]+|[^0-9]+", name)
        return name != "none", [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts], name

    return sorted(set(names), key=key)


def _scope(
    rows: Sequence[CountRow], model: str | None, method: str | None, metrics: Sequence[str], recipe: Recipe
) -> ScopeRow:
    tasks = sorted({row.task for row in rows})
    side = Side(rows, tasks, recipe)
    found = {}
    for metric in metrics:
        value = side.value(metric)
        bounds = recipe.interval(value, side.replicates(metric), side.left_out(metric))
        num = den = None
        flat = Interval(None, None, 0)
        if metric in RATIOS:
            num, den = (side.total[name] for name in RATIOS[metric])
            flat = wilson(num, den)
        found[metric] = Metric(
            num=num,
            den=den,
            value=recipe.rounded(value),
            **bounds._asdict(),
            wilson_lo=recipe.rounded(flat.lo),
            wilson_hi=recipe.rounded(flat.hi),
        )
    within = [name for name, level in (("model", model), ("method", method)) if level is not None]
    return ScopeRow(
        scope="_".join(within) or "pooled",
        model=model,
        method=method,
        tasks=len(tasks),
        counts=side.total,
        metrics=found,
    )


def _family(metric: str, compared: _Comparison, pairs: Sequence[_Versus], recipe: Recipe) -> list[Difference]:
    found = []
    for versus in pairs:
        a, b = versus.left.value(metric), versus.right.value(metric)
        value = None if a is None or b is None else a - b
        spread = versus.left.replicates(metric) - versus.right.replicates(metric)
        left_out = versus.left.left_out(metric) - versus.right.left_out(metric)
        flip = None
        if metric in RATIOS:
            flip = sign_flip(versus.left.by_task(metric), versus.right.by_task(metric))
        found.append(
            msgspec.structs.replace(
                _row(metric, compared, versus, value, recipe.interval(value, spread, left_out), recipe),
                p=recipe.p(value, spread) if versus.tasks else None,
                p_sign_flip=recipe.rounded(flip.p) if flip else None,
                p_sign_flip_least=recipe.rounded(flip.p_least) if flip else None,
            )
        )
    return in_family(found, recipe.holm([row.p for row in found]))


def _closure(compared: _Comparison, versus: _Versus, recipe: Recipe) -> Difference:
    a, b = versus.left.value("crsr"), versus.right.value("crsr")
    value = None if a is None or b is None or b == 1 else (a - b) / (1 - b)
    replicates, left_out = (
        recipe.ratio(ours - theirs, 1 - theirs)
        for ours, theirs in (
            (versus.left.replicates("crsr"), versus.right.replicates("crsr")),
            (versus.left.left_out("crsr"), versus.right.left_out("crsr")),
        )
    )
    bounds = recipe.interval(value, replicates, left_out)
    return _row("gap_closure", compared, versus, value, bounds, recipe)


def _row(
    metric: str, compared: _Comparison, versus: _Versus, value: float | None, bounds: Interval, recipe: Recipe
) -> Difference:
    if not versus.tasks:
        value, bounds = None, Interval(None, None, REPLICATES)
    return Difference(
        between=compared.between,
        model=compared.model,
        method=compared.method,
        metric=metric,
        a=versus.a,
        b=versus.b,
        tasks=versus.tasks,
        tasks_both=len(versus.left.tasks & versus.right.tasks),
        value=recipe.rounded(value),
        **bounds._asdict(),
    )


def _notes(counts: Counts, models: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Say what was assumed, what is not there and what is undefined."""
    notes = []
    if "f" not in counts.given:
        notes.append(
            "There is no column f: RSR counts r / n, a lower bound, equal to it where no fault arm passes without its control."
        )
    notes += [
        f"There is no column {column}: no {metric.upper()}."
        for metric, column in NEEDS.items()
        if column not in counts.given
    ]
    tasks = sorted({row.task for row in counts.rows})
    have = {(row.task, row.model, row.method) for row in counts.rows}
    lost = [" / ".join(key) for t in tasks for m in models for k in methods if (key := (t, m, k)) not in have]
    if lost:
        notes.append(
            f"Rows that other tasks, models and methods have, {len(lost)} in number, are not there ({_some(lost)}): what"
            " is pooled compares unlike tasks; look at the common support."
        )
    empty = [task for task in tasks if not any(row.d for row in counts.rows if row.task == task)]
    if empty:
        notes.append(f"No trial is capable in {len(empty)} of {len(tasks)} tasks ({_some(empty)}).")
    if len(tasks) == 1:
        notes.append("There is one task: tasks cannot be drawn, so there are no bootstrap intervals.")
    return notes


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
