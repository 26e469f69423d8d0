"""`make test-slurm` where there is no Slurm: it says why, and fails nothing."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_without_slurm_the_reason_is_said(tmp_path: Path) -> None:
    """Neither a missing plugin nor missing programs are a failure of the artifact."""
    plugin = tmp_path / "snakemake_executor_plugin_slurm.py"
    for present in (False, True):
        if present:
            plugin.write_text("")
        done = subprocess.run(
            [sys.executable, str(HERE / "one_node.py")],
            env={**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("test-slurm: skipped: ")
