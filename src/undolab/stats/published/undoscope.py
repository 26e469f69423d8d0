"""UndoScope's totals from the rows of our own histories: the published oracle and policies, run by our code."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from undolab.stats.published.table import Figure, figure, read_rows

_TRUE = "True"


def figures(data: Path, undo: Path) -> list[Figure]:
    """Return the published totals beside what our rows give; what we did not run again stands without a recomputation.

    Args:
        data: `data/published/undoscope`.
        undo: holds `histories.csv` and `ablation.csv`.
    """
    rows = [
        *_totals(read_rows(data / "histories-totals.csv"), read_rows(undo / "histories.csv")),
        *_ablation(data, read_rows(undo / "ablation.csv")),
        *_elsewhere(data),
    ]
    return [
        figure({**row, "id": f"undoscope-{number:03d}", "study": "undoscope"}, value, "histories")
        for number, (row, value) in enumerate(rows, start=1)
    ]


_Found = tuple[dict[str, str], float | None]


def _totals(published: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, str]]) -> Iterator[_Found]:
    sums: Counter[tuple[str, str]] = Counter()
    for row in rows:
        sums[row["policy"], "cases"] += 1
        for name in ("eligible", "collateral", "recovered"):
            sums[row["policy"], name] += row[name] == _TRUE
    for given in published:
        policy = given["policy"]
        for name in ("cases", "eligible", "collateral", "recovered"):
            yield _row(given, f"policy={policy}", name, given[name]), sums[policy, name]
        share = sums[policy, "recovered"] / sums[policy, "eligible"] if sums[policy, "eligible"] else None
        yield _row(given, f"policy={policy}", "recovered_of_eligible", given["percent"], "percent"), share


def _ablation(data: Path, rows: Sequence[Mapping[str, str]]) -> Iterator[_Found]:
    """Yield, for each case, in how many of the eight settings our row is the published one; then collateral by guard."""
    ours = {(row["case"], row["omitted"]): row for row in rows}
    settings = sorted({omitted for _, omitted in ours})
    for given in read_rows(data / "ablation.csv"):
        same = sum(
            _as_published(given, omitted, ours.get((given["case"], omitted), {})) for omitted in settings
        )
        yield _row(given, f"case={given['case']}", "settings_as_published", "8"), same
    for given in read_rows(data / "ablation-totals.csv"):
        found = sum(row["omitted"] == given["omitted"] and row["collateral"] == _TRUE for row in rows)
        yield _row(given, f"omitted={given['omitted']}", "collateral", given["collateral"]), found


def _as_published(given: Mapping[str, str], omitted: str, ours: Mapping[str, str]) -> bool:
    wanted = {
        "status": given["base_status"],
        "eligible": given["base_eligible"],
        "recovered": given["base_recovered"],
        "collateral": "False",
    }
    if given["omission"] == omitted:
        harmed = given["changed_collateral"]
        wanted |= {"status": given["changed_status"], "collateral": harmed, "recovered": "False"}
    return all(ours.get(name) == value for name, value in wanted.items())


def _elsewhere(data: Path) -> Iterator[_Found]:
    """Yield what needs their paid models, their machine or their clock: published only."""
    for given in read_rows(data / "models.csv"):
        scope = f"model={given['model']};prompt={given['prompt']};policy={given['policy']}"
        for name in ("tasks", "eligible", "collateral", "recovered", "wrong_receipt_selected", "escalated"):
            yield _row(given, scope, name, given[name]), None
    for given in read_rows(data / "durability.csv"):
        yield _row(given, f"schedule={given['schedule']}", "passed", given["passed"]), None
    for given in read_rows(data / "latency.csv"):
        for name in ("median_us", "p95_us"):
            yield _row(given, f"policy={given['policy']}", name, given[name], "us"), None


def _row(
    given: Mapping[str, str], scope: str, metric: str, published: str, unit: str = "count"
) -> dict[str, str]:
    return {
        "section": given["source"],
        "scope": scope,
        "metric": metric,
        "stat": "value",
        "unit": unit,
        "mark": given["mark"],
        "published": published,
    }
