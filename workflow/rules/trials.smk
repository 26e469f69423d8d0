# From records to verdicts: the frozen split, the replayed pairs, and the judgement from the wire alone.


rule split:
    input:
        "data/splits/{split}.json",
        "config/config.yaml",
        "config/models.yaml",
        "docs/protocol/research-plan.md",
        CONFORMANCE,
        TOOLS,
        lambda w: [name for name in EVERY_WORKFLOW if f"/{w.split}/" in name],
    output:
        "build/splits/{split}.json",
    log:
        "build/logs/split-{split}.log",
    params:
        code=code("release", "trials"),
    message:
        "Comparing split {wildcards.split} with its freeze"
    shell:
        "undolab split {wildcards.split} 2>&1 | tee {log}"


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


rule shard:
    input:
        TOOLS,
        "config/config.yaml",
        "config/models.yaml",
        lambda w: expand(
            [
                "data/workflows/{split}/{workflow}.yaml",
                "data/records/{model}/{split}.jsonl.zst",
                "build/splits/{split}.json",
            ],
            model=w.model,
            split=STUDIES[w.at]["split"],
            workflow=w.workflow,
        ),
    output:
        "build/shards/{at}{workflow}/{model}.{framework}.{part}/ledger/{workflow}.jsonl.zst",
        "build/shards/{at}{workflow}/{model}.{framework}.{part}/pairs/{workflow}.jsonl.zst",
        "build/shards/{at}{workflow}/{model}.{framework}.{part}/trials/{workflow}.jsonl.zst",
        "build/shards/{at}{workflow}/{model}.{framework}.{part}/wire/{workflow}.jsonl.zst",
    log:
        "build/logs/{at}shard-{workflow}.{model}.{framework}.{part}.log",
    params:
        code=code("trials"),
        study=lambda w: STUDIES[w.at]["name"],
    message:
        "Replaying {wildcards.workflow} with {wildcards.model} on {wildcards.framework}, seeds {wildcards.part}, study {params.study}"
    shell:
        """
        undolab trials shard --study {params.study} --workflow {wildcards.workflow} --model {wildcards.model} \
            --framework {wildcards.framework} --part {wildcards.part} \
            --out build/shards/{wildcards.at}{wildcards.workflow}/{wildcards.model}.{wildcards.framework}.{wildcards.part} \
            2>&1 | tee {log}
        """


rule merge:
    input:
        lambda w: expand(
            [
                "build/shards/{at}{shard}/ledger/{workflow}.jsonl.zst",
                "build/shards/{at}{shard}/pairs/{workflow}.jsonl.zst",
                "build/shards/{at}{shard}/trials/{workflow}.jsonl.zst",
                "build/shards/{at}{shard}/wire/{workflow}.jsonl.zst",
            ],
            at=w.at,
            shard=shards(STUDIES[w.at], w.workflow, PARTS),
            workflow=w.workflow,
        ),
    output:
        "build/{at}ledger/{workflow}.jsonl.zst",
        "build/{at}pairs/{workflow}.jsonl.zst",
        "build/{at}trials/{workflow}.jsonl.zst",
        "build/{at}wire/{workflow}.jsonl.zst",
    log:
        "build/logs/{at}merge-{workflow}.log",
    params:
        code=code("trials"),
        shards=lambda w: expand(
            "build/shards/{at}{shard}",
            at=w.at,
            shard=shards(STUDIES[w.at], w.workflow, PARTS),
        ),
    message:
        "Merging the shards of {wildcards.workflow}"
    shell:
        "undolab trials merge {params.shards} --workflow {wildcards.workflow} --out build/{wildcards.at} 2>&1 | tee {log}"


rule reconstruct:
    input:
        TOOLS,
        lambda w: f"data/workflows/{STUDIES[w.at]['split']}/{w.workflow}.yaml",
        log="build/{at}wire/{workflow}.jsonl.zst",
        ledger="build/{at}ledger/{workflow}.jsonl.zst",
        live="build/{at}trials/{workflow}.jsonl.zst",
    output:
        "build/{at}verdicts/{workflow}.jsonl",
    log:
        "build/logs/{at}reconstruct-{workflow}.log",
    params:
        code=code("oracle", "trials"),
    message:
        "Judging {wildcards.workflow} again from the wire alone"
    shell:
        "undolab reconstruct {input.log} --verdicts build/{wildcards.at}verdicts --against build/{wildcards.at} 2>&1 | tee {log}"


rule heads:
    input:
        [
            f"build/{at}wire/{name}.jsonl.zst"
            for at, study in STUDIES.items()
            for name in study["workflows"]
        ],
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
