"""Tables U1 to U3 of the undo part as CSV and TeX: policies over all histories, models' choices, times of a recovery."""

import statistics
from pathlib import Path
from typing import Any

from undolab.model.files import write_bytes
from undolab.report.tex import escape, tabular
from undolab.report.undo_data import (
    BRANCH_NAMES,
    POLICY_NAMES,
    Histories,
    Latency,
    Study,
    histories,
    latency,
    study,
)
from undolab.report.words import percent
from undolab.stats.text import to_csv

_COUNTS = (
    "tasks", "eligible", "recovered", "collateral", "victim_changed", "wrong_receipt", "escalated", "claims_true",
    "claims_false", "claims_open",
)  # fmt: skip


def write(build: Path, measurements: Path, out_dir: Path) -> list[Path]:
    """Write `tableU1` to `tableU3` as .csv and .tex into `out_dir` and return the paths; sources as for the figures.

    Raises:
        UndolabError: one of these is missing.
    """
    counts, models, times = histories(build), study(build), latency(measurements)
    texts = {
        "tableU1.csv": to_csv(_csv1(counts)),
        "tableU1.tex": _tex1(counts),
        "tableU2.csv": to_csv(_csv2(models)),
        "tableU2.tex": _tex2(models),
        "tableU3.csv": to_csv(_csv3(times)),
        "tableU3.tex": _tex3(times),
    }
    for name, text in texts.items():
        write_bytes(out_dir / name, text.encode())
    return [out_dir / name for name in texts]


def _csv1(counts: Histories) -> list[list[Any]]:
    head = ["policy", "histories", "eligible", "recovered", "collateral", "visible", "provenance"]
    rows: list[list[Any]] = [head]
    for policy, found in counts.shown.items():
        sums = [found[name] for name in ("eligible", "recovered", "collateral")]
        harm = [counts.damage[policy][name] for name in ("visible", "provenance")]
        rows.append([policy, counts.histories, *sums, *harm])
    return rows


def _tex1(counts: Histories) -> str:
    rules = r"\cmidrule(lr){2-3}\cmidrule(lr){4-7}"
    header = [
        ["", r"\multicolumn{2}{c}{Recovered exactly}", r"\multicolumn{4}{c}{Others' work damaged}"],
        [rules],
        ["Policy", r"of eligible", r"\%", "histories", r"\%", "visibly", "in whose it is"],
    ]
    published: list[list[str]] = []
    ours: list[list[str]] = []
    for policy, found in counts.shown.items():
        harm = counts.damage[policy]
        row = [
            escape(POLICY_NAMES[policy]),
            f"{found['recovered']}/{found['eligible']}",
            percent(found["recovered"] / found["eligible"]),
            str(found["collateral"]),
            percent(found["collateral"] / counts.histories),
            str(harm["visible"]),
            str(harm["provenance"]),
        ]
        (ours if "(ours)" in POLICY_NAMES[policy] else published).append(row)
    return tabular("lrrrrrr", header, [published, ours])


def _csv2(models: Study) -> list[list[Any]]:
    rows: list[list[Any]] = [["model", "prompt", "branch", *_COUNTS]]
    for model, prompt in models.rows():
        for branch in BRANCH_NAMES:
            cell = models.cell(model, prompt, branch)
            rows.append([model, prompt, branch, *(cell[name] for name in _COUNTS)])
    return rows


def _tex2(models: Study) -> str:
    header = [
        ["Branch", "recovered", "peers' work lost", "other run hit", "reports true", "reports false", "open"],
    ]
    blocks = []
    for model, prompt in models.rows():
        any_cell = models.cell(model, prompt, "mapped")
        told = f"{model}, {prompt} prompt: {any_cell['tasks']} tasks, wrong receipt chosen in {any_cell['wrong_receipt']},"
        told += f" escalated in {any_cell['escalated']}"
        block = [[rf"\multicolumn{{7}}{{l}}{{\textit{{{escape(told)}}}}}"]]
        for branch, name in BRANCH_NAMES.items():
            cell = models.cell(model, prompt, branch)
            claims = [str(cell[f"claims_{kind}"]) for kind in ("true", "false", "open")]
            reported = sum(cell[f"claims_{kind}"] for kind in ("true", "false", "open")) > 0
            block.append(
                [escape(name), f"{cell['recovered']}/{cell['eligible']}", str(cell["collateral"]), str(cell["victim_changed"])]
                + (claims if reported else ["--"] * 3)
            )  # fmt: skip
        blocks.append(block)
    return tabular("lrrrrrr", header, blocks)


def _csv3(times: Latency) -> list[list[Any]]:
    head = ["policy", "n", "median_us", "p95_us", "p99_us"]
    return [head, *([case, *_cuts(found)] for case, found in times.microseconds.items())]


def _tex3(times: Latency) -> str:
    header = [["", "n", r"median, ms", r"95th of 100, ms", r"99th of 100, ms"]]
    rows = []
    for case, found in times.microseconds.items():
        n, *cuts = _cuts(found)
        rows.append([escape(POLICY_NAMES[case]), str(n), *(f"{value / 1000:.2f}" for value in cuts)])
    return tabular("lrrrr", header, [rows[:-1], rows[-1:]])


def _cuts(found: list[float]) -> tuple[int, float, float, float]:
    """Return the number of samples, their median, and the 95th and 99th of a hundred (linear interpolation)."""
    cuts = statistics.quantiles(found, n=100, method="inclusive")
    return len(found), statistics.median(found), cuts[94], cuts[98]
