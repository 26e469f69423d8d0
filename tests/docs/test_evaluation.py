"""What an artifact reviewer reads first: the page of paths and claims, licence, citation, changelog, known issues."""

import re
import subprocess
import tomllib
from pathlib import Path

from undolab.cli import evaluation, readme
from undolab.model.load import read_yaml
from undolab.release import claims, manifest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / evaluation.PAGE).read_text(encoding="utf-8")


def test_the_page_is_what_claims_and_measurements_say() -> None:
    """Filling it again changes nothing; every claim stands in it once, and the machine is named."""
    table = readme.between(PAGE, "claims")

    assert evaluation.page(PAGE, ROOT) == PAGE
    assert all(table.count(f"(`{claim.id}`)") == 1 for claim in claims.load(ROOT))
    assert re.search(r"\d+ cores", readme.between(PAGE, "machine"))


def test_paths_take_their_minutes_from_the_measurements() -> None:
    """Measured commands have whole minutes and a sum; others a dash, and the sum says nothing of them."""
    table = "| minutes | command |\n|---|---|\n| 9 | `a b` | one |\n| 9 | `c` | two |\n| 9 | `d` | three |\n"

    assert evaluation._path(table, {"a b": 61.0, "c": 5.0, "elsewhere": 9.0}) == (
        "| minutes | command |\n|---|---|\n| 2 | `a b` | one |\n| 1 | `c` | two |\n| - | `d` | three |\n\n"
        "Measured together: 2 minutes.\n"
    )
    assert evaluation._path(table, {}).endswith("\nNot measured.\n")


def test_the_checks_follow_from_the_manifest() -> None:
    """Each folder of released results is a line, and the sums are those of the manifest."""
    covered = {"results/stats/a.csv": "", "results/stats/b.csv": "", "paper/paper.pdf": "", "data/x.yaml": ""}

    assert evaluation.checks(covered) == (
        "```text\npaper            1 equal\nresults/stats    2 equal\n"
        "3 files checked, and they match what was released: 3 equal.\n"
        "All files are as released: 4 files checked, 0 changed, 0 missing, 0 extra.\n```\n"
    )


def test_every_folder_has_a_licence() -> None:
    """Code and data alike: no tracked folder is left out of the LICENSE."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")

    folders = {name.split("/")[0] for name in names if "/" in name}
    assert {folder for folder in folders if f"{folder}/" not in licence} == set()
    assert "MIT License" in licence
    assert "CC BY 4.0" in licence
    assert all(path.name in licence for path in (ROOT / "data/records").iterdir())


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff has what its format demands, and the version and licence of the package."""
    citation = read_yaml(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert all({"type", "title", "authors"} <= reference.keys() for reference in citation["references"])


def test_the_changelog_says_what_can_be_compared() -> None:
    """Every version has a line on comparability, which names the version of the verdict rules."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]

    assert versions
    assert all(
        re.search(r"^Comparability: .*rules version \d", version, re.MULTILINE) for version in versions
    )


def test_released_files_alone_are_claimed() -> None:
    """No claim rests on a file that the manifest does not name."""
    covered = manifest.read(ROOT)

    assert {one.file for one in claims.load(ROOT) if one.find.files is None} <= covered.keys()
