"""UndoBench's figures from its counts by task, by its own recipe, and again without the task that was never faulted."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from undolab.stats.counts import CountRow, read_counts
from undolab.stats.intervals import wilson
from undolab.stats.published.arithmetic import evaluate
from undolab.stats.published.table import UNDEFINED, Figure, figure, read_rows
from undolab.stats.recipe import Published
from undolab.stats.sides import RATIOS, Side

_UNFAULTED = "RB-CLOUD-004"
"""Its fault was aimed at a call number that is never reached: the "fault" arm is a second control."""
_KNOWN = {"task", "model", "method", "stratum", "common", "without", "a", "b"}
_MEASURED = ("control", "rsr", "crsr", "gap", "der")
_Scope = dict[str, str]


class _Study:
    """The counts of one published study: one table by model, one by method, which may be the same."""

    def __init__(
        self, by_model: Sequence[CountRow], by_method: Sequence[CountRow], strata: dict[str, str]
    ) -> None:
        self._by_model, self._by_method, self._strata = by_model, by_method, strata
        self._recipe = Published()

    def rows(self, scope: Mapping[str, str]) -> list[CountRow]:
        """Return the rows of a scope, from the table that tells its levels apart."""
        by_method = "method" in scope or scope.get("a", "").startswith("B")
        return [row for row in (self._by_method if by_method else self._by_model) if self._inside(row, scope)]

    def stat(self, scope: _Scope, metric: str, stat: str) -> float | None:
        """Return one statistic; None where the counts do not give it."""
        if "a" in scope:
            return self._difference(scope, metric, stat)
        rows = self.rows(scope)
        if not rows:
            return None
        side = self._side(rows)
        if metric == "pairs":
            return float(side.total["n"])
        if stat in ("num", "den") or stat.startswith("wilson"):
            num, den = (side.total[name] for name in RATIOS[metric])
            flat = wilson(num, den)
            return {"num": num, "den": den, "wilson_lo": flat.lo, "wilson_hi": flat.hi}[stat]
        value = side.value(metric)
        if stat == "value":
            return value
        bounds = self._recipe.interval(value, side.replicates(metric), side.left_out(metric))
        return {"lo": bounds.lo, "hi": bounds.hi}[stat]

    def _inside(self, row: CountRow, scope: Mapping[str, str]) -> bool:
        if any(
            scope.get(name, getattr(row, name)) != getattr(row, name) for name in ("task", "model", "method")
        ):
            return False
        if scope.get("stratum", self._strata[row.task]) != self._strata[row.task] or row.task == scope.get(
            "without"
        ):
            return False
        return "common" not in scope or all(
            any(other.task == row.task and other.model == model and other.d for other in self._by_model)
            for model in scope["common"].split(",")
        )

    def _side(self, rows: Sequence[CountRow]) -> Side:
        return Side(rows, sorted({row.task for row in rows}), self._recipe)

    def _difference(self, scope: _Scope, metric: str, stat: str) -> float | None:
        level = "method" if scope["a"].startswith("B") else "model"
        rest = {name: value for name, value in scope.items() if name not in ("a", "b")}
        sides = {name: self._side(self.rows({**rest, level: name})) for name in self._levels(level)}
        if not {scope["a"], scope["b"]} <= set(sides):
            return None
        found = {pair: self._compare(sides[pair[0]], sides[pair[1]], metric) for pair in _pairs(sides, scope)}
        values = found[scope["a"], scope["b"]]
        if stat == "p_holm":
            adjusted = self._recipe.holm([one["p"] for one in found.values()])
            return dict(zip(found, adjusted, strict=True))[scope["a"], scope["b"]]
        return values[stat]

    def _compare(self, a: Side, b: Side, metric: str) -> dict[str, float | None]:
        left, right = a.value(metric), b.value(metric)
        value = None if left is None or right is None else left - right
        spread = a.replicates(metric) - b.replicates(metric)
        low, high, _ = self._recipe.interval(value, spread, a.left_out(metric) - b.left_out(metric))
        width = None if low is None or high is None else high - low
        return {
            "difference": value,
            "lo": low,
            "hi": high,
            "width": width,
            "p": self._recipe.p(value, spread),
        }

    def _levels(self, level: str) -> list[str]:
        table = self._by_method if level == "method" else self._by_model
        return sorted({getattr(row, level) for row in table})


def figures(data: Path) -> list[Figure]:
    """Return every figure of `figures.csv` with its recomputation.

    Raises:
        UndolabError: a file cannot be read or a formula has no value.
    """
    strata = {row["task"]: row["reversibility"] for row in read_rows(data / "tasks.csv")}
    duplicates = {
        (row["task"], row["model"], row["method"]): int(row["dup"])
        for row in read_rows(data / "rb7n7-duplicates.csv")
    }
    extension = [
        row._replace(dup=duplicates.get(row[:3], 0)) for row in read_counts(data / "rb7n7-counts.csv").rows
    ]
    studies = {
        "rb3c": _Study(
            read_counts(data / "rb3c-counts-task-model.csv").rows,
            read_counts(data / "rb3c-counts-task-method.csv").rows,
            strata,
        ),
        "rb7n7": _Study(extension, extension, strata),
    }
    return [_figure(row, studies.get(row["study"])) for row in read_rows(data / "figures.csv")]


def _figure(row: Mapping[str, str], study: _Study | None) -> Figure:
    scope = _scope(row["scope"])
    counted = study is not None and _countable(row, scope)
    value: float | None = None
    if study is not None and counted:
        value = study.stat(scope, row["metric"], row["stat"])
    elif row["formula"]:
        value = float(evaluate(row["formula"]))
    return figure(row, value, "counts" if counted else "arithmetic", _corrected(row, scope, study, value))


def _corrected(
    row: Mapping[str, str], scope: _Scope, study: _Study | None, value: float | None
) -> float | str | None:
    defect = row["defect"]
    if row["corrected"]:
        return float(evaluate(row["corrected"]))
    if defect in ("undefined", "never-faulted"):
        return UNDEFINED
    if defect == "p-broken":
        return value
    if defect == "cloud" and study is not None:
        found = study.stat({**scope, "without": _UNFAULTED}, row["metric"], row["stat"])
        return UNDEFINED if found is None else float(found)
    return None


def _countable(row: Mapping[str, str], scope: _Scope) -> bool:
    """Say whether the counts by task give a figure: fault successes are known for RB-3C only, duplicates for B0 only."""
    if not set(scope) <= _KNOWN or row["metric"] not in (*_MEASURED, "pairs"):
        return False
    if row["metric"] == "der":
        return row["study"] == "rb7n7" and scope.get("method") == "B0"
    return row["metric"] != "rsr" or row["study"] == "rb3c"


def _scope(text: str) -> _Scope:
    if text == "pooled":
        return {}
    return {name: value for part in text.split(";") for name, _, value in [part.partition("=")]}


def _pairs(sides: Mapping[str, Side], scope: _Scope) -> Iterator[tuple[str, str]]:
    """Yield the pairs of the scope's Holm family; the asked one as it is asked."""
    for pair in combinations(sides, 2):
        yield (scope["a"], scope["b"]) if set(pair) == {scope["a"], scope["b"]} else pair
