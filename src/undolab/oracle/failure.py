"""Why an arm failed: the first class that holds, in the order of `FailureClass`."""

from undolab.model.calls import FinalReport
from undolab.model.fault import Exposure
from undolab.model.verdict import FailureClass
from undolab.oracle.effects import Account, Role
from undolab.oracle.history import History


def failure(log: History, found: Account, exposed: Exposure, *, order: bool, state: bool) -> FailureClass:
    """Return the failure class of an arm, NONE if it passed and its fault is valid."""
    classes = (
        (FailureClass.INVALID_INJECTION, exposed is Exposure.INVALID_INJECTION),
        (FailureClass.FORBIDDEN_EFFECT, Role.FORBIDDEN in found.roles),
        (FailureClass.DUPLICATE_EFFECT, Role.DUPLICATE in found.roles),
        (FailureClass.ORPHAN_EFFECT, Role.ORPHAN in found.roles),
        (FailureClass.ORDER_VIOLATION, not order),
        (FailureClass.AGENT_FAILURE, bool(found.missing) and _agent_broke(log)),
        (FailureClass.ABSTAINED, bool(found.missing) and _abstained(log)),
        (FailureClass.MISSING_EFFECT, bool(found.missing)),
        (FailureClass.STATE_DIVERGENCE, not state),
    )
    return next((name for name, holds in classes if holds), FailureClass.NONE)


def _agent_broke(log: History) -> bool:
    return log.report.reason.startswith(("agent_failure", "turn_limit")) or any(
        turn.error for turn in log.turns
    )


def _abstained(log: History) -> bool:
    return log.report.report in (FinalReport.NOT_DONE, FinalReport.UNKNOWN)
