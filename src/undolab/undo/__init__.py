"""The undo layer: receipts for one's own effects, and recovery that never touches anybody else's work."""

from undolab.undo.store import Answer, RunReport, Store
from undolab.undo.types import Context, Effect, Outcome, Receipt, Rejected

__all__ = ["Answer", "Context", "Effect", "Outcome", "Receipt", "Rejected", "RunReport", "Store"]
