# Verification, the last comparison, and (for maintainers) the release.

BUILT = [
    f"build/splits/{SPLIT}.json",
    "build/conformance/verdicts.jsonl",
    "build/wire/heads.tsv",
    expand("build/{kind}/{workflow}.jsonl", kind=["pairs", "trials", "verdicts"], workflow=WORKFLOWS),
    expand("build/{kind}/{workflow}.jsonl.zst", kind=["ledger", "wire"], workflow=WORKFLOWS),
    expand("build/stats/{name}", name=["contrasts.csv", "contrasts.json", "metrics.csv", "metrics.json", "tasks.csv"]),
    expand("build/tables/{table}.{kind}", table=TABLES, kind=["csv", "tex"]),
    expand("build/figures/{figure}.{kind}", figure=FIGURES, kind=["pdf", "png"]),
    "build/demo/index.html",
    *(["build/paper/paper.pdf"] if TEX else []),
]
SMOKE = ["RB-DB-005", "RB-GIT-004", "RB-PAY-004"]


rule build:
    input:
        BUILT,


rule check:
    message:
        "Comparing the build with the released files"
    input:
        BUILT,
    output:
        "build/check.txt",
    params:
        code=code("release"),
        released=released(),
    log:
        "build/logs/check.log",
    shell:
        "undolab check --out {output} 2>&1 | tee {log}"


rule verify:
    message:
        "Verifying every covered file"
    log:
        "build/logs/verify.log",
    shell:
        "undolab verify 2>&1 | tee {log}"


rule smoke:
    message:
        "Checking three workflows and every scripted agent"
    input:
        "build/conformance/verdicts.jsonl",
        expand("build/verdicts/{workflow}.jsonl", workflow=SMOKE),
    params:
        only=expand("results/verdicts/{workflow}.jsonl", workflow=SMOKE) + ["results/conformance/verdicts.jsonl"],
    log:
        "build/logs/smoke.log",
    shell:
        "undolab check --only {params.only} 2>&1 | tee {log}"


rule live:
    message:
        "Making a subset of the completions again, and re-scoring records"
    log:
        "build/logs/live.log",
    shell:
        "(undolab live && undolab records audit) 2>&1 | tee {log}"


rule release:
    message:
        "Releasing the build"
    input:
        BUILT,
    log:
        "build/logs/release.log",
    shell:
        "undolab release 2>&1 | tee {log}"
