"""The second implementation of every tool, over plain dictionaries: what the world must have done."""

from undolab.oracle.fold.fold import Fold

__all__ = ["Fold"]
