"""B6 of the field cases: the trial runner dies between an effect and its bookkeeping, anywhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import os, sys
from undolab.cli import main

def deadly(holder, name, left):
    inner = getattr(holder, name)
    def outer(*args, **kwargs):
        nonlocal left
        left -= 1
        done = inner(*args, **kwargs)
        if left == 0:
            os._exit(9)
        return done
    setattr(holder, name, outer)

out, point, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
if point == "effect":
    import undolab.world
    deadly(undolab.world.World, "call", number)
elif point == "log":
    import undolab.wire
    deadly(undolab.wire.LogWriter, "add", number)
elif point == "file":
    import undolab.trials.output as output
    deadly(output, "write_bytes", number)
chosen = ["--workflow", "RB-DB-005", "--workflow", "RB-PAY-005"]
sys.exit(main(["trials", "run", "--agent", "scripted:always-retry", *chosen, "--out", out]))
"""


def start(out: Path, point: str = "none", number: int = 0) -> int:
    """Run the trials of two workflows; the process dies right after the given event."""
    return subprocess.run(
        [sys.executable, "-c", CODE, str(out), point, str(number)],
        cwd=ROOT,
        env=dict(os.environ),
        check=False,
        capture_output=True,
    ).returncode


def files(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a run that nothing interrupts."""
    out = tmp_path_factory.mktemp("whole")
    assert start(out) == 0
    return files(out)


@pytest.mark.parametrize(
    ("point", "number"), [("effect", 3), ("effect", 170), ("log", 40), ("file", 2), ("file", 5)]
)
def test_b6_a_killed_run_leaves_only_whole_files_and_runs_again_to_the_same_bytes(
    whole: dict[str, bytes], tmp_path: Path, point: str, number: int
) -> None:
    """After a commit, a log line or a file: no half trial stands, and the next run gives what an unbroken one gives.

    A field case B6.
    """
    assert start(tmp_path, point, number) == 9
    assert files(tmp_path).items() <= whole.items()

    assert start(tmp_path) == 0
    assert files(tmp_path) == whole
