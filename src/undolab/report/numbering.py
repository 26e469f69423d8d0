"""Every table and figure of the paper: its file, its macro, its number in the published study, and what it shows.

This is the one place that maps numbers to files. `table01` to `table14` and `figure1` to `figure6` have the content and the
order of the published study; what has a name instead of a number is ours.
"""

from typing import NamedTuple


class Item(NamedTuple):
    """One table or figure."""

    name: str
    """Stem of its files under `tables/` or `figures/`."""
    macro: str
    """Its caption is `\\URcaption<macro>`."""
    shows: str
    """What it shows, in one line."""
    caption: str
    """Caption, without the scope that is added to it. `{B}` is the number of replicates, `{place}` the main boundary."""
    lead: str = ""
    """What stands before the scope, where the table holds more than the main study."""
    scoped: bool = True
    """True if it rests on the study with the models, so that its caption ends with model, framework and prompt."""


_CI = "95\u00a0% interval of the task-clustered bootstrap (B = {B})"
_PERCENT = "Values are percent"

TABLES = (
    Item(
        "table01", "TableOne", "recovery and safety by method at each boundary, each model by itself, its frameworks together",
        "Recovery and safety by method, of the study's first model (all are in the CSV file); its frameworks together, each"
        " boundary apart. " + _PERCENT + ", in brackets"
        " the " + _CI + "; exp. counts the pairs in which the fault struck. CRSR rests on the D pairs whose control"
        " passed. Abstained: the report said not done or unknown, rightly, and no harm was done.",
    ),
    Item(
        "table02", "TableTwo", "outcomes of the first task of each domain at the main boundary",
        "Outcomes at one boundary ({place}) for the first task of each domain: pairs recovered (of the D pairs whose control"
        " passed) / pairs with a harmful duplicate / pairs with a missing effect (both of N). A dash: D = 0.",
    ),
    Item(
        "table03", "TableThree", "each model and framework: without a method, and all methods together",
        "What each model and framework shows at one boundary ({place}): the agent alone (none), and all methods together."
        " " + _PERCENT + ", in brackets the " + _CI + "; gap is control minus CRSR in percentage points.",
    ),
    Item(
        "table04", "TableFour", "three boundaries on the tasks with a call of several parts",
        "Three boundaries on the tasks with a call of several parts, which is the one left half done. R/D counts"
        " recovered pairs of those whose control passed; CRSR and DER are percent, in brackets the " + _CI + ".",
    ),
    Item(
        "table05", "TableFive", "the factorial matrix: cells, pairs, faults that struck",
        "The factorial matrix. A pair is a control and a fault arm of one seed; a control is shared by all pairs of its"
        " trial. Exposed: the fault struck and was witnessed. D: controls that passed.",
    ),
    Item(
        "table06", "TableSix", "the split's tasks by reversibility, keys, readers, harm of a repeat",
        "The tasks of the study by what can be done about their main effect. Of the call that is lost: its service"
        " honours an idempotency key (key), a public reader shows its effect (reader), a repeat does harm (harm). Parts: a"
        " planned call is made of several parts. Counts of tasks.",
        scoped=False,
    ),
    Item(
        "table07", "TableSeven", "every task by method: D and recovered pairs",
        "Every task: D of N controls that passed, and how many of these D pairs recovered with each method, at the boundary"
        " named ({place} where none is). A dash: D = 0, so CRSR is undefined.",
    ),
    Item(
        "table08", "TableEight", "B6 task by task: what readers show and what reading gives",
        "Reading before a retry (B6) at one boundary ({place}), task by task, frameworks together. Reader: the public tool"
        " that shows the effect of the lost call. R/D recovered of capable pairs, CRSR in percent; pairs with a harmful"
        " duplicate, a missing effect, an abstention (of N); reads: calls of readers after the fault, mean of an exposed arm.",
    ),
    Item(
        "table09", "TableNine", "CRSR and DER by reversibility of the main effect",
        "CRSR and DER (percent) at one boundary ({place}) by what can be done about a task's main effect. D sums the pairs"
        " of one method whose control passed. Intervals (" + _CI + ") are in the CSV file; a dash: D = 0.",
    ),
    Item(
        "table10", "TableTen", "telemetry: calls, tokens, reuse, latencies",
        "Telemetry. Turns: completions that the arms used; computed: distinct model calls behind them, each made once;"
        " reuse: turns a call. Tokens of prompts and completions, used and computed. Attempts: calls on the wire, those of"
        " methods included. Latency of one model call in milliseconds, from the records of the service or from a"
        " committed measurement; a dash: not measured.",
    ),
    Item(
        "table11", "TableEleven", "the same cells on DEV, VALIDATION and TEST",
        "Consistency across the splits at one boundary ({place}): the same cells on each split. " + _PERCENT + ", in brackets"
        " the " + _CI + ". The prompt was tuned on DEV alone.",
        lead="The TEST rows: ",
    ),
    Item(
        "table12", "TableTwelve", "related work by eight dimensions",
        "Related work by eight dimensions. Yes, partly or no, as far as the named source says; a dash: the source does not"
        " say. Sources cell by cell are in data/related.yaml.",
        scoped=False,
    ),
    Item(
        "table13", "TableThirteen", "model by method: every rate and its counts",
        "Model by method at one boundary ({place}). D controls passed, R of them recovered, F fault arms passed in all;"
        " rates in percent of N, CRSR and EOR | control of D; in brackets the " + _CI + ".",
    ),
    Item(
        "table14", "TableFourteen", "task by method where the call was half done",
        "Tasks whose call was half done when its answer was lost (DURING_MUTATION): pairs recovered (of D) / pairs with a"
        " harmful duplicate / pairs with a missing effect (both of N).",
    ),
    Item(
        "tablebehaviour", "TableBehaviour", "what the agent alone does after the error",
        "What the agent does after the error when no method stands behind it, by boundary: counts of arms in which the fault"
        " struck (exposed, of all). Repeat: the same call again without a look; verify: a read and no repeat.",
        lead="The main study: ",
    ),
    Item(
        "tableboundaries", "TableBoundaries", "CRSR and DER of every cell by boundary and method",
        "CRSR and DER (percent) by boundary and method. D of N controls passed. Intervals are in the CSV file ("
        + _CI + "); a dash: no such cell, or D = 0.",
    ),
    Item(
        "tablecomposition", "TableComposition", "all workflows by split and kind",
        "The workflows of the benchmark by split: counts of tasks.", scoped=False,
    ),
    Item(
        "tableexamples", "TableExamples", "the factor study of worked examples",
        "Worked examples as a factor: the agent alone, with examples that hold no failure and with examples that show what"
        " to do after an error, on the same tasks and boundaries. " + _PERCENT + ", in brackets the " + _CI + ".",
        lead="The first row of each block: ",
    ),
    Item(
        "tableframeworks", "TableFrameworks", "equivalence of the frameworks by TOST",
        "Are the frameworks equivalent? A minus B in percentage points with its 90\u00a0% interval (task-clustered"
        " bootstrap, B = {B}) and the larger p of two one-sided tests against a margin of 10 points; without a method, and all"
        " methods together (track 2).",
    ),
    Item(
        "tablegap", "TableGap", "gap closure of methods over B0 and B2",
        "Gap closure of a method over a reference at a lost acknowledgement: (CRSR - reference's CRSR) / (1 - reference's"
        " CRSR), in percent with its " + _CI + "; R of D pairs of the method. A dash: the reference fails nowhere.",
    ),
    Item(
        "tableinfra", "TableInfra", "INFRA_ERROR: attempts that failed, were retried, stayed failed",
        "INFRA_ERROR: HTTP attempts at a model's service that gave no answer. Retried: failed and asked again; final: the"
        " last attempt failed too, so its trial was run again. None is ever scored. A request of both frameworks counts in"
        " both rows. Counts.",
    ),
    Item(
        "tableothers", "TableOthers", "recovery and safety by method of the models after the first",
        "Recovery and safety by method, of the models after the study's first; a model's frameworks together, each boundary"
        " apart. " + _PERCENT + ", in brackets the " + _CI + "; columns as in the table of the first model.",
    ),
    Item(
        "tablepassk", "TablePassK", "pass^k: the chance that k trials of a task all pass",
        "pass^k in percent, for controls and, at a lost acknowledgement, for fault arms by method: the mean over tasks of the"
        " chance that k of its trials, drawn without replacement, all passed. Intervals are in the CSV file (" + _CI + ").",
    ),
    Item(
        "tablepower", "TablePower", "the smallest detectable difference for 12, 36 and 60 tasks",
        "The smallest difference in CRSR (percentage points) over the reference that a study of K tasks finds four times out of"
        " five, at a two-sided level of 0.05, by simulation from the observed tasks: an effect spread over all failing trials,"
        " or concentrated on whole tasks. A dash: not even solving everything is found so often.",
    ),
    Item(
"tableseeds", "TableSeeds", "stability over seeds",
        "Stability over seeds: cells of one task (and method, for fault arms) in which every seed passed, none did, or some"
        " did. Counts of cells, methods added up.",
    ),
    Item(
        "tablesignflip", "TableSignFlip", "exact sign-flip tests of the planned contrasts of CRSR",
        "Exact sign-flip tests over tasks of the planned contrasts of CRSR at a lost acknowledgement: the mean over tasks of A"
        " minus B in percentage points, its p, the least p that so many differing tasks can give, and p by Holm.",
    ),
    Item(
        "tablestrata", "TableStrata", "CRSR and DER by every kind of task, a model's frameworks together",
        "CRSR and DER (percent) at one boundary ({place}) by kind of task, a model's frameworks together. D sums the pairs of"
        " one method whose control passed. Intervals (" + _CI + ") are in the CSV file; a dash: D = 0.",
    ),
    Item(
        "tablesupport", "TableSupport", "models on their common support",
        "Two models in CRSR over the tasks in which both have a control that passed: A minus B in percentage points with its"
        " " + _CI + ", p by Holm; without a method, and all methods together (track 2).",
    ),
    Item(
        "tablesweep", "TableSweep", "attempt budgets and back-offs, by script",
        "The gold script with other attempt budgets (columns): arms passed of all workflows, least to most over the"
        " back-offs; in brackets the most arms with a harmful duplicate. Counts.",
        scoped=False,
    ),
    Item(
        "tablevalidity", "TableValidity", "the scripted matrix and the validity suite",
        "The gold script at every boundary with every method: arms that passed / were harmed by an effect too many / fell"
        " short without harm; last, cases of the validity suite judged as expected. Counts.",
        scoped=False,
    ),
    Item(
        "tableworkflows", "TableWorkflows", "the split's workflows one by one",
        "The workflows of the study, the call that is lost, and what its service offers.", scoped=False,
    ),
)  # fmt: skip

