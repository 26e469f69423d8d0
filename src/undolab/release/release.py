"""Turns a build into a release. Only maintainers run it: it is the one place that writes released results."""

from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.release import claims, layout, manifest
from undolab.release.compare import built_files
from undolab.release.files import walk, write_if_changed


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """What a release did."""

    written: list[str]
    """Released paths whose bytes are new."""
    removed: list[str]
    """Released paths that the build no longer makes."""
    named: int
    """Files named in the new manifest."""

    def text(self) -> str:
        """Return what was done: one line a file, then one sentence of sum."""
        lines = [f"written: {name}" for name in self.written] + [f"removed: {name}" for name in self.removed]
        total = f"{len(self.written)} files written, {len(self.removed)} removed"
        return "\n".join([*lines, f"Released: {total}; {layout.MANIFEST} names {self.named} files."])


def release(root: Path, build: Path, *, remove: bool = False) -> Released:
    """Copy the build to the released places and rewrite the manifest; with `remove`, remove what it no longer makes.

    Raises:
        UndolabError: a part of the build is missing, or something released would be removed unasked; nothing has been
            written then.
    """
    built = built_files(build)
    missing = [name for name in layout.BUILT_FILES if name not in built]
    missing += [
        f"{name}/"
        for name in layout.BUILT_FOLDERS
        if name not in layout.OPTIONAL_FOLDERS and not any(b.startswith(f"{name}/") for b in built)
    ]
    if missing:
        raise UndolabError(f"{build.name}/ lacks {', '.join(missing)}; build everything before releasing.")
    kept = {layout.released_path(source) for source in built}
    folders = [f"results/{folder}" for folder in layout.BUILT_FOLDERS]
    removed = sorted(name for folder in folders for name, _ in walk(root, folder) if name not in kept)
    if removed and not remove:
        more = f" and {len(removed) - 3} more" if len(removed) > 3 else ""
        raise UndolabError(
            f"the build does not make {', '.join(removed[:3])}{more}, which is released; build everything, or remove it "
            "with `undolab release --remove`."
        )
    # Before anything is written: a sentence that the new numbers make untrue stops the release.
    said = _claims(root, build, kept) if (root / claims.CLAIMS).is_file() else None
    written = [
        name
        for source in built
        if write_if_changed(root / (name := layout.released_path(source)), (build / source).read_bytes())
    ]
    for name in removed:
        (root / name).unlink()
    if said is not None and write_if_changed(root / claims.CLAIMS, said):
        written.append(claims.CLAIMS)
    return Released(written=written, removed=removed, named=manifest.write(root))


def _claims(root: Path, build: Path, built: set[str]) -> bytes:
    """Return the file of claims with the values of the build."""
    files, _ = manifest.covered(root)

    def read(name: str) -> Path:
        return build / (layout.built_path(name) or name) if name in built else root / name

    return claims.refreshed(root, dict.fromkeys([*files, *built], ""), read)
