# From statistics to what people read: tables, figures, the paper and the demo page.

from undolab.report.numbering import FIGURE_FILES, TABLE_FILES, WIRE_TABLE_FILES

TABLES = list(TABLE_FILES)
WIRE_TABLES = list(WIRE_TABLE_FILES)
FIGURES = list(FIGURE_FILES)
# The statistics of the main study and, where there are side studies, of each of them.
METRICS = [f"build/{at}stats/metrics.json" for at in STUDIES]
WIRE = [
    f"build/{at}wire/{name}.jsonl.zst"
    for at, study in STUDIES.items()
    if study["split"] == SPLIT
    for name in study["workflows"]
]
EVIDENCE = [
    "build/conformance/baselines.csv",
    "build/conformance/cells.csv",
    "build/conformance/classes.csv",
    "build/conformance/pairs.csv",
    "build/conformance/sweep.csv",
    "build/validity/cases.csv",
    "build/validity/mutants.csv",
]
PAPER_SOURCES = [
    str(path)
    for path in sorted(Path("paper").rglob("*"))
    if path.is_file() and path.suffix in {".tex", ".bib"}
]


rule tables:
    input:
        EVIDENCE,
        EVERY_WORKFLOW,
        TOOLS,
        "config/config.yaml",
        "data/related.yaml",
        METRICS,
    output:
        exhibits(
            expand("build/tables/{table}.{kind}", table=TABLES, kind=["csv", "tex"]),
            "Tables",
            "csv",
        ),
    log:
        "build/logs/tables.log",
    params:
        code=code("report", "cli"),
    message:
        "Writing the tables"
    shell:
        "undolab report tables --build build 2>&1 | tee {log}"


rule behaviour:
    input:
        "config/config.yaml",
        WIRE,
    output:
        exhibits(
            expand(
                "build/tables/{table}.{kind}",
                table=["tablebehaviour"],
                kind=["csv", "tex"],
            ),
            "Tables",
            "csv",
        ),
    log:
        "build/logs/behaviour.log",
    params:
        code=code("report", "cli"),
    message:
        "Telling what the models did after the error"
    shell:
        "undolab report behaviour --build build 2>&1 | tee {log}"


rule telemetry:
    input:
        "config/config.yaml",
        "config/models.yaml",
        sorted(str(path) for path in Path("data/measurements").glob("latency.json")),
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
        expand("data/records/{model}/{split}.jsonl.zst", model=MODELS, split=SPLIT),
    output:
        exhibits(
            expand(
                "build/tables/{table}.{kind}",
                table=[name for name in WIRE_TABLES if name != "tablebehaviour"],
                kind=["csv", "tex"],
            ),
            "Tables",
            "csv",
        ),
    log:
        "build/logs/telemetry.log",
    params:
        code=code("report", "cli"),
    message:
        "Counting calls, tokens and what was asked again"
    shell:
        "undolab report telemetry --build build 2>&1 | tee {log}"


rule figures:
    input:
        EVERY_WORKFLOW,
        TOOLS,
        "build/conformance/classes.csv",
        METRICS,
    output:
        exhibits(
            expand(
                "build/figures/{figure}.{kind}", figure=FIGURES, kind=["pdf", "png"]
            ),
            "Figures",
            "pdf",
            "png",
        ),
    log:
        "build/logs/figures.log",
    params:
        code=code("report"),
    message:
        "Drawing the figures"
    shell:
        "undolab report figures --build build 2>&1 | tee {log}"


rule macros:
    input:
        EVIDENCE,
        EVERY_WORKFLOW,
        TOOLS,
        "config/config.yaml",
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
        "build/stats/contrasts.json",
        "build/stats/equivalence.csv",
        "build/stats/power.csv",
        METRICS,
        "build/published/undobench.csv",
        "build/published/undoscope.csv",
        "build/tables/tablebehaviour.csv",
        "build/undo/histories-summary.json",
        "build/undo/study-summary.json",
        sorted(str(path) for path in Path("data/evidence").glob("*.json")),
        sorted(str(path) for path in Path("data/measurements").glob("*.json")),
        expand("build/pairs/{workflow}.jsonl.zst", workflow=WORKFLOWS),
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
        expand("data/records/{model}/{split}.jsonl.zst", model=MODELS, split=SPLIT),
    output:
        "build/paper/macros.tex",
    log:
        "build/logs/macros.log",
    params:
        code=code("report", "cli"),
    message:
        "Writing every number of the paper as a macro"
    shell:
        "undolab report macros --build build 2>&1 | tee {log}"


rule pdf:
    input:
        PAPER_SOURCES,
        "build/paper/macros.tex",
        expand("build/tables/{table}.tex", table=TABLES + WIRE_TABLES),
        expand("build/figures/{figure}.pdf", figure=FIGURES),
        expand("build/tables/tableU{number}.tex", number=range(1, 4)),
        expand("build/figures/figureU{number}.pdf", number=range(1, 7)),
    output:
        exhibit("build/paper/paper.pdf", "Paper and demo", "paper"),
    log:
        "build/logs/paper.log",
    params:
        code=code("report"),
    message:
        "Setting the paper"
    shell:
        "undolab report paper --build build 2>&1 | tee {log}"


rule page:
    input:
        [
            str(path)
            for path in sorted(Path("demo").glob("*"))
            if path.name != "index.html"
        ],
        "build/stats/metrics.json",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
    output:
        exhibit("build/demo/index.html", "Paper and demo", "demo"),
    log:
        "build/logs/demo.log",
    params:
        code=code("report"),
    message:
        "Making the demo page"
    shell:
        "undolab report demo --build build 2>&1 | tee {log}"


rule paper:
    input:
        "build/paper/paper.pdf",


rule demo:
    input:
        "build/demo/index.html",
