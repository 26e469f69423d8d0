"""A copy of the work tree in which the whole graph has run once, with the network cut where the system allows it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def _no_network() -> list[str]:
    probe = subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True)
    return ["unshare", "-rn"] if probe.returncode == 0 else []


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a runner of commands of this environment, in a folder, without a network where possible."""
    cut = _no_network() if shutil.which("unshare") else []
    bin_folder = str(Path(sys.executable).parent)

    def command(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", **environment}
        return subprocess.run(
            [*cut, *words],
            cwd=cwd,
            env=variables,
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )

    return command


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """Return a copy of the tracked files in which `snakemake all` has passed."""
    copy = tmp_path_factory.mktemp("artifact") / "copy"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    if (ROOT / ".tools").is_dir():
        (copy / ".tools").symlink_to(ROOT / ".tools")
    done = run("snakemake", "--cores", "2", "all", cwd=copy, HOME=str(copy.parent))
    assert done.returncode == 0, done.stdout
    (copy.parent / "output.txt").write_text(done.stdout)
    return copy


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the built tree that a test may damage."""
    target = tmp_path / "tree"
    shutil.copytree(built, target, symlinks=True)
    return target
