"""Shards of a workflow's trials made one again: the arms in the order of their names, however they were shared out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress, write_bytes
from undolab.model.wire import ArmId


class _Start(msgspec.Struct):
    kind: str
    arm: ArmId | None = None


class _Judged(msgspec.Struct):
    arm: ArmId


class _Named(msgspec.Struct):
    arm: str


_start = msgspec.json.Decoder(_Start).decode
_judged = msgspec.json.Decoder(_Judged).decode
_named = msgspec.json.Decoder(_Named).decode

Split = Callable[[Iterable[bytes]], Iterator[tuple[str, bytes]]]


def merge_workflow(out: Path, workflow: str, shards: Sequence[Path]) -> int:
    """Write `trials`, `wire`, `ledger` and `pairs` of a workflow under `out` from the same of its shards.

    One shard or a hundred give the same bytes. Returns the number of arms.

    Args:
        out: folder of the build.
        workflow: its id.
        shards: folders that `write_workflow` has written.

    Raises:
        UndolabError: a shard lacks a file, a file cannot be read, or two shards hold the same arm.
    """
    count = 0
    for kind, split in (("wire", _logs), ("ledger", _rows), ("pairs", _rows), ("trials", _verdicts)):
        arms: dict[str, bytes] = {}
        for shard in shards:
            path = shard / kind / f"{workflow}.jsonl.zst"
            for name, data in _read(path, split):
                if name in arms:
                    raise UndolabError(
                        f"{path}: arm {name} is in another shard too; remove the shards and run them again"
                    )
                arms[name] = data
        whole = b"".join(arms[name] for name in sorted(arms))
        write_bytes(out / kind / f"{workflow}.jsonl.zst", compress(whole))
        count = len(arms) if kind == "trials" else count
    return count


def _read(path: Path, split: Split) -> Iterator[tuple[str, bytes]]:
    try:
        yield from split(decompress(path.read_bytes()).splitlines(keepends=True))
    except (OSError, ValueError, zstandard.ZstdError, msgspec.DecodeError) as error:
        raise UndolabError(
            f"{path} is missing or no part of a shard ({error}); run the shard again"
        ) from error


def _logs(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    name = ""
    log: list[bytes] = []
    for line in lines:
        start = _start(line)
        if start.kind == "start" and start.arm is not None:
            if name:
                yield name, b"".join(log)
            name, log = start.arm.name(), []
        elif not name:
            raise ValueError("it does not begin with a start line")
        log.append(line)
    if name:
        yield name, b"".join(log)


def _rows(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        yield _named(line).arm, line


def _verdicts(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        yield _judged(line).arm.name(), line
