"""Shards of a workflow's trials made one again: the arms in the order of their names, however they were shared out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
        UndolabError: a shard lacks a file or an arm, a file cannot be read, an arm is of another workflow, or two shards hold
            the same arm. Nothing is written then.
    """
    merged: dict[str, dict[str, bytes]] = {kind: {} for kind in _KINDS}
    for shard in shards:
        parts = {
            kind: _read(shard / kind / f"{workflow}.jsonl.zst", split, workflow)
            for kind, split in _KINDS.items()
        }
        _require_whole(shard, parts)
        for kind, arms in parts.items():
            twice = sorted(arms.keys() & merged[kind].keys())
            if twice:
                raise UndolabError(
                    f"{shard}: arm {twice[0]} is in another shard too; remove the shards and run them again"
                )
            merged[kind] |= arms
    for kind, arms in merged.items():
        whole = b"".join(arms[name] for name in sorted(arms))
        write_bytes(out / kind / f"{workflow}.jsonl.zst", compress(whole))
    return len(merged["trials"])


def _require_whole(shard: Path, parts: Mapping[str, Mapping[str, bytes]]) -> None:
    """Refuse a shard whose files are not of the same arms; a control is compared with nothing and has no pair."""
    arms = set().union(*parts.values())
    for kind, found in parts.items():
        wanted = {name for name in arms if kind != "pairs" or not name.endswith("/control")}
        if found.keys() != wanted:
            name = min(found.keys() ^ wanted)
            raise UndolabError(
                f"{shard}: {kind} and the other files do not both hold arm {name}; run the shard again"
            )


def _read(path: Path, split: Split, workflow: str) -> dict[str, bytes]:
    try:
        return _arms(decompress(path.read_bytes()), split, workflow)
    except (OSError, ValueError, zstandard.ZstdError, msgspec.DecodeError) as error:
        raise UndolabError(
            f"{path} is missing or no part of a shard ({error}); run the shard again"
        ) from error


def _arms(data: bytes, split: Split, workflow: str) -> dict[str, bytes]:
    if data and not data.endswith(b"\n"):
        raise ValueError("its last line is cut")
    arms: dict[str, bytes] = {}
    for name, lines in split(data.splitlines(keepends=True)):
        if not name.startswith(f"{workflow}/"):
            raise ValueError(f"arm {name} is of another workflow")
        if name in arms:
            raise ValueError(f"arm {name} stands twice in it")
        arms[name] = lines
    return arms


def _logs(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    name = ""
    log: list[bytes] = []
    for line in lines:
        start = _start(line)
        if (start.kind == "start") is bool(name):
            raise ValueError(
                f"the log of {name} has no end" if name else "it does not begin with a start line"
            )
        if start.arm is not None:
            name = start.arm.name()
        log.append(line)
        if start.kind == "report":
            yield name, b"".join(log)
            name, log = "", []
    if name:
        raise ValueError(f"the log of {name} has no end")


def _rows(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        yield _named(line).arm, line


def _verdicts(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        yield _judged(line).arm.name(), line


_KINDS: Mapping[str, Split] = {"wire": _logs, "ledger": _rows, "pairs": _rows, "trials": _verdicts}
