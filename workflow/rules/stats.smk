# From verdicts to statistics, and the published figures beside our recomputation.

STATS = expand(
    "build/stats/{name}",
    name=[
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
    ],
)


rule stats:
    input:
        EVERY_WORKFLOW,
        "config/config.yaml",
        expand("build/verdicts/{workflow}.jsonl", workflow=WORKFLOWS),
    output:
        STATS,
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
