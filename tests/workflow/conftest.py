"""A tree in which Snakemake can plan: the real rules, inputs by link, and a configuration of the test's own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
Plan = Callable[..., str]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return a function that plans a target under given side studies and returns what Snakemake says."""
    for name in ("Snakefile", "workflow", "profiles", "paper", "demo", "src", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "data").mkdir()
    for path in (ROOT / "data").iterdir():
        if path.name != "records":
            (tmp_path / "data" / path.name).symlink_to(path)
    shutil.copytree(ROOT / "data/records", tmp_path / "data/records")
    shutil.copy(ROOT / "manifest.sha256", tmp_path)

    def command(sides: dict[str, object], *words: str) -> str:
        config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
        config["side_studies"] = sides
        (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(config))
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
