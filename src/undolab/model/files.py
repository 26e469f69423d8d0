"""Writing files so that a reader never sees half of one: temporary name, fsync, rename."""

import os
import tempfile
from pathlib import Path

import zstandard

_LEVEL = 12


def write_bytes(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data` in one step, on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def compress(data: bytes) -> bytes:
    """Return one zstd frame (RFC 8878) with content size and checksum; equal bytes give equal frames."""
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, threads=0).compress(data)


def decompress(data: bytes) -> bytes:
    """Return the content of a zstd frame made by `compress`.

    Raises:
        zstandard.ZstdError: the frame is cut, its checksum is wrong, or something follows it.
    """
    frame = zstandard.ZstdDecompressor().decompressobj()
    content = frame.decompress(data)
    if not frame.eof:
        raise zstandard.ZstdError("the frame is cut")
    if frame.unused_data:
        raise zstandard.ZstdError("something follows the frame")
    return content
