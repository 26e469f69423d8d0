"""What others' tools read: the crate of a run and the metadata of the data, the same twice, and accepted by their validators."""

import csv
import hashlib
import json
import os
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.release import crate, croissant
from undolab.release.jobs import Job

ROOT = Path(__file__).parents[2]
VALIDATORS = ROOT / ".cache/validators-venv/bin"
EPOCH = 1767225600
FILES = {
    "README.md": "# Small\n",
    "Snakefile": "rule all:\n",
    "workflow/rules/a.smk": "rule a:\n",
    "config/config.yaml": "seeds: [1]\n",
    "data/records/gemma/test.jsonl.zst": "records",
    "build/wire/W1.jsonl.zst": "wire",
    "build/verdicts/W1.jsonl": "{}\n",
    "build/stats/metrics.csv": "method,N,value,text and more,flag\nnone,60,0.075000,a,True\nB0,60,,b,False\n",
    "build/figures/figure2.pdf": "%PDF\n",
}
JOBS = [
    Job(
        rule="trials",
        command="undolab trials run --workflow W1 2>&1 | tee build/logs/t.log",
        inputs=["config/config.yaml", "data/records/gemma/test.jsonl.zst"],
        outputs=["build/verdicts/W1.jsonl", "build/wire/W1.jsonl.zst"],
    ),
    Job(
        rule="stats",
        command="undolab stats --build build 2>&1 | tee build/logs/s.log",
        inputs=["build/verdicts/W1.jsonl"],
        outputs=["build/stats/metrics.csv"],
    ),
]


