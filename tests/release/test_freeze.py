"""The freeze names each thing that differs from what was fixed before the runs."""

from pathlib import Path

import pytest

from undolab.model.errors import UndolabError
from undolab.release import freeze


@pytest.fixture
def frozen(tree: Path) -> Path:
    """Return a tree with one room and a frozen test split."""
    for name in ("__init__.py", "world/__init__.py"):
        path = tree / "src/undolab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    freeze.freeze(tree, "test")
    return tree


def test_an_unchanged_tree_keeps_its_freeze(frozen: Path) -> None:
    """Computing again gives the same bytes and no difference."""
    found = freeze.check(frozen, "test")
    assert found.broken == []
    assert found.exit_code == 0
    assert (frozen / "build/splits/test.json").read_bytes() == (frozen / "data/splits/test.json").read_bytes()
    entries = [entry.path for entry in freeze.read(frozen, "test").entries]
    assert entries == [
        "config/config.yaml",
        "config/models.yaml",
        "data/tools/payments.yaml",
        "data/workflows/test/RB-PAY-004.yaml",
        "docs/protocol/research-plan.md",
    ]


def test_each_difference_is_named(frozen: Path) -> None:
    """A changed, an added and a removed entry each get a sentence."""
    (frozen / "data/workflows/test/RB-PAY-004.yaml").write_text("id: other\n")
    (frozen / "data/workflows/test/RB-PAY-005.yaml").write_text("id: RB-PAY-005\n")
    (frozen / "config/models.yaml").unlink()
    assert freeze.check(frozen, "test").broken == [
        "config/models.yaml is frozen but no longer there.",
        "data/workflows/test/RB-PAY-004.yaml differs from its frozen state.",
        "data/workflows/test/RB-PAY-005.yaml is not part of the freeze.",
    ]


def test_changed_code_breaks_the_freeze_unless_the_conformance_verdicts_are_equal(frozen: Path) -> None:
    """A refactor keeps the freeze only where equal verdicts vouch for it."""
    source = frozen / "src/undolab/world/__init__.py"
    source.write_text("A = 1\n")
    assert freeze.check(frozen, "test").broken == ["src/undolab/world differs from its frozen state."]
    verdicts, prompts = (frozen / name for name in freeze.CONFORMANCE)
    verdicts.parent.mkdir(parents=True)
    verdicts.write_text("{}\n")
    prompts.write_text("model,workflow,request\n")
    freeze.freeze(frozen, "test")
    source.write_text("A = 2\n")
    found = freeze.check(frozen, "test")
    assert found.broken == []
    assert "every conformance verdict is equal" in found.notes[0]
    prompts.write_text("model,workflow,request\nm,w,other\n")
    assert freeze.check(frozen, "test").exit_code == 1
    prompts.write_text("model,workflow,request\n")
    verdicts.write_text("{1}\n")
    assert freeze.check(frozen, "test").exit_code == 1


def test_a_forged_composite_is_found(frozen: Path) -> None:
    """A freeze whose composite does not follow from its entries is broken."""
    path = frozen / "data/splits/test.json"
    composite = freeze.read(frozen, "test").composite
    path.write_text(path.read_text().replace(composite, "0" * 64))
    assert "composite" in freeze.check(frozen, "test").broken[0]


def test_missing_parts_are_clear_sentences(frozen: Path) -> None:
    """No freeze, no workflow, no plan and a broken file each say what to do."""
    with pytest.raises(UndolabError, match="no workflow"):
        freeze.compute(frozen, "dev")
    with pytest.raises(UndolabError, match="undolab freeze"):
        freeze.read(frozen, "dev")
    (frozen / "data/splits/test.json").write_text("{")
    with pytest.raises(UndolabError, match="not a freeze"):
        freeze.read(frozen, "test")
    (frozen / "docs/protocol/research-plan.md").unlink()
    with pytest.raises(UndolabError, match="research plan"):
        freeze.compute(frozen, "test")


@pytest.mark.parametrize("name", ["docs/protocol/research-plan.md", "data/workflows/test/RB-PAY-004.yaml"])
def test_recording_needs_everything_as_frozen(frozen: Path, name: str) -> None:
    """A plan or a workflow edited after the freeze stops the recorder, by name."""
    freeze.require_frozen(frozen, "test")
    (frozen / name).write_text("id: other\n")
    with pytest.raises(UndolabError, match=f"{name} differs from its frozen state"):
        freeze.require_frozen(frozen, "test")
