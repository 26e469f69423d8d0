"""The manifest: one SHA-256 a file, in the format of `sha256sum -c`, so that anyone can check it."""

import hashlib
import re
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.release import layout
from undolab.release.files import byte_order, file_digests, passes_link, walk

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f]")


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of the tree against its manifest found; every list is in byte order."""

    checked: int
    """Files whose bytes were read and compared."""
    changed: list[str] = []
    line_endings: list[str] = []
    """Those of `changed` that would be right with LF instead of CRLF."""
    missing: list[str] = []
    extra: list[str] = []
    links: list[str] = []
    """Symbolic links and other things that are no plain files, in the manifest or a covered folder."""

    @property
    def ok(self) -> bool:
        """True if nothing at all was found."""
        return not (self.changed or self.missing or self.extra or self.links)

    @property
    def exit_code(self) -> int:
        """0 if nothing was found, else 1."""
        return 0 if self.ok else 1

    def text(self) -> str:
        """Return the findings, one sentence a file, then one sentence of sum."""
        lines = [_changed_sentence(name, name in self.line_endings) for name in self.changed]
        lines += [f"missing: {name} is in the manifest and not on disk." for name in self.missing]
        lines += [f"extra: {name} is on disk and not in the manifest." for name in self.extra]
        lines += [f"link: {name} is not a plain file; links are refused." for name in self.links]
        counts = f"{len(self.changed)} changed, {len(self.missing)} missing, {len(self.extra)} extra"
        counts += f", {len(self.links)} refused as links" if self.links else ""
        verdict = "All files are as released" if self.ok else "The tree differs from its manifest"
        return "\n".join([*lines, f"{verdict}: {self.checked} files checked, {counts}."])


def covered(root: Path) -> tuple[list[str], list[str]]:
    """Return the covered files and the links among them, both in byte order, as paths relative to `root`."""
    found = [item for folder in layout.COVERED_FOLDERS for item in walk(root, folder)]
    for pattern in layout.COVERED_PATTERNS:
        for path in root.glob(pattern):
            name = path.relative_to(root).as_posix()
            found.append((name, passes_link(root, name) or not path.is_file()))
    return _sorted([name for name, bad in found if not bad]), _sorted([name for name, bad in found if bad])


def write(root: Path) -> int:
    """Write `manifest.sha256` for the tree as it stands; return how many files it names.

    Raises:
        UndolabError: a covered folder holds a link, or a name that the format cannot carry.
    """
    files, links = covered(root)
    if links:
        raise UndolabError(f"{links[0]} is not a plain file; replace it by the file itself before releasing.")
    unsafe = next((name for name in files if _UNSAFE.search(name)), None)
    if unsafe is not None:
        raise UndolabError(f"The name {unsafe!r} holds a backslash or control character; rename the file.")
    digests = file_digests(root, files)
    text = "".join(f"{digests[name]}  {name}\n" for name in files)
    write_bytes(root / layout.MANIFEST, text.encode())
    return len(files)


def read(root: Path) -> dict[str, str]:
    """Return the manifest as path to digest.

    Raises:
        UndolabError: it is missing, or a line is malformed, out of order or there twice.
    """
    path = root / layout.MANIFEST
    if not path.is_file():
        raise UndolabError(
            f"{layout.MANIFEST} is not here; run undolab from the root of the repository, or restore the file."
        )
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise UndolabError(f"{layout.MANIFEST} is not UTF-8; restore it from the repository.") from error
    if text and not text.endswith("\n"):
        raise UndolabError(f"{layout.MANIFEST} ends in the middle of a line; restore it from the repository.")
    result: dict[str, str] = {}
    before = b""
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        problem = "is not `<64 hex digits>  <path>`" if match is None else _path_problem(match[2])
        if line.endswith("\r"):
            problem = "ends in CRLF; clone with core.autocrlf=false"
        if match is not None and not problem and byte_order(match[2]) <= before:
            problem = "is out of byte order or there twice"
        if match is None or problem:
            raise UndolabError(f"{layout.MANIFEST} line {number} {problem}; restore it from the repository.")
        before = byte_order(match[2])
        result[match[2]] = match[1]
    return result


def verify(root: Path) -> Verification:
    """Check every file of the manifest by its bytes and look for files that it does not name.

    Raises:
        UndolabError: the manifest itself is missing or malformed.
    """
    wanted = read(root)
    files, links = covered(root)
    linked = {name for name in wanted if passes_link(root, name)} | set(links)
    present = [name for name in wanted if name not in linked and (root / name).is_file()]
    actual = file_digests(root, present)
    changed = [name for name in present if actual[name] != wanted[name]]
    return Verification(
        checked=len(present),
        changed=changed,
        line_endings=[name for name in changed if _lf_digest(root / name) == wanted[name]],
        missing=[name for name in wanted if name not in linked and not (root / name).is_file()],
        extra=[name for name in files if name not in wanted],
        links=_sorted(list(linked)),
    )


def _sorted(names: list[str]) -> list[str]:
    return sorted(set(names), key=byte_order)


def _path_problem(name: str) -> str:
    parts = name.split("/")
    if _UNSAFE.search(name) or any(part in {"", ".", ".."} for part in parts) or re.match(r"[A-Za-z]:", name):
        return f"names {name!r}, which is no plain relative path"
    return ""


def _lf_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _changed_sentence(name: str, endings: bool) -> str:
    hint = " only in its line endings; clone with core.autocrlf=false" if endings else ""
    return f"changed: {name} differs from the manifest{hint}."
