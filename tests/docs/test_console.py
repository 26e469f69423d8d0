"""The commands in the documentation are run as they stand, and print what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Return each command of a page's console blocks with the output shown below it."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_command_of_a_page_prints_what_the_page_shows(page: Path) -> None:
    """A page cannot drift from the program: where it shows output, that is the output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in commands(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 1), f"{command}: {done.stderr}"
        if shown:
            assert shown == done.stdout, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    """A relative link names a file that is there."""
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)", page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []
