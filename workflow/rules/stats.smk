# From verdicts to statistics.


rule stats:
    input:
        "config/config.yaml",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
    output:
        exhibit("build/stats/contrasts.csv", "Numbers", "contrasts"),
        "build/stats/contrasts.json",
        exhibit("build/stats/metrics.csv", "Numbers", "metrics"),
        "build/stats/metrics.json",
        exhibit("build/stats/tasks.csv", "Numbers", "tasks"),
    log:
        "build/logs/stats.log",
    params:
        code=code("stats"),
    message:
        "Computing metrics, intervals and contrasts"
    shell:
        "undolab stats --build build 2>&1 | tee {log}"
