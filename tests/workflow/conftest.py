"""A tree in which Snakemake can plan: the real rules, inputs by link, and a configuration of the test's own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
Plan = Callable[..., str]
STUDY = {
    "models": ["gemma3-270m"],
    "frameworks": ["F1"],
    "boundaries": ["PRE_MUTATION"],
    "methods": ["none"],
    "prompt": "runbook",
    "examples": "plain",
}
"""What the studies of these tests share."""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return a function that plans a target under given side studies, with `made` records, and returns what is said."""
    for name in ("Snakefile", "workflow", "profiles", "paper", "demo", "src", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "data").mkdir()
    for path in (ROOT / "data").iterdir():
        if path.name != "records":
            (tmp_path / "data" / path.name).symlink_to(path)
    shutil.copy(ROOT / "manifest.sha256", tmp_path)

    def command(sides: dict[str, object], *words: str, made: Sequence[tuple[str, str]] = ()) -> str:
        whole = yaml.safe_load((ROOT / "config/config.yaml").read_text())
        study = {**STUDY, "split": "test", "seeds": [1, 2, 3, 4, 5]}
        whole = json.loads(json.dumps({**whole, "study": study, "side_studies": sides}))
        (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(whole))
        for name, split in (("gemma3-270m", "test"), *made):
            path = tmp_path / f"data/records/{name}/{split}.jsonl.zst"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "-n", *words],
            cwd=tmp_path,
            env={**os.environ, "TEX": "no"},
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.stdout

    return command
