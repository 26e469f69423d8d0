"""An agent as a Python function: it follows the runbook, and after a lost answer it stops and says that it does not know.

undolab trials run --agent examples/careful_agent.py:act --split dev --workflow RB-PAY-002
"""

from typing import Any


def act(request: dict[str, Any]) -> dict[str, Any]:
    """Return the next call of the runbook, or the report."""
    done = 0
    for turn in request["history"]:
        for reply in turn["replies"]:
            if reply["phase"] == "unknown":
                return {"report": "unknown"}
            if reply["phase"] == "fail":
                return {"report": "not_done"}
            done += 1
    if done == len(request["steps"]):
        return {"report": "done"}
    step = request["steps"][done]
    return {"calls": [{"tool": step["tool"], "arguments": step["arguments"]}]}
