"""Shards: the logs of many arms in one compressed file, in the order of their names."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
import zstandard

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress, write_bytes
from undolab.model.wire import ArmStart, WireLine
from undolab.wire.chain import line_digest

_decoder: msgspec.json.Decoder[WireLine] = msgspec.json.Decoder(WireLine)


def shard_bytes(logs: Mapping[str, bytes]) -> bytes:
    """Return one compressed shard of the logs, keyed by arm name; the order of the mapping does not matter."""
    return compress(b"".join(logs[name] for name in sorted(logs)))


def write_shard(path: Path, logs: Mapping[str, bytes]) -> None:
    """Write a shard in one step."""
    write_bytes(path, shard_bytes(logs))


def read_arms(path: Path) -> Iterator[tuple[str, list[WireLine]]]:
    """Yield each arm's name and lines, from `.jsonl.zst` or plain `.jsonl`.

    Raises:
        UndolabError: the file cannot be decompressed, a line is not a wire line, or lines precede the first start.
    """
    data = path.read_bytes()
    if path.suffix == ".zst":
        try:
            data = decompress(data)
        except zstandard.ZstdError as error:
            raise UndolabError(
                f"{path}: the compressed log is cut or damaged ({error}); fetch or build it again"
            ) from error
    if data and not data.endswith(b"\n"):
        raise UndolabError(f"{path}: the log is cut in the middle of its last line; fetch or build it again")
    name = ""
    lines: list[WireLine] = []
    for number, raw in enumerate(data.splitlines(), start=1):
        try:
            line = _decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UndolabError(
                f"{path}, line {number}: not a line of a wire log ({error}); name a wire log, or build it again"
            ) from error
        if canonical(line) != raw:
            raise UndolabError(
                f"{path}, line {number}: the bytes are not canonical JSON; build the log again"
            )
        if isinstance(line, ArmStart):
            if name:
                yield name, lines
            if line.arm.name() <= name:
                raise UndolabError(
                    f"{path}, line {number}: arm {line.arm.name()} is there twice or out of order; build the log again"
                )
            name, lines = line.arm.name(), []
        elif not name:
            raise UndolabError(
                f"{path}, line {number}: the log does not begin with a start line; build it again"
            )
        lines.append(line)
    if name:
        yield name, lines


def heads(arms: Iterable[tuple[str, list[WireLine]]]) -> dict[str, tuple[int, str]]:
    """Return each arm's number of lines and the digest of its last line."""
    return {name: (len(lines), line_digest(canonical(lines[-1]))) for name, lines in arms}


def side_of(path: Path) -> str:
    """Return `side/<study>/` for a log in the folders of a side study, which the index puts before its arms' names; else nothing.

    An arm of a side study may have the name of one of the main study.
    """
    parts = path.parts[-4:-1]
    return f"side/{parts[1]}/" if len(parts) == 3 and parts[0] == "side" else ""


def write_heads(path: Path, index: Mapping[str, tuple[int, str]]) -> None:
    """Write the sorted index of chain heads: name, lines and head, tab-separated."""
    rows = (f"{name}\t{count}\t{head}\n" for name, (count, head) in sorted(index.items()))
    write_bytes(path, "".join(rows).encode())
