"""Wall-clock seconds of the README's commands in a fresh clone, with the network cut where the system allows it.

With --record they go to data/measurements/paths.json, from which `undolab readme` takes the README's minutes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _record import record

from undolab.cli.readme import README, between, commands

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("make live",)
"""Needs a build of llama.cpp; its minutes are those of envs/README.md."""


def main() -> None:
    """Time every command of the README's table, each after the one before it, and print the seconds."""
    rows = commands(between((ROOT / README).read_text(encoding="utf-8"), "minutes"))
    probe = (
        shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], check=False).returncode == 0
    )
    cut = ["unshare", "-rn"] if probe else []
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        (clone / ".tools").symlink_to(ROOT / ".tools")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOME": folder}
        for command in rows:
            if command in LEFT_OUT:
                continue
            begin = time.perf_counter()
            subprocess.run(
                [*cut, "bash", "-c", command], cwd=clone, env=environment, check=True, capture_output=True
            )
            seconds[command] = round(time.perf_counter() - begin, 1)
            print(f"{seconds[command]:8.1f} s  {command}", flush=True)
    record("paths", {"seconds": seconds})


if __name__ == "__main__":
    main()
