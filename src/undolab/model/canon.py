"""Canonical JSON (RFC 8785) and the digests made from it, because equal things must have equal bytes."""

import hashlib
from typing import Any

import msgspec
import rfc8785

# Between these, the shortest form of a float that is no integer has neither exponent nor trailing zero.
_TINY, _HUGE = 1e-5, 1e15
_encoder = msgspec.json.Encoder(order="sorted")
_SAFE_INTEGER = 2**53 - 1
# Two views of ASCII output, with commas and brackets as colons. In the first nothing is left of a number before its dot or
# exponent: `:e` shows a float, or null, which may have been NaN. In the second every digit is 0. Both may also find some text,
# never too little.
_POINTS = bytes.maketrans(b",[.En", b"::eee")
_WHOLE = b"-0123456789"
_DIGITS = bytes.maketrans(b",[-123456789", b"::0000000000")
_LONG = b":" + b"0" * 16


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a JSON value or msgspec struct.

    Raises:
        ValueError: the value has no canonical form (NaN, infinity, an integer beyond 2**53).
    """
    try:
        data = _encoder.encode(value)
    except OverflowError as error:
        raise ValueError(f"an integer beyond 2**53 has no canonical form ({error})") from error
    looks_plain = (
        data.isascii()
        and data.startswith((b"{", b"["))
        and b":e" not in data.translate(_POINTS, _WHOLE)
        and _LONG not in data.translate(_DIGITS)
    )
    if looks_plain or _plain(value):
        return data
    whole = msgspec.to_builtins(value)
    try:
        return _encoder.encode(_with_short_floats(whole))
    except _AwkwardError:
        return rfc8785.dumps(whole)


class _AwkwardError(Exception):
    """The value holds what only the reference implementation writes."""


def _with_short_floats(value: Any) -> Any:
    """Return a value of JSON types that msgspec's sorted output writes in canonical form, though it holds floats.

    Raises:
        _AwkwardError: it holds a float that is long, huge or tiny, or what `_plain` refuses.
    """
    kind = type(value)
    if kind is float:
        if value.is_integer() and -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
            return int(value)
        if _TINY <= value < _HUGE or -_HUGE < value <= -_TINY:
            return value
    elif kind is list:
        return [_with_short_floats(item) for item in value]
    elif kind is dict:
        if all(map(_plain, value)):
            return {key: _with_short_floats(item) for key, item in value.items()}
    elif _plain(value):
        return value
    raise _AwkwardError


def _plain(value: Any) -> bool:
    """Return True if msgspec's sorted output is the canonical form, as a property test holds; it is much the faster.

    It may differ for floats, integers beyond 2**53 and characters outside the basic plane.
    """
    kind = type(value)
    if kind is str:
        return bool(value.isascii() or max(value) <= "\uffff")
    if kind is int:
        return bool(-_SAFE_INTEGER <= value <= _SAFE_INTEGER)
    if kind is bool or value is None or value is msgspec.UNSET:
        return True
    if kind is dict:
        for key, item in value.items():  # noqa: SIM110 - a generator takes twice as long
            if not (_plain(key) and _plain(item)):
                return False
        return True
    if kind is list or kind is tuple:
        for item in value:  # noqa: SIM110 - a generator takes twice as long
            if not _plain(item):
                return False
        return True
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            item = getattr(value, name)
            if item is None or (type(item) is str and item.isascii()):
                continue
            if not _plain(item):
                return False
        return True
    return isinstance(value, str)


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


def resumed_seed(trial_seed: int, resume: int) -> int:
    """Return the trial seed of an agent whose process has died `resume` times: its own where it never has."""
    if not resume:
        return trial_seed
    return int.from_bytes(hashlib.sha256(f"{trial_seed}:resume:{resume}".encode()).digest()[:4], "big") >> 1
