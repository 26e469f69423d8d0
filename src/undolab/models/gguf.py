"""The tensor types of a GGUF file, because a file's quantisation name does not say what most of its bytes are.

Reads the header only: github.com/ggml-org/ggml, docs/gguf.md, versions 2 and 3.
"""

import struct
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from undolab.model.errors import UndolabError

_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1",
    10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS",
    18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16",
    26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip
_SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING = 8
_ARRAY = 9


def tensor_types(path: Path) -> dict[str, int]:
    """Return the number of tensors of each ggml type, sorted by type name.

    Raises:
        UndolabError: the file is no GGUF file or is cut.
    """
    try:
        with path.open("rb") as file:
            return _count(file, path.stat().st_size)
    except (struct.error, ValueError, KeyError, EOFError, OverflowError, RecursionError, OSError) as error:
        raise UndolabError(
            f"{path}: is not a whole GGUF file; fetch it again (the default model: delete it, then `make live`)."
        ) from error


def _count(file: BinaryIO, size: int) -> dict[str, int]:
    if file.read(4) != b"GGUF":
        raise ValueError
    version, tensors, entries = struct.unpack("<IQQ", file.read(20))
    if version not in {2, 3}:
        raise ValueError
    for _ in range(entries):
        _skip_string(file)
        _skip_value(file, _u32(file))
    counts: Counter[str] = Counter()
    for _ in range(tensors):
        _skip_string(file)
        file.seek(8 * _u32(file), 1)
        kind = _u32(file)
        _u64(file)
        counts[_TYPES.get(kind, f"type {kind}")] += 1
    if file.tell() > size:
        raise EOFError
    return dict(sorted(counts.items()))


def _u32(file: BinaryIO) -> int:
    return int(struct.unpack("<I", file.read(4))[0])


def _u64(file: BinaryIO) -> int:
    return int(struct.unpack("<Q", file.read(8))[0])


def _skip_string(file: BinaryIO) -> None:
    file.seek(_u64(file), 1)


def _skip_value(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _skip_string(file)
    elif kind == _ARRAY:
        item, count = _u32(file), _u64(file)
        if item in _SCALAR_BYTES:
            file.seek(_SCALAR_BYTES[item] * count, 1)
        else:
            for _ in range(count):
                _skip_value(file, item)
    else:
        file.seek(_SCALAR_BYTES[kind], 1)
