"""A disk that forgets: an SQLite VFS that logs what goes to it, and the files as a power cut may leave them.

What was written to a file and not yet synced may be there, or not, in any combination, torn at any sector, or as garbage
within the range being written. A new name lasts once its folder is synced, which SQLite does with the first sync of a new
journal or WAL. Names are changed in order, as journalling file systems do.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

SECTOR = 512  # bytes
_VFS = "undolab-study"
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
Files = dict[str, bytes]


class Write(NamedTuple):
    """Bytes written at an offset of a file."""

    file: str
    offset: int
    data: bytes


class Truncate(NamedTuple):
    """A file cut or stretched to a size."""

    file: str
    size: int


class Sync(NamedTuple):
    """All that was written to a file is safe; with `folder`, all names in its folder too."""

    file: str
    folder: bool


class Create(NamedTuple):
    """A new, empty file."""

    file: str


class Delete(NamedTuple):
    """A name taken away; with `folder`, for good."""

    file: str
    folder: bool


class Acknowledged(NamedTuple):
    """So many requests have been answered: they must outlive every crash from here on."""

    requests: int


Event = Write | Truncate | Sync | Create | Delete | Acknowledged
Log = list[Event]


class _File(apsw.VFSFile):
    def __init__(self, base: str, filename: str | apsw.URIFilename, flags: list[int], log: Log) -> None:
        path = filename if isinstance(filename, str) else filename.filename()
        self._name = Path(path).name
        self._log = log
        # SQLite syncs the folder once, with the first sync of a journal or WAL that it has made.
        self._new_journal = not Path(path).exists() and bool(flags[0] & _JOURNALS)
        if not Path(path).exists():
            log.append(Create(self._name))
        super().__init__(base, filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's name
        super().xWrite(data, offset)
        self._log.append(Write(self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._log.append(Truncate(self._name, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._log.append(Sync(self._name, self._new_journal))
        self._new_journal = False


class Disk(apsw.VFS):
    """The VFS; `log` holds all that happened through it. Its random numbers are seeded, so that a log can be made again."""

    def __init__(self, seed: int) -> None:
        self.log: Log = []
        self._random = random.Random(seed)  # noqa: S311 - the same bytes each time are the point
        self._base = next(name for name in apsw.vfs_names() if name != _VFS)
        super().__init__(_VFS, base=self._base, makedefault=True)
        apsw.randomness(0)  # SQLite draws its seed anew, from the default VFS

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file and log what goes to it."""
        if name is None:  # a temporary file dies with the machine anyway
            return apsw.VFSFile(self._base, name, flags)
        return _File(self._base, name, flags, self.log)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - apsw's signature
        """Delete a file and log it."""
        super().xDelete(filename, syncdir)
        self.log.append(Delete(Path(filename).name, syncdir))

    def xRandomness(self, numbytes: int) -> bytes:  # noqa: N802
        """Return the seeded bytes that SQLite's salts come from."""
        return self._random.randbytes(numbytes)

    def connect(self, path: Path) -> apsw.Connection:
        """Open a database through this disk."""
        return apsw.Connection(str(path), vfs=_VFS)

    def acknowledge(self, requests: int) -> None:
        """Note that so many requests have been answered."""
        self.log.append(Acknowledged(requests))


class _State:
    """Files by number, since a name may be made anew; what is safe and what is on its way."""

    def __init__(self) -> None:
        self.safe: list[bytearray] = []
        self.pending: list[list[Write | Truncate]] = []
        self.names: dict[str, int] = {}
        self.safe_names: dict[str, int] = {}
        self.renames: list[tuple[str, int | None]] = []
        self.acknowledged = 0

    def step(self, event: Event) -> None:
        match event:
            case Write() | Truncate():
                self.pending[self.names[event.file]].append(event)
            case Create():
                self.names[event.file] = len(self.safe)
                self.safe.append(bytearray())
                self.pending.append([])
                self.renames.append((event.file, self.names[event.file]))
            case Sync():
                number = self.names[event.file]
                for write in self.pending[number]:
                    _apply(self.safe[number], write)
                self.pending[number] = []
                if event.folder:
                    self._settle_names()
            case Delete():
                self.names.pop(event.file, None)
                self.renames.append((event.file, None))
                if event.folder:
                    self._settle_names()
            case Acknowledged():
                self.acknowledged = event.requests

    def _settle_names(self) -> None:
        _rename(self.safe_names, self.renames)
        self.renames = []


