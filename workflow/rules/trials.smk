# From records to verdicts: the frozen split, the replayed pairs, and the judgement from the wire alone.


rule split:
    message:
        "Comparing split {SPLIT} with its freeze"
    input:
        f"data/splits/{SPLIT}.json",
        "config/config.yaml",
        "config/models.yaml",
        "docs/protocol/research-plan.md",
        "build/conformance/verdicts.jsonl",
        TOOLS,
        expand("data/workflows/{split}/{workflow}.yaml", split=SPLIT, workflow=WORKFLOWS),
    output:
        f"build/splits/{SPLIT}.json",
    params:
        code=code("release", "trials"),
        split=SPLIT,
    log:
        "build/logs/split.log",
    shell:
        "undolab split {params.split} 2>&1 | tee {log}"


rule conformance:
    message:
        "Running every scripted agent"
    input:
        TOOLS,
        [str(path) for path in sorted(Path("data/workflows").glob("*/*.yaml"))],
    output:
        "build/conformance/verdicts.jsonl",
    params:
        code=code("trials"),
    log:
        "build/logs/conformance.log",
    shell:
        "undolab trials conformance --out {output} 2>&1 | tee {log}"


rule trials:
    message:
        "Replaying the pairs of {wildcards.workflow}"
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
    params:
        code=code("trials"),
    log:
        "build/logs/trials-{workflow}.log",
    shell:
        "undolab trials run --workflow {wildcards.workflow} --out build 2>&1 | tee {log}"


rule reconstruct:
    message:
        "Judging {wildcards.workflow} again from the wire alone"
    input:
        TOOLS,
        f"data/workflows/{SPLIT}/{{workflow}}.yaml",
        log="build/wire/{workflow}.jsonl.zst",
        ledger="build/ledger/{workflow}.jsonl.zst",
        live="build/trials/{workflow}.jsonl",
    output:
        "build/verdicts/{workflow}.jsonl",
    params:
        code=code("oracle", "trials"),
    log:
        "build/logs/reconstruct-{workflow}.log",
    shell:
        "undolab reconstruct {input.log} --verdicts build/verdicts --against build 2>&1 | tee {log}"


rule heads:
    message:
        "Indexing the heads of the wire logs"
    input:
        expand("build/wire/{workflow}.jsonl.zst", workflow=WORKFLOWS),
    output:
        "build/wire/heads.tsv",
    params:
        code=code("wire"),
    log:
        "build/logs/heads.log",
    shell:
        "undolab heads {input} --out {output} 2>&1 | tee {log}"
