"""All bounded histories of depth 8 in one go, with the time that it took."""

import time

from undolab.undo.histories import agents
from undolab.undo.histories.summary import summary
from undolab.undo.study.suite import Case, Found

DEPTH = 8
_TARGET = 120.0  # seconds, on two cores


def cases() -> list[Case]:
    """Return the one case; its counts are exact, and a kernel that gets a history wrong is a problem."""
    return [Case(f"depth {DEPTH}", _walk)]


def _walk() -> Found:
    began = time.monotonic()
    found = summary(DEPTH, agents.DEPTH)
    spent = time.monotonic() - began
    counts = {"histories": found["histories"], "rows": found["rows"]}
    for policy, totals in found["policies"].items():
        counts |= {f"{policy}_{name}": totals[name] for name in ("eligible", "collateral", "recovered")}
    wrong = [
        f"kernel: {kernel['wrong']} histories of {kind} are wrong"
        for kind, kernel in found["kernel"].items()
        if kernel["wrong"]
    ]
    if spent > _TARGET:
        wrong.append(f"it took {spent:.0f} s, more than {_TARGET:.0f} s")
    return Found(counts, wrong)