FIGURES = (
    Item(
        "figure1", "FigureOne", "architecture of the decoupled evaluation",
        "What stands between the agent and its world, and what is written down. The agent meets the world through method and"
        " proxy only. The verdicts of the statistics come from the path at the bottom left, which knows the fixture, the"
        " workflow and the wire log alone.",
        scoped=False,
    ),
    Item(
        "figure2", "FigureTwo", "competence against recovery, by method",
        "Competence (share of controls passed) against recovery (CRSR) at one boundary ({place}), a panel a method. Small marks"
        " are tasks, larger where several share a point; diamonds are pooled values with their " + _CI + ". Tasks with"
        " D = 0 have no CRSR and are not shown.",
    ),
    Item(
        "figure3", "FigureThree", "heat map of CRSR by task and method",
        "CRSR by task and method in percent; hatched where D = 0, so CRSR is undefined; blank where there is no cell. The"
        " boundary is {place} unless a panel names another.",
    ),
    Item(
        "figure4", "FigureFour", "what readers can show, against recovery and safety",
        "Observability against recovery and safety at one boundary ({place}): CRSR and DER by method, for tasks in which a"
        " repeat of the lost call does harm that a public reader could have shown, harm that no reader shows, or no harm."
        " Frameworks together; bars are the " + _CI + ", left out where a group has one task.",
    ),
    Item(
        "figure5", "FigureFive", "harmful duplicates, missing effects and unsafe re-sends by method",
        "Rates of harmful duplicates (DER), missing effects (MER) and unsafe re-sends (URR) over fault arms by method, with"
        " the " + _CI + ". The boundary is {place} unless the legend names others.",
    ),
    Item(
        "figure6", "FigureSix", "consistency across the splits",
        "The same cells on each split (in brackets its tasks) at one boundary ({place}): shares of controls passed and"
        " CRSR above, DER below, with the " + _CI + ". Frameworks together.",
    ),
    Item(
        "figureboundaries", "FigureBoundaries", "CRSR by boundary and method",
        "CRSR by method, a panel a boundary, with the " + _CI + ". No mark: no such cell, or D = 0.",
    ),
)  # fmt: skip

WIRE_TABLE_FILES = ("table10", "tablebehaviour", "tableinfra")
"""Tables that are read from the wire logs, by commands of their own."""
TABLE_FILES = tuple(item.name for item in TABLES if item.name not in WIRE_TABLE_FILES)
FIGURE_FILES = tuple(item.name for item in FIGURES)


def items() -> tuple[Item, ...]:
    """Return all tables, then all figures."""
    return TABLES + FIGURES
