"""How numbers, methods, boundaries and scopes are worded, so that tables, figures and macros say the same."""

from collections.abc import Sequence

from undolab.stats.rows import CellRow, Estimate, MetricsFile, Scope

BOUNDARY = {
    "NONE": "No fault",
    "PRE_MUTATION": "Request lost",
    "DURING_MUTATION": "Half done, answer lost",
    "POST_MUTATION_PRE_ACK": "Acknowledgement lost",
    "POST_ACK_PRE_CHECKPOINT": "Agent dies, told nothing",
    "POST_ACK_PRE_CHECKPOINT_TOLD": "Agent dies, told so",
    "DURING_COMPENSATION": "Undo answer lost",
    "LATE_COMMIT": "Late commit",
    "OVERTAKEN": "Retry overtakes the call",
    "OUTLIVES_BUDGET": "Fault outlives the budget",
    "DUPLICATE_DELIVERY": "Delivered twice",
    "CONCURRENT_WRITE": "Somebody else wrote it",
    "TWO_FAULTS": "Two faults",
}
PLACE = {
    "PRE_MUTATION": "Request lost",
    "DURING_MUTATION": "Half done",
    "POST_MUTATION_PRE_ACK": "Ack. lost",
    "POST_ACK_PRE_CHECKPOINT": "Died, silent",
    "POST_ACK_PRE_CHECKPOINT_TOLD": "Died, told",
}
"""Boundaries in two words, for narrow columns."""
METHOD = {
    "none": "none",
    "B0": "B0 retry",
    "B1": "B1 roll back",
    "B2": "B2 key",
    "B2-K": "B2-K all keys",
    "B3": "B3 saga",
    "B4": "B4 back-off",
    "B5": "B5 journal",
    "B6": "B6 verify",
    "B7": "B7 undo",
}
UNDEFINED = "undefined"


def boundary(name: str) -> str:
    """Return what happens at a boundary."""
    return BOUNDARY.get(name, name)


def place(name: str) -> str:
    """Return a boundary in two words."""
    return PLACE.get(name, boundary(name))


def method(name: str) -> str:
    """Return a method's code with a word of what it does."""
    return METHOD.get(name, name)


def percent(value: float | None) -> str:
    """Return a share as a percentage with one decimal and no sign, or `undefined`."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def interval(estimate: Estimate) -> str:
    """Return `[lo, hi]` in percent, or `undefined`."""
    if estimate.lo is None or estimate.hi is None:
        return UNDEFINED
    return f"[{percent(estimate.lo)}, {percent(estimate.hi)}]"


def fraction(estimate: Estimate) -> str:
    """Return `num/den`, the whole truth of a small cell."""
    return f"{estimate.num}/{estimate.den}"


def scopes(stats: MetricsFile) -> list[tuple[str, str]]:
    """Return (model, framework) of every part of the study, in its order."""
    study = stats.study
    return [(model, framework) for model in study.models for framework in study.frameworks]


def whose(stats: MetricsFile, model: str, framework: str) -> str:
    """Return `, model, framework` where the study has several, else nothing: the caption says it."""
    return f", {model}, {framework}" if len(scopes(stats)) > 1 else ""


def scope_words(scope: Scope) -> str:
    """Return model, framework, prompt mode and worked examples in words."""
    return (
        f"model {scope.model}, framework {scope.framework}, prompt mode {scope.prompt},"
        f" worked examples {scope.examples}"
    )


def pooled(stats: MetricsFile, model: str, framework: str, boundary: str) -> list[CellRow]:
    """Return the cells over all tasks at one boundary, one a method."""
    return [stats.cell(model, framework, boundary, name) for name in stats.study.methods]


def sizes(stats: MetricsFile) -> str:
    """Return the size of a cell in words: pairs, tasks and seeds."""
    study = stats.study
    tasks, seeds = len(study.workflows), len(study.seeds)
    return f"N = {tasks * seeds} pairs a cell ({tasks} tasks, {seeds} seeds)"


def listed(names: Sequence[str]) -> str:
    """Return names in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
