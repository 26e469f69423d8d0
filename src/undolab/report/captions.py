"""Captions of tables and figures: each names model, framework, prompt mode, worked examples and N."""

from undolab.report.words import scope_words, scopes, sizes
from undolab.stats.rows import MetricsFile

_TEXT = {
    "TableOne": (
        "Recovery and safety by method. Percent, with the 95\u00a0% interval of the task-clustered bootstrap (B = {B})"
        " below; exp. counts the pairs in which the fault struck. CRSR rests on the D pairs whose control passed."
        " Abstained: the report said not done or unknown, rightly, and no harm was done."
    ),
    "TableTwo": (
        "Outcomes under a lost acknowledgement for the first task of each domain: R of D recovered, pairs with a"
        " harmful duplicate (dup.) and with a missing effect (miss.)."
    ),
    "TableSeven": "Every task: R of D recovered, by boundary and method; a dash where D = 0, so CRSR is undefined.",
    "FigureTwo": (
        "Competence (share of controls passed) against recovery (CRSR). Circles are tasks, their number and area say"
        " how many share the point; the diamond is the pooled value with its 95\u00a0% bootstrap intervals."
    ),
    "FigureThree": "CRSR by task and method, with R/D; hatched where D = 0, so CRSR is undefined.",
    "FigureFive": (
        "Rates of harmful duplicates (DER), missing effects (MER) and unsafe re-sends (URR) by method, with 95\u00a0%"
        " task-clustered bootstrap intervals (B = {B})."
    ),
}


def captions(stats: MetricsFile) -> dict[str, str]:
    """Return plain-text captions by name (`TableOne`, `FigureTwo`, ...)."""
    parts = [
        scope_words(stats.cell(model, framework, stats.study.boundaries[0], stats.study.methods[0]).scope)
        for model, framework in scopes(stats)
    ]
    tail = f"{'; '.join(parts)}; {sizes(stats)}."
    tail = tail[0].upper() + tail[1:]
    return {name: f"{text.format(B=f'{stats.study.replicates:,}')} {tail}" for name, text in _TEXT.items()}
