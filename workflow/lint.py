"""Run Snakemake's lint and allow one kind of finding: that a rule names no environment of its own.

All rules share the one environment that `make artifact` makes from hash-pinned locks, so that verifying needs
neither conda nor a container. (Snakemake 9 prints text even where JSON is asked for, so the text is read.)
"""

from __future__ import annotations

import subprocess
import sys

ALLOWED = "Specify a conda environment or container for each rule"


def findings(text: str) -> list[str]:
    """Return one line a finding, without the allowed kind."""
    place = ""
    left = []
    for line in text.splitlines():
        if line.startswith("Lints for "):
            place = line.removeprefix("Lints for ").rstrip(":")
        elif line.startswith("    * ") and not line.startswith(f"    * {ALLOWED}"):
            left.append(f"{place}: {line[6:].rstrip(':')}")
    return left


def main() -> int:
    """Print the findings that are left; exit 1 if there are any, or if the workflow could not be read."""
    command = [sys.executable, "-m", "snakemake", "--lint"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    left = findings(text)
    if not left and done.returncode and "Lints for " not in text:
        left = [text.strip()]
    print("\n".join(left) if left else "snakemake --lint: nothing but the shared environment")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
