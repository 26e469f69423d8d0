"""Bounded histories: every short word of peer events after one effect, judged by two oracles, for every policy."""
