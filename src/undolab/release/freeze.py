"""The freeze: what was fixed before a split was run, as a list of digests that anyone can recompute."""

import hashlib
import json
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.release import layout, sources
from undolab.release.files import byte_order, file_digest, walk, write_if_changed

CONFORMANCE = ("build/conformance/verdicts.jsonl", "build/conformance/prompts.csv")
"""Every verdict on the conformance corpus, and the digest of every first prompt with its grammar. While these stay, a change
of the code keeps the freeze."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One frozen thing."""

    path: str
    sha256: str


class Freeze(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The frozen state of one split."""

    split: str
    composite: str
    """SHA-256 over the lines `<sha256>  <path>` of `entries`."""
    conformance: str
    """SHA-256 over the digests of the conformance files, or empty where one of them is not there."""
    entries: list[Entry]
    """Workflows, tools, prompts, study matrix and research plan, in byte order of the path."""
    sources: list[Entry]
    """Source digest of each room that can change a verdict, with its imports."""


def compute(root: Path, split: str) -> Freeze:
    """Compute a split's freeze from the tree as it stands.

    Raises:
        UndolabError: the split has no workflow, or there is no research plan.
    """
    workflows = [name for name, _ in walk(root, f"data/workflows/{split}")]
    if not workflows:
        raise UndolabError(f"data/workflows/{split} holds no workflow; there is nothing to freeze.")
    if not (root / layout.RESEARCH_PLAN).is_file():
        raise UndolabError(f"{layout.RESEARCH_PLAN} is missing; write the research plan before freezing.")
    shared = [path for pattern in layout.FROZEN_PATTERNS for path in root.glob(pattern) if path.is_file()]
    names = sorted({*workflows, *(path.relative_to(root).as_posix() for path in shared)}, key=byte_order)
    entries = [Entry(path=name, sha256=file_digest(root / name)) for name in names]
    package = root / "src/undolab"
    present = [room for room in layout.FROZEN_ROOMS if (package / room / "__init__.py").is_file()]
    code = [Entry(path=f"src/undolab/{room}", sha256=sources.room_digest(package, room)) for room in present]
    conformance = [root / name for name in CONFORMANCE]
    there = all(path.is_file() for path in conformance)
    vouched = hashlib.sha256("".join(map(file_digest, conformance)).encode()).hexdigest() if there else ""
    return Freeze(
        split=split,
        composite=hashlib.sha256("".join(f"{e.sha256}  {e.path}\n" for e in entries).encode()).hexdigest(),
        conformance=vouched,
        entries=entries,
        sources=code,
    )


def write_build(root: Path, split: str) -> Freeze:
    """Compute a split's freeze, write it to `build/splits/<split>.json`, and return it."""
    freeze = compute(root, split)
    write_if_changed(root / f"build/splits/{split}.json", _encode(freeze))
    return freeze


def read(root: Path, split: str) -> Freeze:
    """Return the frozen state of a split from `data/splits/<split>.json`.

    Raises:
        UndolabError: it is not frozen, or the file is not a freeze.
    """
    path = root / f"data/splits/{split}.json"
    if not path.is_file():
        raise UndolabError(
            f"data/splits/{split}.json is missing; a maintainer must run `undolab freeze` first."
        )
    try:
        return msgspec.json.decode(path.read_bytes(), type=Freeze)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"data/splits/{split}.json is not a freeze ({error}); restore it from the repository."
        raise UndolabError(message) from error


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How the tree stands to a freeze."""

    broken: list[str] = []
    """One sentence for each thing that breaks the freeze."""
    notes: list[str] = []
    """One sentence for each change that the conformance verdicts show to be harmless."""

    @property
    def exit_code(self) -> int:
        """0 if the freeze holds, else 1."""
        return 1 if self.broken else 0


def difference(frozen: Freeze, now: Freeze) -> Difference:
    """Compare two states of a split and name each entry that differs.

    A changed source alone breaks the freeze only where equal conformance verdicts do not vouch for it.
    """
    broken = _entry_changes(frozen.entries, now.entries)
    code = _entry_changes(frozen.sources, now.sources)
    vouched = frozen.conformance != "" and frozen.conformance == now.conformance
    if frozen.conformance and now.conformance and not vouched:
        broken.append("The verdicts on the conformance corpus are not the frozen ones.")
    if frozen.composite != now.composite and not broken:
        broken.append(f"The composite digest of split {frozen.split} does not follow from its own entries.")
    if vouched:
        return Difference(
            broken=broken, notes=[f"{line[:-1]}, but every conformance verdict is equal." for line in code]
        )
    return Difference(broken=broken + code)


def check(root: Path, split: str) -> Difference:
    """Compute the split's freeze into `build/splits/` and compare it with `data/splits/`.

    Raises:
        UndolabError: the split is not frozen or cannot be computed.
    """
    return difference(read(root, split), write_build(root, split))


def freeze(root: Path, split: str) -> Freeze:
    """Freeze a split: compute it and write `data/splits/<split>.json`. Only maintainers run this."""
    state = write_build(root, split)
    write_bytes(root / f"data/splits/{split}.json", _encode(state))
    return state


def require_frozen(root: Path, split: str) -> None:
    """Refuse to record a split unless everything stands as it was frozen, the research plan first of all.

    Raises:
        UndolabError: the split is not frozen, or something differs from its frozen state.
    """
    broken = check(root, split).broken
    if broken:
        more = f" ({len(broken) - 1} more)" if len(broken) > 1 else ""
        raise UndolabError(f"split {split} is not as frozen: {broken[0]}{more} Freeze it before recording.")


def _entry_changes(before: list[Entry], after: list[Entry]) -> list[str]:
    old = {entry.path: entry.sha256 for entry in before}
    new = {entry.path: entry.sha256 for entry in after}
    changes = []
    for path in sorted({*old, *new}, key=byte_order):
        if path not in new:
            changes.append(f"{path} is frozen but no longer there.")
        elif path not in old:
            changes.append(f"{path} is not part of the freeze.")
        elif old[path] != new[path]:
            changes.append(f"{path} differs from its frozen state.")
    return changes


def _encode(freeze_: Freeze) -> bytes:
    text = json.dumps(msgspec.to_builtins(freeze_), indent=2, sort_keys=True, ensure_ascii=False)
    return (text + "\n").encode()
