"""The comparison of a build with the release says of each file how it stands."""

import shutil
from pathlib import Path

import pytest

from undolab.release import compare, manifest
from undolab.release.compare import Status


def statuses(root: Path) -> dict[str, Status]:
    """Return released path to status."""
    return {check.name: check.status for check in compare.compare(root, root / "build")}


def test_an_equal_build_passes(tree: Path) -> None:
    """Every released file that a build makes is there once and equal; inputs are not in the table."""
    checks = compare.compare(tree, tree / "build")
    assert {check.name: check.status.value for check in checks} == {
        "demo/index.html": "equal",
        "paper/paper.pdf": "equal",
        "results/stats/metrics.json": "equal",
        "results/tables/table1.csv": "equal",
    }
    assert compare.exit_code(checks) == 0
    text = compare.table(checks)
    assert "results/tables/table1.csv" in text
    assert "4 files checked, and they match what was released: 4 equal." in text
    assert "\x1b" not in text


def test_other_missing_and_new_files_fail(tree: Path) -> None:
    """A different, a missing and an unreleased file each fail with a note that names the file."""
    (tree / "build/tables/table1.csv").write_text("a,b\n1,3\n")
    (tree / "build/demo/index.html").unlink()
    (tree / "build/stats/new.csv").write_text("x")
    checks = compare.compare(tree, tree / "build")
    assert statuses(tree) == {
        "demo/index.html": Status.MISSING,
        "paper/paper.pdf": Status.EQUAL,
        "results/stats/metrics.json": Status.EQUAL,
        "results/stats/new.csv": Status.UNRELEASED,
        "results/tables/table1.csv": Status.DIFFERENT,
    }
    assert compare.exit_code(checks) == 1
    assert "results/tables/table1.csv: the rebuilt file has other bytes" in compare.table(checks)


def test_a_tampered_released_file_fails_though_the_build_is_right(tree: Path) -> None:
    """The digest in the manifest is the reference, so a changed released file is found as well."""
    (tree / "results/tables/table1.csv").write_text("a,b\n1,9\n")
    (tree / "paper/paper.pdf").write_text("%PDF two\n")
    found = statuses(tree)
    assert found["results/tables/table1.csv"] is Status.DIFFERENT
    assert found["paper/paper.pdf"] is Status.DIFFERENT


def test_nothing_to_compare_is_a_failure(tree: Path) -> None:
    """An empty table is never a success."""
    assert compare.exit_code([]) == 1
    assert "Nothing was compared" in compare.table([])


def pdf(text: str, comment: str) -> bytes:
    """Return a one-page PDF that shows a text; the comment changes its bytes and not its pages."""
    stream = f"BT /F1 12 Tf 20 50 Td ({text}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out = f"%PDF-1.4\n% {comment}\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(
        f"{o:010d} 00000 n \n" for o in offsets
    )
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"
    return out.encode()


@pytest.mark.parametrize(
    ("bundle", "built", "status"),
    [
        ("locked", pdf("same", "two"), Status.DIFFERENT),
        ("debian", pdf("same", "two"), Status.EQUIVALENT),
        ("debian", pdf("other", "one"), Status.DIFFERENT),
        ("debian", b"not a pdf", Status.DIFFERENT),
        ("debian", pdf("same", "one"), Status.EQUAL),
        ("none", None, Status.SKIPPED),
        ("debian", None, Status.MISSING),
    ],
)
def test_the_pdf_rule(tree: Path, bundle: str, built: bytes | None, status: Status) -> None:
    """PDF bytes count only under the locked TeX bundle; elsewhere the page texts do."""
    if bundle == "debian" and shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext on this machine")
    (tree / "paper/paper.pdf").write_bytes(pdf("same", "one"))
    manifest.write(tree)
    target = tree / "build/paper/paper.pdf"
    if built is None:
        target.unlink()
    else:
        target.write_bytes(built)
    (tree / ".tools").mkdir()
    (tree / ".tools/texbundle.status").write_text(f"{bundle}\n")
    assert statuses(tree)["paper/paper.pdf"] is status


def test_without_pdftotext_another_bundle_is_skipped_and_said(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where page texts cannot be read, the table says that the PDF was not compared."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    (tree / "build/paper/paper.pdf").write_bytes(b"%PDF other")
    checks = compare.compare(tree, tree / "build")
    assert statuses(tree)["paper/paper.pdf"] is Status.SKIPPED
    assert "not compared" in compare.table(checks)
