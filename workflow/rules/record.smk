# Recording a study on many machines: each shard asks its model and writes a journal of its own; then the journals are made one.


rule record_shard:
    input:
        TOOLS,
        "config/config.yaml",
        "config/models.yaml",
        lambda w: f"data/workflows/{STUDIES[w.at]['split']}/{w.workflow}.yaml",
    output:
        "build/live/{at}{workflow}/{model}.{framework}.{part}/ledger/{workflow}.jsonl.zst",
        "build/live/{at}{workflow}/{model}.{framework}.{part}/pairs/{workflow}.jsonl.zst",
        "build/live/{at}{workflow}/{model}.{framework}.{part}/trials/{workflow}.jsonl.zst",
        "build/live/{at}{workflow}/{model}.{framework}.{part}/wire/{workflow}.jsonl.zst",
    log:
        "build/logs/{at}record-{workflow}.{model}.{framework}.{part}.log",
    params:
        code=code("trials"),
        study=lambda w: STUDIES[w.at]["name"],
    message:
        "Recording {wildcards.workflow} with {wildcards.model} on {wildcards.framework}, seeds {wildcards.part}, study {params.study}"
    shell:
        """
        undolab trials shard --live --study {params.study} --workflow {wildcards.workflow} --model {wildcards.model} \
            --framework {wildcards.framework} --part {wildcards.part} \
            --out build/live/{wildcards.at}{wildcards.workflow}/{wildcards.model}.{wildcards.framework}.{wildcards.part} \
            2>&1 | tee {log}
        """


rule record:
    input:
        [
            f"build/live/{at}{shard}/wire/{name}.jsonl.zst"
            for at, study in STUDIES.items()
            for name in study["workflows"]
            for shard in shards(study, name, PARTS)
        ],
    log:
        "build/logs/record.log",
    message:
        "Making the journals of all shards part of the records"
    shell:
        "undolab records seal 2>&1 | tee {log}"
