"""Verdicts in plain words: what a reader of the demo is told about one arm."""

from collections.abc import Mapping, Sequence
from typing import Any

from undolab.model.calls import FinalReport
from undolab.model.fault import Exposure
from undolab.model.verdict import FailureClass, Verdict
from undolab.model.workflow import Workflow

METHODS = {
    "none": ("No method", "The agent sees the error and decides alone."),
    "B0": ("Naive retry (B0)", "Sends the same request again."),
    "B2": ("Idempotency key (B2)", "Retries with a key, where the service honours one."),
    "B2-K": ("Keys everywhere (B2-K)", "Retries with a key, and every service honours it."),
    "B3": ("Saga (B3)", "Retries; if that fails, undoes the steps before it."),
    "B5": ("Client journal (B5)", "Writes down each call before it is sent, and retries."),
    "B6": ("Verify before retry (B6)", "Reads the state back before it retries."),
    "B7": ("Undo receipts (B7)", "Reads back, takes back what is its own and half done, retries."),
}
"""Method code to its name and what it does; other codes stand for themselves."""

BOUNDARIES = {
    "PRE_MUTATION": ("Request lost", "The connection died before anything ran."),
    "DURING_MUTATION": ("Half done", "A part of the call took effect, then the connection died."),
    "POST_MUTATION_PRE_ACK": ("Answer lost", "The call took effect, then its answer was lost."),
    "POST_ACK_PRE_CHECKPOINT": ("Agent dies", "Answered; then the agent died and came back, told nothing."),
    "POST_ACK_PRE_CHECKPOINT_TOLD": (
        "Agent dies, told",
        "The same, and it was told that it had been interrupted.",
    ),
}
"""Boundary to its short name and what happened there."""

FRAMEWORKS = {
    "F1": "the direct loop: the text of the model is read as calls, with no agent framework in between",
    "F2": "the same agent as a graph of LangGraph, with its own layout of the prompt",
}
PROMPTS = {
    "runbook": "the prompt writes out the calls of the task, with their arguments",
    "objective": "the prompt gives the objective alone",
}
EXAMPLES = {"plain": "the worked examples before the task show no failure"}
"""Names in the study to what they mean, for the legend; a name that is not here is left out of it."""

_HEADLINES = {
    FailureClass.NONE: "Exactly right",
    FailureClass.INVALID_INJECTION: "The fault could not be confirmed",
    FailureClass.FORBIDDEN_EFFECT: "Did something forbidden",
    FailureClass.DUPLICATE_EFFECT: "Done twice",
    FailureClass.ORPHAN_EFFECT: "Did something nobody asked for",
    FailureClass.ORDER_VIOLATION: "Done in the wrong order",
    FailureClass.AGENT_FAILURE: "The agent itself broke off",
    FailureClass.ABSTAINED: "Left undone, and said so",
    FailureClass.MISSING_EFFECT: "Left undone",
    FailureClass.STATE_DIVERGENCE: "Ended in a wrong state",
}
_REPORTS = {
    FinalReport.DONE: "It reported “done”",
    FinalReport.NOT_DONE: "It reported “not done”",
    FinalReport.UNKNOWN: "It reported “I do not know”",
    FinalReport.NONE: "It stopped without a report",
}


def times(number: int) -> str:
    """Return a number of times in words: never, once, twice, 3 times."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def headline(verdict: Verdict) -> str:
    """Return the verdict in a few words."""
    return _HEADLINES[verdict.failure]


def story(verdict: Verdict, counts: Sequence[Mapping[str, Any]]) -> str:
    """Return in one sentence what went wrong, or that nothing did.

    Args:
        verdict: The verdict of the arm.
        counts: The required effects with `label`, `count`, `min` and `max`.
    """
    for item in counts:
        if item["count"] > item["max"]:
            return f"“{item['label']}” took effect {times(item['count'])} instead of {times(item['max'])}."
    if verdict.passed:
        return "Every effect happened as often as it should, and the final state is right."
    undone = [item["label"] for item in counts if item["count"] < item["min"]]
    if undone:
        return f"“{undone[0]}” was left undone{_more(len(undone) - 1)}."
    if verdict.failed_predicates:
        return _state(verdict)
    return f"{headline(verdict)}."


def clauses(verdict: Verdict, workflow: Workflow) -> list[dict[str, Any]]:
    """Return the clauses of a verdict: `name`, whether it is `ok`, and `text`."""
    found = [
        _clause("Final state", verdict.state, _state(verdict)),
        _clause("Effects", verdict.effects, _effects(verdict)),
    ]
    if workflow.order:
        text = (
            "Steps took effect in the required order." if verdict.order else "Steps took effect out of order."
        )
        found.append(_clause("Order", verdict.order, text))
    truth = "true" if verdict.truthful else "not true"
    said = _REPORTS[verdict.report]
    tail = "." if verdict.report is FinalReport.NONE else f", and that is {truth}."
    found.append(_clause("Report", verdict.truthful, f"{said}{tail}"))
    return found


def exposure(verdict: Verdict) -> str:
    """Return what became of the fault, or an empty text where there is nothing to say."""
    return {
        Exposure.NOT_EXPOSED: "The fault never struck: the agent did not make the call that it aimed at.",
        Exposure.INVALID_INJECTION: "The fault has no independent witness; this run does not count.",
    }.get(verdict.exposure, "")


def _clause(name: str, ok: bool, text: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "text": text}


def _more(number: int) -> str:
    return f", and {number} more" if number > 0 else ""


def _state(verdict: Verdict) -> str:
    if verdict.state:
        return "Everything that must hold at the end holds."
    lead = "This should hold and does" if len(verdict.failed_predicates) == 1 else "These should hold and do"
    quoted = ["“" + say.rstrip(".") + "”" for say in verdict.failed_predicates]
    return f"{lead} not: {', '.join(quoted)}."


def _effects(verdict: Verdict) -> str:
    kinds = [
        (
            verdict.harmful_duplicates,
            "effect too many: a repeat that does harm",
            "effects too many: repeats that do harm",
        ),
        (verdict.missing, "required effect is missing", "required effects are missing"),
        (verdict.orphans, "effect that nobody asked for", "effects that nobody asked for"),
        (verdict.forbidden, "forbidden effect", "forbidden effects"),
    ]
    bad = [f"{_number(number, one, many)}." for number, one, many in kinds if number]
    harmless = [
        (verdict.harmless_repeats, "repeat changed nothing", "repeats changed nothing"),
        (
            verdict.replays,
            "call was answered again from its key, with no new effect",
            "calls were answered again from their keys, with no new effect",
        ),
    ]
    extra = [_number(number, one, many).lower() for number, one, many in harmless if number]
    text = bad or ["Each required effect took place as often as it should."]
    return " ".join([*text, *([f"Harmless: {'; '.join(extra)}."] if extra else [])])


def _number(number: int, one: str, many: str) -> str:
    return f"One {one}" if number == 1 else f"{number} {many}"
