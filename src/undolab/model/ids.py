"""Ids that a service would choose at random, made repeatable: the same world and the same writes give the same ids."""

import hashlib


def seeded_id(seed: int, prefix: str, n: int) -> str:
    """Return `prefix_` and 8 hex digits of SHA-256 over seed, prefix and `n`, the nth id of that prefix in this world."""
    return f"{prefix}_{hashlib.sha256(f'{seed}:{prefix}:{n}'.encode()).hexdigest()[:8]}"
