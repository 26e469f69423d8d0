"""Metrics, intervals and tests over verdicts: integer sums first, tasks as clusters, undefined never zero."""

from undolab.stats.matrix import Family, Matrix, matrix_from
from undolab.stats.run import run

__all__ = ["Family", "Matrix", "matrix_from", "run"]
