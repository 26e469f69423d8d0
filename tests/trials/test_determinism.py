import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = """
import sys
from pathlib import Path
from undolab.cli import main
chosen = ["--workflow", "RB-GIT-004", "--workflow", "RB-PAY-005"]
sys.exit(main(["trials", "run", "--agent", "scripted:verify-first", *chosen, "--out", sys.argv[1]]))
"""


def digests(out: Path, **environment: str) -> dict[str, str]:
    subprocess.run(
        [sys.executable, "-c", CODE, str(out)],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def test_two_runs_in_two_places_and_time_zones_give_the_same_bytes(tmp_path: Path) -> None:
    """Trials depend on their inputs alone, not on hash seed, time zone, locale or folder."""
    first = digests(tmp_path / "a", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    second = digests(tmp_path / "b/c", PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C.UTF-8")

    assert len(first) == 8
    assert all(name.endswith(".jsonl.zst") for name in first)
    assert first == second
