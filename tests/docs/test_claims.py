"""The claims and numbers of this repository: they stand, and one digit changed by hand is found wherever it is."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from undolab.cli import evaluation
from undolab.cli.main import main
from undolab.release import claims, manifest, numbers

ROOT = Path(__file__).parents[2]
FOLDERS = ("config", "data", "demo", "docs", "envs", "paper", "results", "workflow", "README.md", "Snakefile")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what is released, under a manifest of its own, with every block filled."""
    tree = tmp_path_factory.mktemp("claims")
    for name in FOLDERS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tree / name)
    (tree / claims.CLAIMS).write_bytes(claims.refreshed(tree, _names(tree), lambda name: tree / name))
    manifest.write(tree)
    readme = (tree / "README.md").read_text()
    filled = evaluation.readme.filled(readme, "checks", evaluation.checks(manifest.read(tree)))
    (tree / "README.md").write_text(filled)
    evaluation.fill(tree)
    return tree


def _names(tree: Path) -> dict[str, str]:
    return dict.fromkeys(manifest.covered(tree)[0], "")


def _found(tree: Path) -> str:
    """Return what `undolab verify` says against a tree, or else all that `undolab claims` says."""
    covered = manifest.read(tree)
    verified = manifest.verify(tree)
    if not verified.ok:
        return verified.text()
    said = [problem for one in claims.check(tree, tree / "build") for problem in one.problems]
    said += numbers.audit(tree, lambda name: tree / name, covered).problems
    said += evaluation.unfilled(tree, covered)
    return "\n".join(said)


def test_every_claim_and_every_typed_number_of_the_repository_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`undolab claims` ends with 0; its JSON says the same."""
    monkeypatch.chdir(ROOT)

    code = main(["claims", "--json", "--build", str(tmp_path)])

    output = capsys.readouterr()
    assert code == 0, output.err
    found = json.loads(output.out)
    assert found["ok"] is True
    assert len(found["claims"]) > 20
    assert {"README.md", "paper/sections/data.tex"} <= found["numbers"]["numbers"].keys()


def test_every_claim_names_a_rule_of_the_graph() -> None:
    """What makes a value can be asked of Snakemake by name."""
    rules = {
        name
        for path in (ROOT / "workflow/rules").glob("*.smk")
        for name in re.findall(r"^rule (\w+):", path.read_text(), re.MULTILINE)
    }

    assert {claim.rule for claim in claims.load(ROOT)} <= rules


def test_an_untouched_copy_is_in_order(copy: Path) -> None:
    """Nothing is said against a tree that nobody changed."""
    assert _found(copy) == ""


def _first(tree: Path, pattern: str) -> str:
    return min(path.relative_to(tree).as_posix() for path in tree.glob(pattern))


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        ("results/stats/metrics.csv", r"0\.\d+"),
        ("results/stats/metrics.json", r"0\.\d+"),
        ("results/tables/*.tex", r"\d+"),
        ("results/tables/*.csv", r"\d+"),
        ("results/conformance/cells.csv", r"\d+"),
        ("results/undo/histories-by-kind.csv", r"\d+"),
        ("data/claims.yaml", r"(?<=value: )\d+"),
        ("data/claims.yaml", r"(?<=minutes: )\d+"),
        ("data/measurements/paths.json", r"\d+\.\d+"),
        ("paper/sections/data.tex", r"(?<=some )\d+"),
        ("README.md", r"(?<=runs )\d+(?= workflows)"),
        ("README.md", r"\d+(?= equal$)"),
        ("README.md", r"(?<=\| )\d+(?= \| `snakemake)"),
        ("docs/artifact-evaluation.md", r"(?<=`\) \| )\d+"),
        ("docs/artifact-evaluation.md", r"(?<=\| )\d+(?= \| `snakemake)"),
        ("demo/index.html", r"\d+"),
    ],
)
def test_one_number_changed_by_hand_is_caught(copy: Path, pattern: str, number: str) -> None:
    """By `undolab verify` or `undolab claims`, by name, in results, data, paper, README and pages alike."""
    name = _first(copy, pattern)
    path = copy / name
    before = path.read_bytes()
    text = before.decode()
    match = re.search(number, text, re.MULTILINE)
    assert match is not None
    last = match[0][-1]
    changed = text[: match.end() - 1] + str((int(last) + 1) % 10) + text[match.end() :]
    try:
        path.write_bytes(changed.encode())
        found = _found(copy)
    finally:
        path.write_bytes(before)

    assert Path(name).name in found


@pytest.mark.parametrize("name", ["README.md", "paper/sections/results.tex"])
def test_a_new_number_in_prose_must_be_explained(copy: Path, name: str) -> None:
    """A result typed into a sentence is found the first time somebody asks."""
    path = copy / name
    before = path.read_bytes()
    try:
        path.write_bytes(before + b"\nOf these 87 recovered, and seventeen did not.\n")
        found = "\n".join(numbers.audit(copy, lambda file: copy / file, _names(copy)).problems)
    finally:
        path.write_bytes(before)

    assert "has the number 87" in found
    assert "has the number seventeen" in found


def test_the_numbers_of_every_source_of_the_paper_are_traced() -> None:
    """A new section is looked at without being named anywhere."""
    listed = subprocess.run(
        ["git", "ls-files", "paper/*.tex"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()

    assert set(listed) <= set(numbers.documents(ROOT))
