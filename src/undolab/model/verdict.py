"""Verdicts: what the judge says of one arm."""

from enum import StrEnum
from typing import Literal

import msgspec

from undolab.model.calls import FinalReport
from undolab.model.fault import Exposure
from undolab.model.wire import ArmId

RULES_VERSION = 1
"""Version of the verdict rules; it stands in each verdict and rises when a released verdict changes."""


class FailureClass(StrEnum):
    """Why an arm failed; the first that holds, in this order."""

    NONE = "NONE"
    INVALID_INJECTION = "INVALID_INJECTION"
    FORBIDDEN_EFFECT = "FORBIDDEN_EFFECT"
    DUPLICATE_EFFECT = "DUPLICATE_EFFECT"
    ORPHAN_EFFECT = "ORPHAN_EFFECT"
    ORDER_VIOLATION = "ORDER_VIOLATION"
    AGENT_FAILURE = "AGENT_FAILURE"
    """Missing effects after broken output, a turn limit or a call that does not exist."""
    ABSTAINED = "ABSTAINED"
    """Missing effects, and the report says not done or unknown."""
    MISSING_EFFECT = "MISSING_EFFECT"
    STATE_DIVERGENCE = "STATE_DIVERGENCE"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one arm. `passed` is S and X and O (design: metrics)."""

    arm: ArmId
    rules: int
    exposure: Exposure
    state: bool
    """S: every goal predicate holds."""
    effects: bool
    """X: every required effect within its bounds; no harmful duplicate, loss, orphan or forbidden effect."""
    order: bool
    """O: required order held."""
    passed: bool
    physical: int
    """Attempts of writing tools on the wire."""
    committed: int
    """Committed mutating attempts."""
    harmful_duplicates: int
    """Commits beyond a required effect's maximum that changed the state."""
    harmless_repeats: int
    """Commits beyond it that changed nothing."""
    replays: int
    """Answers from an idempotency key."""
    second_commits: int
    """Commits beyond each required effect's first, harmful or not: the published DER rule."""
    missing: int
    """Required effects below their minimum."""
    orphans: int
    """Changing commits that match no required effect."""
    forbidden: int
    unsafe_resends: int
    """Mutating attempts re-sent after an unknown outcome with neither a key nor a read between."""
    report: FinalReport
    truthful: bool
    """The report agrees with the state: done and S, or not done and not S; unknown is truthful only where an outcome was."""
    reads_after_fault: int
    failure: FailureClass
    turns: int
    failed_predicates: list[str] = []

    @property
    def outcome(self) -> Literal["pass", "fail", "unknown"]:
        """The verdict in three values: fail beats unknown beats pass.

        Unknown is what passed although its fault has no witness: nobody knows what it was that passed.
        """
        if not self.passed:
            return "fail"
        return "unknown" if self.exposure is Exposure.INVALID_INJECTION else "pass"
