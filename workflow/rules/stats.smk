# From verdicts to statistics.


rule stats:
    message:
        "Computing metrics, intervals and contrasts"
    input:
        "config/config.yaml",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
    output:
        "build/stats/contrasts.csv",
        "build/stats/contrasts.json",
        "build/stats/metrics.csv",
        "build/stats/metrics.json",
        "build/stats/tasks.csv",
    params:
        code=code("stats"),
    log:
        "build/logs/stats.log",
    shell:
        "undolab stats --build build 2>&1 | tee {log}"
