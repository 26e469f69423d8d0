"""A release copies the build and leaves a manifest that holds."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.release import compare, layout, manifest
from undolab.release.release import release


def fill(tree: Path) -> None:
    """Give the build every part that a release needs."""
    for folder in sorted(set(layout.BUILT_FOLDERS) - layout.OPTIONAL_FOLDERS - {"stats", "tables"}):
        (tree / "build" / folder).mkdir()
        (tree / "build" / folder / "part.csv").write_text(folder)


def test_a_release_makes_build_and_release_equal(tree: Path) -> None:
    """After a release the comparison and the verification both pass, and stale released files are gone."""
    fill(tree)
    (tree / "build/tables/table1.csv").write_text("a,b\n5,6\n")
    (tree / "results/tables/stale.csv").write_text("old")
    done = release(tree, tree / "build", remove=True)
    assert "results/tables/table1.csv" in done.written
    assert done.removed == ["results/tables/stale.csv"]
    assert manifest.verify(tree).ok
    assert compare.exit_code(compare.compare(tree, tree / "build")) == 0
    assert not list(tree.rglob("*.tmp"))


def test_a_second_release_writes_nothing(tree: Path) -> None:
    """Releasing an unchanged build touches no released file."""
    fill(tree)
    release(tree, tree / "build")
    before = (tree / "manifest.sha256").read_bytes()
    again = release(tree, tree / "build")
    assert again.written == []
    assert (tree / "manifest.sha256").read_bytes() == before


def test_half_a_build_is_not_released(tree: Path) -> None:
    """A build that lacks a part is refused before anything is written."""
    before = (tree / "manifest.sha256").read_bytes()
    with pytest.raises(UndolabError, match="lacks conformance/, figures/, ledger/"):
        release(tree, tree / "build")
    assert (tree / "manifest.sha256").read_bytes() == before


def test_nothing_released_is_removed_unasked(tree: Path) -> None:
    """A build that lacks one released file is refused by name, and nothing is written."""
    fill(tree)
    release(tree, tree / "build")
    before = (tree / "manifest.sha256").read_bytes()
    (tree / "results/tables/table2.csv").write_text("released before\n")

    with pytest.raises(UndolabError, match=r"results/tables/table2\.csv, which is released"):
        release(tree, tree / "build")

    assert (tree / "results/tables/table2.csv").is_file()
    assert (tree / "manifest.sha256").read_bytes() == before
