# Verification, the last comparison, and (for maintainers) the release.

BUILT = [
    expand("build/splits/{split}.json", split=SPLITS),
    CONFORMANCE,
    UNDO,
    UNDO_STUDY,
    UNDO_REPORT,
    "build/conformance/sweep.csv",
    "build/validity/cases.csv",
    "build/validity/mutants.csv",
    "build/wire/heads.tsv",
    [
        expand(
            [
                "build/{at}ledger/{workflows}.jsonl.zst",
                "build/{at}pairs/{workflows}.jsonl.zst",
                "build/{at}stats/{name}",
                "build/{at}trials/{workflows}.jsonl.zst",
                "build/{at}verdicts/{workflows}.jsonl",
                "build/{at}wire/{workflows}.jsonl.zst",
            ],
            at=at,
            workflows=study["workflows"],
            name=STATS,
        )
        for at, study in STUDIES.items()
    ],
    expand("build/tables/{table}.{kind}", table=TABLES, kind=["csv", "tex"]),
    expand("build/figures/{figure}.{kind}", figure=FIGURES, kind=["pdf", "png"]),
    "build/published/undobench.csv",
    "build/published/undoscope.csv",
    "build/demo/index.html",
    expand("build/tables/{table}.{kind}", table=WIRE_TABLES, kind=["csv", "tex"]),
    "build/metadata/croissant.json",
    *(["build/paper/paper.pdf"] if TEX else []),
]
SMOKE = ["RB-DB-005", "RB-GIT-004", "RB-PAY-004"]


rule build:
    input:
        BUILT,


rule check:
    input:
        BUILT,
    output:
        "build/check.txt",
    log:
        "build/logs/check.log",
    params:
        code=code("release"),
        released=released(),
    message:
        "Comparing the build with the released files"
    shell:
        "undolab check --out {output} 2>&1 | tee {log}"


rule verify:
    log:
        "build/logs/verify.log",
    message:
        "Verifying every covered file"
    shell:
        "undolab verify 2>&1 | tee {log}"


rule smoke:
    input:
        "build/conformance/verdicts.jsonl",
        expand("build/verdicts/{workflow}.jsonl", workflow=SMOKE),
    log:
        "build/logs/smoke.log",
    params:
        only=expand("results/verdicts/{workflow}.jsonl", workflow=SMOKE)
        + ["results/conformance/verdicts.jsonl"],
    message:
        "Checking three workflows and every scripted agent"
    shell:
        "undolab check --only {params.only} 2>&1 | tee {log}"


rule live:
    log:
        "build/logs/live.log",
    message:
        "Making a subset of the completions again, and re-scoring records"
    shell:
        "(undolab live && undolab records audit) 2>&1 | tee {log}"


rule release:
    input:
        BUILT,
    log:
        "build/logs/release.log",
    message:
        "Releasing the build"
    shell:
        "undolab release 2>&1 | tee {log}"
