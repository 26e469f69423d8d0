"""Others' published figures beside what their own counts, and our own histories, give."""

from undolab.stats.published.table import write

__all__ = ["write"]
