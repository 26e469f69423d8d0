"""Holds a build against what was released, because a rebuild that nobody compares proves nothing."""

import shutil
import subprocess
from enum import StrEnum
from io import StringIO
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from undolab.release import layout, manifest
from undolab.release.files import byte_order, file_digest, walk


class Status(StrEnum):
    """How one released file stands to its rebuilt copy."""

    EQUAL = "equal"
    EQUIVALENT = "equivalent"
    """The PDF from another TeX bundle: other bytes, the same text on every page."""
    SKIPPED = "skipped"
    """The PDF where this machine cannot build or read one."""
    DIFFERENT = "different"
    MISSING = "missing"
    """Released, and not there to compare."""
    UNRELEASED = "unreleased"
    """Built, and not in the manifest."""


_GOOD = frozenset({Status.EQUAL, Status.EQUIVALENT, Status.SKIPPED})
_STYLES = {Status.EQUAL: "green", Status.EQUIVALENT: "cyan", Status.SKIPPED: "yellow"}


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of checks."""

    name: str
    """Released path."""
    status: Status
    released: str
    """Digest in the manifest, or empty."""
    built: str
    """Digest of the rebuilt file, or empty."""
    note: str = ""

    @property
    def ok(self) -> bool:
        """True unless the check failed."""
        return self.status in _GOOD


def compare(root: Path, build: Path) -> list[Check]:
    """Compare every released file that is made by a build with its copy under `build`.

    The reference is the digest in the manifest; a released file that was itself changed fails too.

    Raises:
        UndolabError: the manifest is missing or malformed.
    """
    wanted = {name: sha for name, sha in manifest.read(root).items() if layout.built_path(name) is not None}
    checks = [_check(root, build, name, sha) for name, sha in wanted.items()]
    for built in built_files(build):
        name = layout.released_path(built)
        if name not in wanted:
            note = "built, but not in the manifest; release it or delete it"
            digest = file_digest(build / built)
            checks.append(Check(name=name, status=Status.UNRELEASED, released="", built=digest, note=note))
    return sorted(checks, key=lambda check: byte_order(check.name))


def built_files(build: Path) -> list[str]:
    """Return the files of a build that are to be released, relative to `build`, in byte order."""
    names = [name for folder in layout.BUILT_FOLDERS for name, _ in walk(build, folder)]
    names += [name for name in layout.BUILT_FILES if (build / name).is_file()]
    return sorted(names, key=byte_order)


def exit_code(checks: list[Check]) -> int:
    """Return 0 if there was something to check and every check passed, else 1."""
    return 0 if checks and all(check.ok for check in checks) else 1


def table(checks: list[Check], *, width: int = 110, color: bool = False) -> str:
    """Return the table of what was checked, and one sentence of sum, as text."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("released file", "status", "released", "rebuilt"):
        grid.add_column(title, overflow="fold" if title == "released file" else "ellipsis")
    for check in checks:
        style = _STYLES.get(check.status, "bold red")
        grid.add_row(
            Text(check.name), Text(check.status.value, style=style), check.released[:12], check.built[:12]
        )
    console = Console(file=StringIO(), width=width, force_terminal=color, no_color=not color, highlight=False)
    console.print(grid)
    text = console.file.getvalue() if isinstance(console.file, StringIO) else ""
    notes = "".join(f"{check.name}: {check.note}.\n" for check in checks if check.note)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n" + notes + summary(checks) + "\n"


def summary(checks: list[Check]) -> str:
    """Return the sum of a comparison in one sentence."""
    if not checks:
        return "Nothing was compared: the manifest names no file that a build makes."
    counts = [(status, sum(check.status is status for check in checks)) for status in Status]
    words = ", ".join(f"{count} {status}" for status, count in counts if count)
    verdict = "match what was released" if exit_code(checks) == 0 else "do NOT all match what was released"
    return f"{len(checks)} files checked, and they {verdict}: {words}."


def _check(root: Path, build: Path, name: str, released: str) -> Check:
    copy = build / (layout.built_path(name) or name)
    original = root / name
    built = file_digest(copy) if copy.is_file() else ""
    status, note = Status.EQUAL, ""
    if not original.is_file():
        status, note = Status.MISSING, "the released file is gone; restore it from the repository"
    elif file_digest(original) != released:
        status, note = Status.DIFFERENT, "the released file itself was changed since its release"
    elif name == layout.PAPER and built != released:
        status, note = _paper(original, copy, root / layout.TEX_STATUS)
    elif not built:
        status, note = Status.MISSING, f"not found under {build.name}/; build it first"
    elif built != released:
        status, note = Status.DIFFERENT, "the rebuilt file has other bytes than the released one"
    return Check(name=name, status=status, released=released, built=built, note=note)


def _paper(released: Path, built: Path, tex_status: Path) -> tuple[Status, str]:
    bundle = tex_status.read_text(encoding="utf-8").strip() if tex_status.is_file() else "absent"
    if not built.is_file():
        if bundle == "none":
            return Status.SKIPPED, "not built, as asked (TEX=no); everything else was checked"
        return Status.MISSING, "the paper was not built"
    if bundle == "locked":
        return Status.DIFFERENT, "other bytes from the same TeX bundle"
    if shutil.which("pdftotext") is None:
        note = f"not compared: the TeX bundle is not the locked one ({bundle}) and there is no pdftotext"
        return Status.SKIPPED, note
    if _page_texts(released) == _page_texts(built):
        return Status.EQUIVALENT, f"the TeX bundle is not the locked one ({bundle}); page texts are equal"
    return Status.DIFFERENT, f"the text of its pages differs (TeX bundle: {bundle})"


def _page_texts(pdf: Path) -> list[str]:
    """Return the words of each page; line breaks and hyphens may move between bundles, words may not."""
    run = subprocess.run(
        ["pdftotext", "-enc", "UTF-8", "-layout", str(pdf), "-"], capture_output=True, check=False
    )
    if run.returncode != 0:
        return [f"unreadable: {pdf.name} {file_digest(pdf)}"]
    return [" ".join(page.split()) for page in run.stdout.decode("utf-8", "replace").split("\f")]