class Crash(NamedTuple):
    """What the machine comes up with: the files, how many requests were answered, and how it was damaged, in words."""

    at: int
    files: Files
    acknowledged: int
    damage: str


def crashes(
    log: Sequence[Event], points: range, seed: int, *, exhaustive: int, sample: int
) -> Iterator[Crash]:
    """Yield the different images of a power cut after each of the first `points` events.

    Where at most `exhaustive` writes are on their way, every subset of them is tried whole, and torn and garbled samples
    too; elsewhere `sample` images are drawn by the seed. None, all, and all but the last are always among them.
    """
    state = _State()
    for at, event in enumerate(log, 1):
        if at > points.stop - 1:
            return
        state.step(event)
        if at in points:
            yield from _images(state, at, random.Random(f"{seed}-{at}"), exhaustive, sample)  # noqa: S311


def _images(state: _State, at: int, dice: random.Random, exhaustive: int, sample: int) -> Iterator[Crash]:
    flat = [(number, place) for number, writes in enumerate(state.pending) for place in range(len(writes))]
    seen: set[int] = set()

    def image(
        kept: set[tuple[int, int]], renames: int, damage: str, tear: random.Random | None
    ) -> Crash | None:
        files = _files(state, kept, renames, tear, garbage=damage == "garbled")
        key = hash(tuple(sorted(files.items())))
        if key in seen:
            return None
        seen.add(key)
        return Crash(at, files, state.acknowledged, damage)

    names = len(state.renames)
    wanted: list[tuple[set[tuple[int, int]], int, str, random.Random | None]] = [
        (set(), 0, "none", None),
        (set(flat), names, "all", None),
        (set(flat[:-1]), names, "all but the last", None),
        (set(flat[1:]), names, "all but the first", None),
        (set(flat), 0, "all, names lost", None),
    ]
    if len(flat) <= exhaustive:
        for bits in range(1 << len(flat)):
            kept = {one for place, one in enumerate(flat) if bits >> place & 1}
            wanted += [(kept, left, "subset", None) for left in range(names + 1)]
    for turn in range(sample if flat else 0):
        share = dice.random()
        kept = {one for one in flat if dice.random() < share}
        damage = ("subset", "torn", "garbled")[turn % 3]
        tear = None if damage == "subset" else random.Random(dice.random())  # noqa: S311
        wanted.append((kept, dice.randint(0, names), damage, tear))
    for one in wanted:
        made = image(*one)
        if made is not None:
            yield made


def _files(
    state: _State, kept: set[tuple[int, int]], renames: int, tear: random.Random | None, *, garbage: bool
) -> Files:
    """Return the files when of the pending writes only those in `kept` arrived whole; with `tear`, others in part."""
    contents: dict[int, bytearray] = {}
    for number, writes in enumerate(state.pending):
        content = bytearray(state.safe[number])
        for place, write in enumerate(writes):
            if (number, place) in kept:
                _apply(content, write)
            elif tear is not None and isinstance(write, Write):
                _tear(content, write, tear, garbage=garbage)
        contents[number] = content
    names = dict(state.safe_names)
    _rename(names, state.renames[:renames])
    return {name: bytes(contents[number]) for name, number in names.items()}


def _tear(content: bytearray, write: Write, dice: random.Random, *, garbage: bool) -> None:
    """Let some of a write's sectors arrive, and where `garbage`, others as noise: never a byte outside its range."""
    start, end = write.offset, write.offset + len(write.data)
    at = start
    while at < end:
        stop = min(end, (at // SECTOR + 1) * SECTOR)
        if dice.random() < 0.5:
            _apply(content, Write(write.file, at, write.data[at - start : stop - start]))
        elif garbage and dice.random() < 0.5:
            _apply(content, Write(write.file, at, dice.randbytes(stop - at)))
        at = stop


def _apply(content: bytearray, write: Write | Truncate) -> None:
    size = write.size if isinstance(write, Truncate) else write.offset
    if len(content) < size:
        content.extend(bytes(size - len(content)))
    if isinstance(write, Truncate):
        del content[size:]
    else:
        content[size : size + len(write.data)] = write.data


def _rename(names: dict[str, int], renames: Sequence[tuple[str, int | None]]) -> None:
    for name, number in renames:
        if number is None:
            names.pop(name, None)
        else:
            names[name] = number


def put(files: Files, folder: Path) -> None:
    """Make a folder hold just these files."""
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
