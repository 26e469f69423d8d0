"""The stage as a whole: which files it writes, and that their bytes depend on the verdicts alone."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.verdict import Verdict
from undolab.stats.matrix import Matrix
from undolab.stats.rows import read_contrasts, read_metrics
from undolab.stats.run import run
from undolab.stats.text import fixed, to_json

_AGAIN = """
import sys
from pathlib import Path
import msgspec
from undolab.stats import matrix_from, run
verdicts, config, out = map(Path, sys.argv[1:])
paths = sorted(verdicts.glob("*.jsonl"), reverse=True)
run(paths, matrix_from(msgspec.json.decode(config.read_bytes()), [p.stem for p in paths]), out)
"""


def _digests(paths: list[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_bytes_depend_on_nothing_but_the_verdicts(
    tmp_path: Path,
    study_rows: list[Verdict],
    study_matrix: Matrix,
    study_config: dict[str, Any],
    save_rows: Callable[[list[Verdict], Path], list[Path]],
) -> None:
    """B22: another process with other threads, vectors, hash seed, time zone, locale and folder writes the same bytes."""
    paths = save_rows(study_rows, tmp_path / "verdicts")
    first = run(paths, study_matrix, tmp_path / "a")
    (tmp_path / "config.json").write_bytes(msgspec.json.encode(study_config))
    env = os.environ | {
        "LC_ALL": "C",
        "OPENBLAS_CORETYPE": "Nehalem",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONHASHSEED": "9",
        "TZ": "Asia/Tokyo",
    }
    out = tmp_path / "elsewhere" / "b"
    command = [
        sys.executable,
        "-c",
        _AGAIN,
        str(tmp_path / "verdicts"),
        str(tmp_path / "config.json"),
        str(out),
    ]
    subprocess.run(command, check=True, env=env)
    assert _digests(first) == _digests([out / path.name for path in first])
    assert [path.name for path in first] == [
        "metrics.json",
        "contrasts.json",
        "metrics.csv",
        "tasks.csv",
        "contrasts.csv",
        "bca.csv",
        "equivalence.csv",
        "gap_closure.csv",
        "pass_k.csv",
        "power.csv",
        "sign_flip.csv",
        "stability.csv",
        "strata.csv",
        "support.csv",
    ]


def test_files_are_read_back_as_written(
    tmp_path: Path,
    study_rows: list[Verdict],
    study_matrix: Matrix,
    save_rows: Callable[[list[Verdict], Path], list[Path]],
) -> None:
    """`metrics.json` holds a row for each cell and for each cell and task, and undefined is null."""
    run(save_rows(study_rows, tmp_path / "verdicts"), study_matrix, tmp_path)
    stats = read_metrics(tmp_path)
    assert len(stats.cells) == 8 * (1 + 12)
    cell = stats.cell("gemma3-270m", "F1", "POST_MUTATION_PRE_ACK", "B6", "RB-STOR-005")
    assert (cell.N, cell.D, cell.metrics["crsr"].value, cell.interval) == (5, 0, None, "wilson")
    total = stats.cell("gemma3-270m", "F1", "POST_MUTATION_PRE_ACK", "B6")
    assert (total.N, total.interval) == (60, "cluster_bootstrap")
    assert (total.scope.prompt, total.scope.examples) == ("runbook", "plain")
    assert len(read_contrasts(tmp_path)) == 48
    header, *lines = (tmp_path / "metrics.csv").read_text().splitlines()
    assert len(lines) == 8 * 14
    assert header.endswith("metric,num,den,value,lo,hi,dropped")
    stor = [line for line in (tmp_path / "tasks.csv").read_text().splitlines() if "RB-STOR-005" in line]
    assert all(line.endswith(",") for line in stor)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.100000"),
        (2 / 3, "0.666667"),
        (-1e-9, "0.000000"),
        (-0.5, "-0.500000"),
        (None, "null"),
        (1e-7, "0.000000"),
    ],
)
def test_decimals_are_fixed(value: float | None, text: str) -> None:
    """Floats have six decimals, no exponent and no negative zero."""
    assert fixed(value) == text


def test_json_is_sorted_and_reads_back() -> None:
    """Keys are sorted at every level, and the text is valid JSON of the same value."""
    value = {"b": [1, 2.5, None, {}], "a": {"z": "é\n", "y": []}}
    text = to_json(value)
    assert json.loads(text) == value
    assert text.index('"a"') < text.index('"b"')
    assert text.index('"y"') < text.index('"z"')
    assert "2.500000" in text
