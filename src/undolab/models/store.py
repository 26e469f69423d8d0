"""Model records on disk: a journal that survives a kill, and a sealed file whose bytes depend on the records alone."""

import fcntl
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Generic, TypeVar

import msgspec
import zstandard

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress, write_bytes
from undolab.model.record import HttpAttempt, Record, StoreHeader
from undolab.models.answer import undecodable
from undolab.models.backend import request_key

Entry = TypeVar("Entry", Record, HttpAttempt)
Place = TypeVar("Place", tuple[str, int], tuple[str, int, int])


class _Store(ABC, Generic[Entry, Place]):
    """The records of one model and split.

    `path` is the sealed `.jsonl.zst`: first line the header, then records sorted by key and ordinal. New records go to
    a journal beside it, plain lines in order of arrival, and into the sealed file by `seal`. Any of them may be missing.

    Args:
        path: the sealed file.
        worker: name of this process among several that record different workflows at a time, each into its own journal.

    Raises:
        UndolabError: a file cannot be decoded, or a record's key is not that of its request.
    """

    _kind: ClassVar[Any]

    def __init__(self, path: Path, worker: str = "") -> None:
        self.path = path
        self._stem = path.name.removesuffix(".jsonl.zst")
        self.journal = path.with_name(f"{self._stem}.{worker or 'one'}.journal.jsonl")
        self.header: StoreHeader | None = None
        self.notices: list[str] = []
        """What was mended on opening, in words."""
        self._records: dict[Place, Entry] = {}
        self._journals: dict[Path, int] = {}
        """Each journal that was read, and how long it was then."""
        self._file: BinaryIO | None = None
        self._whole = 0
        self._load()

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._records)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the records sorted by their places."""
        for place in sorted(self._records):
            yield self._records[place]

    def declare(self, header: StoreHeader) -> None:
        """Write a header before the first record of its engine; known engines are kept.

        Raises:
            UndolabError: the store holds records of another model.
        """
        merged = _merge(self.path, self.header, header)
        if merged != self.header:
            self.header = merged
            self._write(canonical(header))

    def append(self, record: Entry) -> None:
        """Add a record, on the disk when this returns.

        Raises:
            UndolabError: the place is taken (a recording is never overwritten) or the engine was not declared.
        """
        self._admit(record, str(self.journal))
        if not self._whole:
            # Each journal starts with a header of its own: those of other workers may be read after it.
            self._write(canonical(self.header))
        self._write(canonical(record))

    def seal(self) -> None:
        """Write every record into the sealed file and remove the journals.

        Raises:
            UndolabError: there is no record, or another process is or was meanwhile recording into a journal.
        """
        if self.header is None:
            raise UndolabError(f"{self.path}: there is nothing to seal; record something first.")
        self.hold()
        with ExitStack() as stack:
            for journal, size in self._journals.items():
                if journal != self.journal:
                    _lock(stack.enter_context(journal.open("rb")), journal, size)
            _seal(self.path, self.header, iter(self))
            for journal in self._journals:
                journal.unlink()
        self.close()
        self._whole = 0
        self._journals = {}

    def close(self) -> None:
        """Close the journal."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _load(self) -> None:
        if self.path.exists():
            try:
                data = decompress(self.path.read_bytes())
            except zstandard.ZstdError as error:
                raise UndolabError(
                    f"{self.path}: is cut or changed ({error}); restore it from the repository."
                ) from error
            if not data.endswith(b"\n"):
                raise UndolabError(
                    f"{self.path}: the last line is cut; restore the file from the repository."
                )
            self._read(str(self.path), data)
        for journal in self._find_journals():
            data = journal.read_bytes()
            self._journals[journal] = len(data)
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                self.notices.append(
                    f"{journal}: left out a last line that is cut ({len(data) - whole} bytes)."
                )
            if journal == self.journal:
                self._whole = whole
            self._read(str(journal), data[:whole], frozenset(self._records))

    def _find_journals(self) -> list[Path]:
        name = re.compile(re.escape(self._stem) + r"\.[^.]+\.journal\.jsonl")
        folder = self.path.parent
        return (
            sorted(path for path in folder.iterdir() if name.fullmatch(path.name)) if folder.is_dir() else []
        )

    def _read(self, name: str, data: bytes, known: Collection[Place] = ()) -> None:
        """Take in a file; of what is known before, the first file's answer stands: two workers may have asked the same."""
        for number, line in enumerate(data.splitlines(), 1):
            where = f"{name}: line {number}"
            try:
                value: Any = msgspec.json.decode(line)
                is_header = isinstance(value, dict) and "engines" in value
                entry = (
                    msgspec.convert(value, StoreHeader) if is_header else msgspec.convert(value, self._kind)
                )
                whole = canonical(entry) == line
            except (msgspec.DecodeError, ValueError) as error:
                raise UndolabError(
                    f"{where} is no record ({error}); restore the file from the repository."
                ) from error
            if not whole:
                raise UndolabError(f"{where} is not in canonical form; restore the file from the repository.")
            if isinstance(entry, StoreHeader):
                self.header = _merge(Path(name), self.header, entry)
            elif self._place(entry) not in known:
                self._admit(entry, where)

    def _admit(self, record: Entry, where: str) -> None:
        fault = self._fault(record)
        if fault:
            raise UndolabError(f"{where}: {fault}; restore the file from the repository.")
        self._records[self._place(record)] = record

    @abstractmethod
    def _place(self, record: Entry) -> Place: ...

    @abstractmethod
    def _own_fault(self, record: Entry) -> str: ...

    def _fault(self, record: Entry) -> str:
        if self.header is None:
            return "a record stands before the header"
        if record.engine not in self.header.engines:
            return f"engine {record.engine} of record {record.key[:12]} is not in the header"
        if record.request.model != self.header.model_digest:
            return f"record {record.key[:12]} is of another model"
        if record.key != request_key(record.request):
            return f"record {record.key[:12]} holds a request with another key"
        fault = self._own_fault(record)
        if not fault and (min(self._place(record)[1:]) < 1 or self._place(record) in self._records):
            return f"record {record.key[:12]} ordinal {record.ordinal} is there twice or below 1"
        return fault

    def hold(self) -> None:
        """Open the journal and lock it, so that what is recorded from now on has a place.

        Raises:
            UndolabError: another process is recording into it, or has done so since it was read.
        """
        if self._file is not None:
            return
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.journal.open("ab")
        try:
            _lock(self._file, self.journal, self._journals.get(self.journal, 0))
        except UndolabError:
            self.close()
            raise
        self._file.truncate(self._whole)
        self._journals[self.journal] = self._whole

    def _write(self, line: bytes) -> None:
        self.hold()
        assert self._file is not None  # noqa: S101 - hold opened it
        self._file.write(line + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._whole += len(line) + 1
        self._journals[self.journal] = self._whole


class RecordStore(_Store[Record, tuple[str, int]]):
    """Completions made in this process: one record an answer."""

    _kind = Record

    def get(self, key: str, ordinal: int) -> Record | None:
        """Return the record, or None."""
        return self._records.get((key, ordinal))

    def _place(self, record: Record) -> tuple[str, int]:
        return record.key, record.ordinal

    def _own_fault(self, record: Record) -> str:
        if len(record.completion.tokens) != len(record.completion.logprobs):
            return f"record {record.key[:12]} has not one log-probability a token"
        return ""


class HttpStore(_Store[HttpAttempt, tuple[str, int, int]]):
    """Answers of a service: one record an HTTP request, those that failed included."""

    _kind = HttpAttempt

    def attempts(self, key: str, ordinal: int) -> list[HttpAttempt]:
        """Return what was tried for an answer, in order."""
        found: list[HttpAttempt] = []
        while (key, ordinal, len(found) + 1) in self._records:
            found.append(self._records[key, ordinal, len(found) + 1])
        return found

    def _place(self, record: HttpAttempt) -> tuple[str, int, int]:
        return record.key, record.ordinal, record.attempt

    def _own_fault(self, record: HttpAttempt) -> str:
        why = undecodable(record)
        return f"record {record.key[:12]} ordinal {record.ordinal} cannot be decoded: {why}" if why else ""

    def _load(self) -> None:
        super()._load()
        for key, ordinal, attempt in self._records:
            if attempt > 1 and (key, ordinal, attempt - 1) not in self._records:
                raise UndolabError(
                    f"{self.path}: record {key[:12]} ordinal {ordinal} lacks attempt {attempt - 1}; "
                    "restore the file from the repository."
                )


def _lock(file: BinaryIO, path: Path, size: int) -> None:
    """Lock a journal that was `size` bytes long when it was read."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UndolabError(
            f"{path}: another process is recording into it; wait for it or stop it."
        ) from error
    # One that has sealed it meanwhile has taken the file away.
    if (
        not path.exists()
        or not os.path.samestat(path.stat(), os.fstat(file.fileno()))
        or path.stat().st_size != size
    ):
        raise UndolabError(
            f"{path}: another process has recorded into it meanwhile; run the same command again."
        )


def write_sealed(path: Path, header: StoreHeader, records: Iterable[Record]) -> None:
    """Write a sealed store: equal header and records give equal bytes, in whatever order they come."""
    _seal(path, header, sorted(records, key=lambda record: (record.key, record.ordinal)))


def _seal(path: Path, header: StoreHeader, ordered: Iterable[Record | HttpAttempt]) -> None:
    lines = [canonical(entry) for entry in (header, *ordered)]
    write_bytes(path, compress(b"\n".join(lines) + b"\n"))


def _merge(path: Path, old: StoreHeader | None, new: StoreHeader) -> StoreHeader:
    if old is None:
        return new
    if old.model_digest != new.model_digest:
        raise UndolabError(
            f"{path}: holds records of model {old.model_digest[:12]}, not of {new.model_digest[:12]}; "
            "use another folder for another model."
        )
    return msgspec.structs.replace(old, engines={**old.engines, **new.engines})
