# The undo layer's model study, replayed from its records, and the figures and tables of the undo part.

PLANNERS = ["gemma3-270m", "smollm2-135m"]
UNDO_STUDY = expand(
    "build/undo/{name}",
    name=["study.csv", "study-branches.csv", "study-summary.json"],
)
UNDO_REPORT = expand(
    "build/figures/figureU{number}.{kind}",
    number=range(1, 7),
    kind=["pdf", "png"],
) + expand(
    "build/tables/tableU{number}.{kind}", number=range(1, 4), kind=["csv", "tex"]
)


rule undo_study:
    input:
        "config/models.yaml",
        expand("data/records/{model}/undo.jsonl.zst", model=PLANNERS),
    output:
        UNDO_STUDY,
    log:
        "build/logs/undo-study.log",
    params:
        code=code("planners", "cli"),
    message:
        "Replaying what small models take back"
    shell:
        "undolab undo models 2>&1 | tee {log}"


rule undo_report:
    input:
        "build/undo/histories-summary.json",
        "build/undo/study-summary.json",
        "data/measurements/undo-latency.json",
    output:
        exhibits(UNDO_REPORT, "Undo", "csv", "pdf", "png"),
    log:
        "build/logs/undo-report.log",
    params:
        code=code("report", "cli"),
    message:
        "Drawing the undo part"
    shell:
        "undolab report undo --build build 2>&1 | tee {log}"
