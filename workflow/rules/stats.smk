# From verdicts to statistics, study by study.


rule stats:
    input:
        TOOLS,
        EVERY_WORKFLOW,
        "config/config.yaml",
        lambda w: expand(
            "build/{at}verdicts/{workflows}.jsonl", at=w.at, **STUDIES[w.at]
        ),
    output:
        exhibit("build/{at}stats/contrasts.csv", "Numbers", "contrasts"),
        "build/{at}stats/contrasts.json",
        exhibit("build/{at}stats/metrics.csv", "Numbers", "metrics"),
        "build/{at}stats/metrics.json",
        exhibit("build/{at}stats/tasks.csv", "Numbers", "tasks"),
    log:
        "build/logs/{at}stats.log",
    params:
        code=code("stats", "trials"),
        study=lambda w: STUDIES[w.at]["name"],
    message:
        "Computing metrics, intervals and contrasts of study {params.study}"
    shell:
        "undolab stats --study {params.study} --build build 2>&1 | tee {log}"