def _tree(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def _graph(folder: Path) -> dict[str, dict[str, Any]]:
    document = json.loads((folder / "ro-crate-metadata.json").read_text())
    return {entity["@id"]: entity for entity in document["@graph"]}


def _crate(root: Path) -> Path:
    crate.write(root, root / "build/crate", JOBS, ["workflow/rules/a.smk"], EPOCH)
    return root / "build/crate"


def _croissant(root: Path) -> Path:
    out = root / "build/metadata/croissant.json"
    croissant.write(root, root / "build", out, EPOCH)
    return out


def test_a_crate_holds_every_file_of_the_run_with_its_digest(tmp_path: Path) -> None:
    """Files are copied under their own names, and each job names what it read and what it made."""
    folder = _crate(_tree(tmp_path))
    graph = _graph(folder)

    for name in {path for job in JOBS for path in (*job.inputs, *job.outputs)}:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()
        assert graph[name]["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    job = graph["#job-stats-1"]
    assert job["object"] == [{"@id": "build/verdicts/W1.jsonl"}]
    assert job["result"] == [{"@id": "build/stats/metrics.csv"}]
    assert graph[job["instrument"]["@id"]]["name"] == "undolab stats --build"
    assert graph["#run"]["object"] == [{"@id": name} for name in JOBS[0].inputs]
    assert graph["./"]["datePublished"] == "2026-01-01"
    assert "build/figures/figure2.pdf" not in graph


def test_exports_are_the_same_twice_and_name_no_place(tmp_path: Path) -> None:
    """Two folders, years apart by the files' times, give the same bytes, without a path of the machine (field case B22)."""
    trees = [_tree(tmp_path / "a"), _tree(tmp_path / "b" / "c")]
    for path in trees[1].rglob("*"):
        os.utime(path, (1, 1))

    crates = [(_crate(tree) / "ro-crate-metadata.json").read_bytes() for tree in trees]
    described = [_croissant(tree).read_bytes() for tree in trees]

    assert crates[0] == crates[1] == (_crate(trees[0]) / "ro-crate-metadata.json").read_bytes()
    assert described[0] == described[1]
    assert str(tmp_path).encode() not in crates[0] + described[0]


def test_half_a_run_gets_no_crate(tmp_path: Path) -> None:
    """A file that the run names and the disk lacks is named; so is a run without jobs."""
    tree = _tree(tmp_path)
    (tree / "build/stats/metrics.csv").unlink()
    with pytest.raises(UndolabError, match=r"build/stats/metrics\.csv is missing"):
        _crate(tree)
    with pytest.raises(UndolabError, match="the run is missing"):
        crate.write(tree, tree / "build/crate", [], [], EPOCH)


def test_croissant_names_records_and_data_with_digests_and_columns(tmp_path: Path) -> None:
    """Paths lead from the metadata to the files; columns have the type that their values have."""
    out = _croissant(_tree(tmp_path))
    document = json.loads(out.read_text())

    named = {item["@id"]: item for item in document["distribution"]}
    assert set(named) == {
        "data/records/gemma/test.jsonl.zst", "stats/metrics.csv", "verdicts/W1.jsonl", "wire/W1.jsonl.zst",
    }  # fmt: skip
    for item in named.values():
        path = out.parent / item["contentUrl"]
        assert item["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    (table,) = document["recordSet"]
    assert {field["name"]: field["dataType"] for field in table["field"]} == {
        "method": "sc:Text", "N": "sc:Integer", "value": "sc:Float", "text_and_more": "sc:Text", "flag": "sc:Boolean",
    }  # fmt: skip


def test_croissant_needs_records_and_statistics(tmp_path: Path) -> None:
    """Nothing is described as whole that is not."""
    tree = _tree(tmp_path)
    (tree / "data/records/gemma/test.jsonl.zst").unlink()

    with pytest.raises(UndolabError, match="no records"):
        _croissant(tree)


def test_released_metadata_has_the_digests_of_the_manifest(tmp_path: Path) -> None:
    """What the metadata says of the released data is what the manifest says."""
    from undolab.release import manifest

    out = tmp_path / "croissant.json"
    croissant.write(ROOT, ROOT / "results", out, EPOCH)
    wanted = manifest.read(ROOT)

    for item in json.loads(out.read_text())["distribution"]:
        name = item["@id"] if item["@id"].startswith("data/") else f"results/{item['@id']}"
        assert wanted.get(name, item["sha256"]) == item["sha256"], name


@pytest.mark.slow
@pytest.mark.skipif(
    not (VALIDATORS / "mlcroissant").exists(), reason="no validators here: envs/env.sh validators"
)
def test_the_validators_accept_both_without_a_network(tmp_path: Path) -> None:
    """RO-Crate's validator accepts the crate as a Provenance Run Crate, Croissant's the metadata; and a broken one is refused."""
    tree = _tree(tmp_path)
    folder, described = _crate(tree), _croissant(tree)
    vocabulary = str(files("rocrate") / "data/ro-crate.jsonld")
    command = [str(VALIDATORS / "python"), str(ROOT / "envs/validate.py"), "--vocabulary", vocabulary]

    def run() -> subprocess.CompletedProcess[str]:
        # No proxy leads anywhere, so whatever asks the network fails.
        closed = dict.fromkeys(
            ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
        )
        both = ["--crate", str(folder), "--croissant", str(described)]
        return subprocess.run(
            [*command, *both], check=False, capture_output=True, text=True, env={**os.environ, **closed}
        )

    good = run()
    assert good.returncode == 0, good.stdout + good.stderr
    assert good.stdout.count(": accepted by") == 2

    metadata = folder / "ro-crate-metadata.json"
    metadata.write_text(metadata.read_text().replace("#tool-stats", "#no-tool", 1))
    described.write_text(described.read_text().replace('"cr:Field"', '"cr:Feild"', 1))
    bad = run()
    assert bad.returncode != 0
    assert bad.stdout.count("NOT accepted") == 2


def test_csv_columns_are_what_a_reader_gets(tmp_path: Path) -> None:
    """Every described column is in the header of its file."""
    tree = _tree(tmp_path)
    document = json.loads(_croissant(tree).read_text())
    with (tree / "build/stats/metrics.csv").open(newline="") as file:
        header = next(csv.reader(file))

    columns = [field["source"]["extract"]["column"] for field in document["recordSet"][0]["field"]]
    assert columns == header
