# From verdicts to statistics, study by study, and the published figures beside our recomputation.

STATS = [
    "bca.csv",
    "contrasts.csv",
    "contrasts.json",
    "equivalence.csv",
    "gap_closure.csv",
    "metrics.csv",
    "metrics.json",
    "pass_k.csv",
    "power.csv",
    "sign_flip.csv",
    "stability.csv",
    "strata.csv",
    "support.csv",
    "tasks.csv",
]


EXHIBITED = ["contrasts.csv", "metrics.csv", "tasks.csv"]


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
        exhibit("build/{at}stats/metrics.csv", "Numbers", "metrics"),
        exhibit("build/{at}stats/tasks.csv", "Numbers", "tasks"),
        [f"build/{{at}}stats/{name}" for name in STATS if name not in EXHIBITED],
    log:
        "build/logs/{at}stats.log",
    params:
        code=code("stats", "trials"),
        study=lambda w: STUDIES[w.at]["name"],
    message:
        "Computing metrics, intervals and contrasts of study {params.study}"
    shell:
        "undolab stats --study {params.study} --build build 2>&1 | tee {log}"


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
