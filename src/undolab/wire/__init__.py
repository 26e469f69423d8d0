"""The wire log: an append-only, hash-chained account of every attempt between agent and world."""

from undolab.wire.chain import GENESIS, chain_problems, line_digest
from undolab.wire.shard import heads, read_arms, shard_bytes, side_of, write_heads, write_shard
from undolab.wire.writer import LogWriter

__all__ = [
    "GENESIS",
    "LogWriter",
    "chain_problems",
    "heads",
    "line_digest",
    "read_arms",
    "shard_bytes",
    "side_of",
    "write_heads",
    "write_shard",
]
