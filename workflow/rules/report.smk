# From statistics to what people read: tables, figures, the paper and the demo page.

TABLES = [
    "table1",
    "table2",
    "table7",
    "tablecomposition",
    "tablesweep",
    "tablevalidity",
    "tableworkflows",
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
FIGURES = ["figure2", "figure3", "figure5"]
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
        "build/stats/contrasts.json",
        "build/stats/metrics.json",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
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
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
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


rule figures:
    input:
        "build/stats/metrics.json",
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
        "build/stats/metrics.json",
        expand("build/pairs/{workflow}.jsonl", workflow=WORKFLOWS),
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
        expand("build/tables/{table}.tex", table=TABLES),
        expand("build/figures/{figure}.pdf", figure=FIGURES),
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
