"""What every benchmark does with its numbers: print them, and with `--record` keep them in data/measurements.

A record says on what machine and of which commit it was measured. It is committed and never compared.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def record(name: str, numbers: Mapping[str, Any]) -> None:
    """Write data/measurements/<name>.json if the script was called with `--record`; units stand in the names of the numbers."""
    if "--record" not in sys.argv[1:]:
        return
    path = ROOT / "data" / "measurements" / f"{name}.json"
    keep(path, numbers)
    print(f"recorded in {path.relative_to(ROOT)}")


def keep(path: Path, numbers: Mapping[str, Any]) -> None:
    """Write numbers with the machine and the commit; long suites keep theirs in data/evidence."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": _machine(), **numbers}, indent=2) + "\n")


def _machine() -> dict[str, str | int]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "commit": _commit(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _commit() -> str:
    """Return the commit, with `+` where files in src or benchmarks have changed since; empty outside a work tree."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()

    return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "src", "benchmarks") else "")
