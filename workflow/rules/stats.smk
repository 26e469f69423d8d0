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
        "build/{at}stats/contrasts.csv",
        "build/{at}stats/contrasts.json",
        "build/{at}stats/metrics.csv",
        "build/{at}stats/metrics.json",
        "build/{at}stats/tasks.csv",
    log:
        "build/logs/{at}stats.log",
    params:
        code=code("stats", "trials"),
        study=lambda w: STUDIES[w.at]["name"],
    message:
        "Computing metrics, intervals and contrasts of study {params.study}"
    shell:
        "undolab stats --study {params.study} --build build 2>&1 | tee {log}"
