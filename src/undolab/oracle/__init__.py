"""Verdicts from state and effect history, and their reconstruction from the wire log alone."""

from undolab.oracle.fold import Fold
from undolab.oracle.judge import judge
from undolab.oracle.reconstruct import Reconstruction, reconstruct

__all__ = ["Fold", "Reconstruction", "judge", "reconstruct"]
