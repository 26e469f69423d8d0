"""Canonical JSON (RFC 8785) and the digests made from it, because equal things must have equal bytes."""

import hashlib
import re
from typing import Any

import msgspec
import rfc8785

# A float, an integer beyond 2**53, a character outside the basic plane or a null (which msgspec also writes for NaN) is where
# msgspec's sorted output may differ from RFC 8785; all else is byte-equal (a property test holds this) and much faster.
_NEEDS_FULL_RULES = re.compile(rb"(?:^|[:\[,])(?:null|-?\d+(?:[.eE]|(?<=\d{16})))|[\xf0-\xf4]")
_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value or msgspec struct.

    Raises:
        ValueError: the value has no canonical form (NaN, infinity, an integer beyond 2**53).
    """
    raw = _encoder.encode(value)
    if _NEEDS_FULL_RULES.search(raw):
        return rfc8785.dumps(msgspec.to_builtins(value))
    return raw


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes, 64 lower-case hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def short_digest(value: Any) -> str:
    """Return the first 64 bits of `digest`, 16 hex digits: enough to tell the states of one entity apart."""
    return hashlib.sha256(canonical(value)).hexdigest()[:16]


def bytes_digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def call_seed(trial_seed: int, turn: int) -> int:
    """Return the sampling seed of one model call: 31 bits of SHA-256 over the trial seed and the turn."""
    return int.from_bytes(hashlib.sha256(f"{trial_seed}:{turn}".encode()).digest()[:4], "big") >> 1
