# From records to verdicts: the frozen split, the replayed pairs, and the judgement from the wire alone.


rule split:
    input:
        f"data/splits/{SPLIT}.json",
        "config/config.yaml",
        "config/models.yaml",
        "docs/protocol/research-plan.md",
        CONFORMANCE,
        TOOLS,
        expand(
            "data/workflows/{split}/{workflow}.yaml", split=SPLIT, workflow=WORKFLOWS
        ),
    output:
        f"build/splits/{SPLIT}.json",
    log:
        "build/logs/split.log",
    params:
        code=code("release", "trials"),
        split=SPLIT,
    message:
        "Comparing split {SPLIT} with its freeze"
    shell:
        "undolab split {params.split} 2>&1 | tee {log}"


rule conformance:
    input:
        TOOLS,
        EVERY_WORKFLOW,
        EXPECTED,
        "config/config.yaml",
        "config/models.yaml",
    output:
        CONFORMANCE,
    log:
        "build/logs/conformance.log",
    params:
        code=code("trials"),
    message:
        "Running the scripted agents over every workflow, boundary and method"
    shell:
        "undolab trials conformance --out build/conformance/verdicts.jsonl 2>&1 | tee {log}"


rule sweep:
    input:
        TOOLS,
        EVERY_WORKFLOW,
    output:
        "build/conformance/sweep.csv",
    log:
        "build/logs/sweep.log",
    params:
        code=code("trials"),
    message:
        "Sweeping attempt budgets and back-offs"
    shell:
        "undolab trials sweep --out {output} 2>&1 | tee {log}"


rule validity:
    input:
        TOOLS,
        EVERY_WORKFLOW,
    output:
        "build/validity/cases.csv",
        "build/validity/mutants.csv",
    log:
        "build/logs/validity.log",
    params:
        code=code("trials"),
    message:
        "Judging right and wrong runs, and mutants of the judge"
    shell:
        "undolab validate --out build/validity 2>&1 | tee {log}"


rule histories:
    output:
        UNDO,
    log:
        "build/logs/histories.log",
    params:
        code=code("undo", "cli"),
    message:
        "Walking the published histories of the undo layer"
    shell:
        "undolab undo histories --depth 4 2>&1 | tee {log}"


rule trials:
    input:
        TOOLS,
        "config/config.yaml",
        "config/models.yaml",
        f"data/workflows/{SPLIT}/{{workflow}}.yaml",
        expand("data/records/{model}/{split}.jsonl.zst", model=MODELS, split=SPLIT),
        f"build/splits/{SPLIT}.json",
    output:
        "build/ledger/{workflow}.jsonl.zst",
        "build/pairs/{workflow}.jsonl",
        "build/trials/{workflow}.jsonl",
        "build/wire/{workflow}.jsonl.zst",
    log:
        "build/logs/trials-{workflow}.log",
    params:
        code=code("trials"),
    message:
        "Replaying the pairs of {wildcards.workflow}"
    shell:
        "undolab trials run --workflow {wildcards.workflow} --out build 2>&1 | tee {log}"


rule reconstruct:
    input:
        TOOLS,
        f"data/workflows/{SPLIT}/{{workflow}}.yaml",
        log="build/wire/{workflow}.jsonl.zst",
        ledger="build/ledger/{workflow}.jsonl.zst",
        live="build/trials/{workflow}.jsonl",
    output:
        "build/verdicts/{workflow}.jsonl",
    log:
        "build/logs/reconstruct-{workflow}.log",
    params:
        code=code("oracle", "trials"),
    message:
        "Judging {wildcards.workflow} again from the wire alone"
    shell:
        "undolab reconstruct {input.log} --verdicts build/verdicts --against build 2>&1 | tee {log}"


rule heads:
    input:
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
    output:
        "build/wire/heads.tsv",
    log:
        "build/logs/heads.log",
    params:
        code=code("wire"),
    message:
        "Indexing the heads of the wire logs"
    shell:
        "undolab heads {input} --out {output} 2>&1 | tee {log}"
