"""Statistics of counts: the published recipe to the digit, ours beside it, and every shape of file."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from undolab.cli import main
from undolab.model.errors import UndolabError
from undolab.stats.counted import Difference, Report, ScopeRow, report
from undolab.stats.counts import CountRow, Counts, read_counts
from undolab.stats.recipe import Bca, Published, Recipe

_DATA = Path(__file__).parents[2] / "data" / "published" / "undobench"
RB3C, RB7N7 = _DATA / "rb3c-counts-task-model.csv", _DATA / "rb7n7-counts.csv"


def _read(path: Path) -> Counts:
    return read_counts(path)


def _counts(*rows: tuple[str, str, str, int, int, int]) -> Counts:
    return Counts([CountRow(*row, row[5], 0, 0) for row in rows], frozenset())


def _scope(found: Report, model: str | None = None, method: str | None = None) -> ScopeRow:
    (row,) = [row for row in found.scopes if (row.model, row.method) == (model, method)]
    return row


def _one(rows: Sequence[Difference], a: str, b: str, metric: str = "crsr", **within: str) -> Difference:
    (row,) = [
        row
        for row in rows
        if (row.a, row.b, row.metric) == (a, b, metric)
        and (row.model, row.method) == (within.get("model"), within.get("method"))
    ]
    return row


def test_the_primary_study_to_four_decimals() -> None:
    """The published intervals of control, RSR, CRSR and of the common support come out as published."""
    found = report(_read(RB3C), Published())
    metrics = _scope(found).metrics
    assert {name: (m.num, m.den, m.value, m.lo, m.hi) for name, m in metrics.items() if m.num} == {
        "control": (2406, 2880, 0.8354, 0.6417, 0.9875),
        "rsr": (1124, 2880, 0.3903, 0.1604, 0.6347),
        "crsr": (1124, 2406, 0.4672, 0.2078, 0.7280),
    }
    assert (metrics["crsr"].wilson_lo, metrics["crsr"].wilson_hi) == (0.4473, 0.4871)
    common = _one(found.common_support, "M1", "M2")
    assert (common.value, common.lo, common.hi, common.tasks) == (-0.0967, -0.2270, 0.0114, 10)


def test_the_extension_to_four_decimals() -> None:
    """The audited p of B2 against B0 is 0.0176, and Holm multiplies the rounded value."""
    found = report(_read(RB7N7), Published())
    pooled = _one(found.contrasts, "B2", "B0")
    assert (pooled.value, pooled.p, pooled.p_holm, pooled.family_size) == (0.1173, 0.0176, 0.0528, 3)
    assert _scope(found, "M3", "B2").metrics["crsr"].value == 0.3333
    assert _scope(found, None, "B5").counts["d"] == 763


def test_the_published_recipe_against_a_loop() -> None:
    """Drawing sorted tasks with `choice`, one replicate at a time, and rounding gives the same digits."""
    found = report(_read(RB7N7), Published())
    rows = _read(RB7N7).rows
    tasks = sorted({row.task for row in rows})
    sums = {
        (task, method): [
            sum(getattr(row, name) for row in rows if (row.task, row.method) == (task, method))
            for name in ("r", "d")
        ]
        for task in tasks
        for method in ("B2", "B0")
    }
    rng, values = np.random.RandomState(42), []
    for _ in range(10_000):
        drawn = rng.choice(tasks, size=len(tasks), replace=True)
        rates = []
        for method in ("B2", "B0"):
            r, d = (sum(sums[task, method][part] for task in drawn) for part in (0, 1))
            rates.append(r / d if d else 0.0)
        values.append(rates[0] - rates[1])
    low, high = np.percentile(values, [2.5, 97.5])
    row = _one(found.contrasts, "B2", "B0")
    assert (row.lo, row.hi) == (round(low, 4), round(high, 4))
    assert row.p == round(2 * np.mean(np.array(values) <= 0), 4)


def test_no_capable_trial_is_zero_as_published_and_undefined_as_ours() -> None:
    """With D = 0 everywhere the published recipe says 0; ours has no value, and drops and counts each replicate."""
    counts = _counts(("T1", "M", "B0", 5, 0, 0), ("T2", "M", "B0", 5, 0, 0))
    published, ours = report(counts, Published()), report(counts, Recipe())
    theirs, mine = (_scope(found).metrics["crsr"] for found in (published, ours))
    assert (theirs.value, theirs.lo, theirs.hi) == (0.0, 0.0, 0.0)
    assert (mine.value, mine.lo, mine.hi, mine.dropped) == (None, None, None, 10_000)


def test_one_task_has_no_interval_of_ours() -> None:
    """A single task cannot be drawn anew: no interval and a note; the published recipe gives one of no width."""
    counts = _counts(("T1", "M", "B0", 5, 4, 2))
    ours = report(counts, Recipe())
    assert (_scope(ours).metrics["crsr"].value, _scope(ours).metrics["crsr"].lo) == (0.5, None)
    assert "one task" in ours.notes[-1]
    crsr = _scope(report(counts, Published())).metrics["crsr"]
    assert (crsr.lo, crsr.hi) == (0.5, 0.5)


def test_missing_rows_are_told_and_the_common_support_leaves_them_out() -> None:
    """A method without one task is pooled over what it has; the note names the row, the common support drops the task."""
    counts = _counts(
        ("T1", "M", "B0", 4, 4, 1),
        ("T2", "M", "B0", 4, 4, 3),
        ("T3", "M", "B0", 4, 4, 4),
        ("T1", "M", "B2", 4, 4, 2),
        ("T2", "M", "B2", 4, 2, 2),
    )
    found = report(counts, Recipe())
    assert "T3 / M / B2" in " ".join(found.notes)
    pooled, common = _one(found.contrasts, "B2", "B0"), _one(found.common_support, "B2", "B0")
    assert (pooled.value, pooled.tasks, pooled.tasks_both) == (4 / 6 - 8 / 12, 3, 2)
    assert (common.value, common.tasks) == (4 / 6 - 4 / 8, 2)
    assert _scope(found, None, "B2").tasks == 2


def test_no_task_in_common_is_undefined() -> None:
    """Two methods that share no capable task have no difference on common support, in either recipe."""
    counts = _counts(("T1", "M", "B0", 4, 4, 1), ("T2", "M", "B2", 4, 4, 1))
    for recipe in (Recipe(), Bca(), Published()):
        row = _one(report(counts, recipe).common_support, "B2", "B0")
        assert (row.tasks, row.value, row.lo, row.p, row.p_holm) == (0, None, None, None, None)


def test_gap_closure_is_the_published_formula() -> None:
    """741/762 over 252/759 closes 95.87 % of the gap; over a method without failures nothing is defined."""
    counts = _counts(
        ("T1", "M", "B2", 960, 759, 252),
        ("T1", "M", "B2-K", 960, 762, 741),
        ("T1", "M", "B9", 960, 762, 762),
    )
    found = report(counts, Published()).gap_closure
    assert _one(found, "B2-K", "B2", "gap_closure").value == 0.9587
    assert _one(found, "B9", "B2-K", "gap_closure").value == 1.0
    again = report(_counts(("T1", "M", "B1", 2, 2, 2), ("T1", "M", "B2", 2, 2, 1)), Recipe()).gap_closure
    assert _one(again, "B2", "B1", "gap_closure").value is None


def test_huge_counts_are_exact_or_refused() -> None:
    """A count of 10**12 keeps its value; sums that a float cannot hold are refused."""
    big = 10**12
    found = report(_counts(("T1", "M", "B0", big, big - 1, 1), ("T2", "M", "B0", big, 1, 0)), Recipe())
    assert _scope(found).metrics["crsr"].value == 1 / big
    rows = [(f"T{i}", "M", f"B{j}", big, big, big) for i in range(100) for j in range(100)]
    with pytest.raises(UndolabError, match="too large"):
        report(_counts(*rows), Recipe())


def test_levels_stand_as_a_person_sorts_them() -> None:
    """`none` comes first and B2 before B10; a method may be called what it likes."""
    names = ["B10", "B2", "none", "all", "B2-K"]
    found = report(_counts(*((t, "M", name, 2, 2, 1) for t in ("T1", "T2") for name in names)), Recipe())
    assert found.methods == ["none", "B2", "B2-K", "B10", "all"]
    assert _scope(found, None, "all").counts["n"] == 4
    assert _scope(found).counts["n"] == 20


def test_the_order_of_rows_changes_nothing() -> None:
    """Rows backwards give the same report."""
    counts = _read(RB7N7)
    assert report(Counts(counts.rows[::-1], counts.given), Recipe()) == report(counts, Recipe())


def test_optional_columns_give_their_metrics() -> None:
    """With dup and miss there are DER and MER, with f the true RSR."""
    rows = [CountRow("T1", "M", "B0", 10, 5, 2, 4, 3, 1), CountRow("T2", "M", "B0", 10, 5, 3, 3, 0, 0)]
    metrics = _scope(report(Counts(rows, frozenset({"f", "dup", "miss"})), Recipe())).metrics
    assert {name: (m.num, m.den) for name, m in metrics.items()} == {
        "control": (10, 20),
        "rsr": (7, 20),
        "crsr": (5, 10),
        "der": (3, 20),
        "mer": (1, 20),
        "gap": (None, None),
    }
    assert metrics["gap"].value == 0.0


@pytest.mark.parametrize("words", [[], ["--mode", "published"], ["--interval", "bca"]])
def test_the_command_prints_a_page_and_json(
    capsys: pytest.CaptureFixture[str], words: Sequence[str], tmp_path: Path
) -> None:
    """Both forms hold every scope and contrast; the command runs anywhere."""
    path = tmp_path / "c.csv"
    with path.open("w", newline="") as out:
        csv.writer(out).writerows(
            [["task", "model", "method", "n", "d", "r"]]
            + [[f"T{i}", m, k, 5, 4, i % 3] for i in range(4) for m in "XY" for k in ("B0", "B2")]
        )
    assert main(["stats", "from-counts", str(path), *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["scopes"]) == 1 + 2 + 2 + 4
    assert len(found["contrasts"]) == 4 * (3 + 3)
    assert main(["stats", "from-counts", str(path), *words]) == 0
    page = capsys.readouterr().out
    assert page.count("crsr") == len(found["scopes"]) + 6 + 6
    assert "Common support" in page


def test_bad_files_end_with_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A bad file, a missing one and two options that exclude each other end with exit code 2 and a sentence."""
    path = tmp_path / "c.csv"
    path.write_text("task,model,method,n,d,r\nA,M,B0,1,2,1\n")
    assert main(["stats", "from-counts", str(path)]) == 2
    assert "row 2, column d: 2 is more than n = 1" in capsys.readouterr().err
    assert main(["stats", "from-counts", str(tmp_path / "no.csv")]) == 2
    assert main(["stats", "from-counts", str(path), "--mode", "published", "--interval", "bca"]) == 2
    assert "leave out --interval" in capsys.readouterr().err
