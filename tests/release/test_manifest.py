"""The manifest finds every change, and coreutils agrees with it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.model.errors import UndolabError
from undolab.release import manifest


def coreutils(root: Path) -> int:
    """Return the exit code of `sha256sum -c --strict`."""
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum on this machine")
    command = ["sha256sum", "-c", "--strict", "--quiet", "manifest.sha256"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False).returncode


def test_a_fresh_manifest_verifies_and_coreutils_agrees(tree: Path) -> None:
    """A manifest just written holds, by our check and by `sha256sum -c`."""
    result = manifest.verify(tree)
    assert result.ok
    assert result.exit_code == 0
    assert result.checked == 12
    assert "All files are as released" in result.text()
    assert coreutils(tree) == 0


def test_the_manifest_is_in_byte_order_with_lf(tree: Path) -> None:
    """Lines are sorted by the bytes of the path, end in LF, and name covered files only."""
    (tree / "data/Zeta.json").write_text("z")
    (tree / "data/é.json").write_text("e")
    manifest.write(tree)
    raw = (tree / "manifest.sha256").read_bytes()
    names = [line.split(b"  ", 1)[1] for line in raw.splitlines()]
    assert names == sorted(names)
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    assert b"README.md" not in raw
    assert b"build/" not in raw
    assert coreutils(tree) == 0


def test_changed_missing_and_extra_files_are_listed_apart(tree: Path) -> None:
    """One file of each kind lands in its own list, and the text names each."""
    table = tree / "results/tables/table1.csv"
    times = table.stat()
    table.write_text("a,b\n1,3\n")
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))
    (tree / "config/models.yaml").unlink()
    (tree / "results/tables/other.csv").write_text("x")
    result = manifest.verify(tree)
    assert result.changed == ["results/tables/table1.csv"]
    assert result.missing == ["config/models.yaml"]
    assert result.extra == ["results/tables/other.csv"]
    assert result.exit_code == 1
    text = result.text()
    assert "changed: results/tables/table1.csv" in text
    assert "1 changed, 1 missing, 1 extra" in text
    assert coreutils(tree) == 1


def test_crlf_in_a_file_is_said_to_be_crlf(tree: Path) -> None:
    """A file whose line endings were converted is changed, and the message says why."""
    (tree / "config/config.yaml").write_bytes(b"seeds: [1]\r\n")
    result = manifest.verify(tree)
    assert result.line_endings == ["config/config.yaml"]
    assert "line endings" in result.text()


def test_links_are_refused(tree: Path) -> None:
    """A link is never followed, be it a file, a folder or a manifest entry replaced by one."""
    outside = tree / "outside"
    outside.mkdir()
    shutil.move(tree / "data/tools", outside / "tools")
    (tree / "data/tools").symlink_to(outside / "tools")
    (tree / "results/link.csv").symlink_to(tree / "README.md")
    result = manifest.verify(tree)
    assert result.links == ["data/tools", "data/tools/payments.yaml", "results/link.csv"]
    assert result.exit_code == 1
    with pytest.raises(UndolabError, match="not a plain file"):
        manifest.write(tree)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0" * 63 + "  a\n", "line 1 is not"),
        ("0" * 64 + " a\n", "line 1 is not"),
        ("0" * 64 + "  /etc/passwd\n", "no plain relative path"),
        ("0" * 64 + "  data/../../x\n", "no plain relative path"),
        ("0" * 64 + "  C:/x\n", "no plain relative path"),
        ("0" * 64 + "  a\r\n", "CRLF"),
        ("0" * 64 + "  a", "middle of a line"),
        (("0" * 64 + "  a\n") * 2, "line 2 is out of byte order"),
        ("0" * 64 + "  b\n" + "0" * 64 + "  a\n", "line 2 is out of byte order"),
    ],
)
def test_a_malformed_manifest_is_one_clear_sentence(tree: Path, line: str, words: str) -> None:
    """Every malformed line is refused, with its number and what to do."""
    (tree / "manifest.sha256").write_bytes(line.encode())
    with pytest.raises(UndolabError, match=words):
        manifest.verify(tree)


def test_a_missing_manifest_is_one_clear_sentence(tree: Path) -> None:
    """No manifest is an error, not an empty success."""
    (tree / "manifest.sha256").unlink()
    with pytest.raises(UndolabError, match="is not here"):
        manifest.verify(tree)


def test_a_name_that_the_format_cannot_carry_is_refused(tree: Path) -> None:
    """A newline or backslash in a name stops the release instead of making a manifest that lies."""
    (tree / "data/a\nb.json").write_text("x")
    with pytest.raises(UndolabError, match="rename"):
        manifest.write(tree)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_any_flipped_bit_is_found(tree: Path, position: int, bit: int) -> None:
    """Whichever bit of a covered file flips, exactly that file is named."""
    names = list(manifest.read(tree))
    path = tree / names[position % len(names)]
    original = path.read_bytes()
    at = position % len(original)
    path.write_bytes(original[:at] + bytes([original[at] ^ (1 << bit)]) + original[at + 1 :])
    try:
        assert manifest.verify(tree).changed == [names[position % len(names)]]
    finally:
        path.write_bytes(original)
