"""The graph as a reviewer runs it. These tests run Snakemake for real, so they take a minute or two together."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.models.store import RecordStore, write_sealed

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("artifact")]
RECORDS = "data/records/gemma3-270m/test.jsonl.zst"


def flip(path: Path) -> None:
    """Change one bit in the middle of a file and put its times back."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_everything_is_rebuilt_and_equal_without_a_network(built: Path) -> None:
    """`snakemake all` ends with the table of what was checked."""
    output = (built.parent / "output.txt").read_text()

    assert "match what was released" in output
    assert "All files are as released" in output


def test_a_second_run_plans_nothing(built: Path, run: Any) -> None:
    """What is built and unchanged is not built again."""
    done = run("snakemake", "--cores", "2", "all", cwd=built)

    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout


@pytest.mark.parametrize(
    "name",
    [RECORDS, "data/workflows/test/RB-PAY-004.yaml", "results/tables/table01.csv", "paper/paper.pdf"],
)
def test_one_changed_bit_fails_verify_and_all_by_name(copy: Path, run: Any, name: str) -> None:
    """A change with its times put back is found by both, and named."""
    flip(copy / name)

    verified = run("undolab", "verify", cwd=copy)
    everything = run("snakemake", "--cores", "2", "all", cwd=copy)

    assert verified.returncode == 1
    assert f"changed: {name}" in verified.stdout
    assert everything.returncode != 0
    assert name in everything.stdout


def test_verify_and_smoke_pass_as_typed(built: Path, run: Any) -> None:
    """The two quick targets of a reviewer pass on a whole tree."""
    for target in ("verify", "smoke"):
        done = run("snakemake", "--cores", "2", target, cwd=built)
        assert done.returncode == 0, done.stdout


def test_a_swapped_completion_reaches_verdict_table_paper_and_demo(copy: Path, run: Any) -> None:
    """Re-sealed records with one other answer change what follows from it, down to the page and the paper's numbers."""
    store = RecordStore(copy / RECORDS)
    rows = [
        msgspec.json.decode(line)
        for path in sorted((copy / "build/verdicts").glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]
    passed = next(r["arm"] for r in rows if r["passed"] and r["arm"]["arm"] == "control")
    arm = f"{passed['workflow']}/{passed['model']}/{passed['framework']}/NONE/none/{passed['seed']}/control"
    key = _first_record(copy / f"build/wire/{passed['workflow']}.jsonl.zst", arm)
    records = [
        msgspec.structs.replace(
            record, completion=msgspec.structs.replace(record.completion, text="finish: not done")
        )
        if record.key == key
        else record
        for record in store
    ]
    write_sealed(copy / RECORDS, store.header, records)

    done = run("snakemake", "--cores", "2", "build", cwd=copy)

    assert done.returncode == 0, done.stdout
    changed = {name for name in _outputs() if (copy / "build" / name).read_bytes() != _released(copy, name)}
    assert changed >= {f"verdicts/{passed['workflow']}.jsonl", "tables/table01.csv", "demo/index.html"}
    assert (copy / "build/paper/macros.tex").read_text() != (copy.parent / "macros-before.tex").read_text()


@pytest.fixture(autouse=True)
def _keep_macros(request: pytest.FixtureRequest) -> None:
    if "copy" in request.fixturenames:
        tree = request.getfixturevalue("copy")
        macros = tree / "build/paper/macros.tex"
        (tree.parent / "macros-before.tex").write_bytes(macros.read_bytes())


def _first_record(shard: Path, arm: str) -> str:
    from undolab.model.wire import TurnEvent
    from undolab.wire import read_arms

    lines = dict(read_arms(shard))[arm]
    return next(line.record.split("#")[0] for line in lines if isinstance(line, TurnEvent))


def _outputs() -> list[str]:
    return ["tables/table01.csv", "demo/index.html", *(f"verdicts/{name}.jsonl" for name in _workflows())]


def _workflows() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parents[2].glob("data/workflows/test/*.yaml"))


def _released(tree: Path, name: str) -> bytes:
    return (tree / (name if name.startswith("demo") else f"results/{name}")).read_bytes()


def test_a_foreign_snakemake_is_told_what_comes_first(built: Path, tmp_path: Path) -> None:
    """Without the package in its environment, Snakemake answers in one sentence."""
    (tmp_path / "undolab").mkdir()
    (tmp_path / "undolab/__init__.py").write_text("raise ImportError('no undolab here')\n")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n"],
        cwd=built,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode != 0
    assert "run `make artifact` first" in done.stdout + done.stderr


def test_a_flipped_flag_in_a_resealed_log_names_the_trial(copy: Path, run: Any) -> None:
    """Reconstruction finds a lie that the chain does not show."""
    from undolab.model.files import decompress
    from undolab.wire import LogWriter, read_arms, write_shard

    shard = copy / "build/wire/RB-PAY-004.jsonl.zst"
    logs = {}
    liar = ""
    for name, lines in read_arms(shard):
        log = LogWriter()
        for line in lines:
            fields = {f: getattr(line, f) for f in line.__struct_fields__ if f not in ("seq", "prev")}
            if not liar and fields.get("committed_externally"):
                liar, fields["committed_externally"] = name, False
            log.add(type(line), **fields)
        logs[name] = log.data()
    write_shard(shard, logs)

    done = run("undolab", "reconstruct", str(shard), cwd=copy)

    assert decompress(shard.read_bytes())
    assert done.returncode == 1
    assert liar in done.stdout


def test_the_statistics_name_the_size_of_every_cell(built: Path) -> None:
    """Each row of the released statistics says N, N exposed, D, R and F."""
    cells = json.loads((built / "build/stats/metrics.json").read_text())["cells"]

    assert all({"N", "exposed", "D", "R", "F"} <= cell.keys() for cell in cells)
