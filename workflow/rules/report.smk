# From statistics to what people read: tables, figures, the paper and the demo page.

TABLES = ["table1", "table2", "table7"]
FIGURES = ["figure2", "figure3", "figure5"]
PAPER_SOURCES = [
    str(path) for path in sorted(Path("paper").rglob("*")) if path.is_file() and path.suffix in {".tex", ".bib"}
]


rule tables:
    message:
        "Writing the tables"
    input:
        "build/stats/contrasts.json",
        "build/stats/metrics.json",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
    output:
        expand("build/tables/{table}.{kind}", table=TABLES, kind=["csv", "tex"]),
    params:
        code=code("report"),
    log:
        "build/logs/tables.log",
    shell:
        "undolab report tables --build build 2>&1 | tee {log}"


rule figures:
    message:
        "Drawing the figures"
    input:
        "build/stats/metrics.json",
    output:
        expand("build/figures/{figure}.{kind}", figure=FIGURES, kind=["pdf", "png"]),
    params:
        code=code("report"),
    log:
        "build/logs/figures.log",
    shell:
        "undolab report figures --build build 2>&1 | tee {log}"


rule macros:
    message:
        "Writing every number of the paper as a macro"
    input:
        "build/stats/contrasts.json",
        "build/stats/metrics.json",
        expand("build/pairs/{workflow}.jsonl", workflow=WORKFLOWS),
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
        expand("data/records/{model}/{split}.jsonl.zst", model=MODELS, split=SPLIT),
    output:
        "build/paper/macros.tex",
    params:
        code=code("report", "cli"),
    log:
        "build/logs/macros.log",
    shell:
        "undolab report macros --build build 2>&1 | tee {log}"


rule pdf:
    message:
        "Setting the paper"
    input:
        PAPER_SOURCES,
        "build/paper/macros.tex",
        expand("build/tables/{table}.tex", table=TABLES),
        expand("build/figures/{figure}.pdf", figure=FIGURES),
    output:
        "build/paper/paper.pdf",
    params:
        code=code("report"),
    log:
        "build/logs/paper.log",
    shell:
        "undolab report paper --build build 2>&1 | tee {log}"


rule page:
    message:
        "Making the demo page"
    input:
        [str(path) for path in sorted(Path("demo").glob("*")) if path.name != "index.html"],
        "build/stats/metrics.json",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
    output:
        "build/demo/index.html",
    params:
        code=code("report"),
    log:
        "build/logs/demo.log",
    shell:
        "undolab report demo --build build 2>&1 | tee {log}"


rule paper:
    input:
        "build/paper/paper.pdf",


rule demo:
    input:
        "build/demo/index.html",
