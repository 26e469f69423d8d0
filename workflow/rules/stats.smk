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
