# From verdicts to statistics.


rule stats:
    input:
        "config/config.yaml",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
    output:
        "build/stats/contrasts.csv",
        "build/stats/contrasts.json",
        "build/stats/metrics.csv",
        "build/stats/metrics.json",
        "build/stats/tasks.csv",
    log:
        "build/logs/stats.log",
    params:
        code=code("stats"),
    message:
        "Computing metrics, intervals and contrasts"
    shell:
        "undolab stats --build build 2>&1 | tee {log}"


PUBLISHED = sorted(
    str(path)
    for system in ("undobench", "undoscope")
    for path in Path("data/published", system).glob("*.csv")
)


rule published:
    input:
        PUBLISHED,
        "build/undo/ablation.csv",
        "build/undo/histories.csv",
    output:
        "build/published/undobench.csv",
        "build/published/undoscope.csv",
    log:
        "build/logs/published.log",
    params:
        code=code("stats"),
    message:
        "Recomputing the published figures"
    shell:
        "undolab stats published 2>&1 | tee {log}"
