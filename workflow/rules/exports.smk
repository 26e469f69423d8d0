# What others' tools read: metadata of the data. (The crate of a run is `undolab crate`: it describes the graph from outside.)

DATA = [
    path for path in within(BUILT, FOLDERS) if not path.startswith("build/metadata")
]
SHOWN = sorted({Path(path).stem for path in within(BUILT, ["figures", "tables"])})


rule metadata:
    input:
        DATA,
        sorted(str(path) for path in Path("data/records").rglob("*.jsonl.zst")),
    output:
        "build/metadata/croissant.json",
    log:
        "build/logs/metadata.log",
    params:
        code=code("release"),
    message:
        "Describing records, verdicts and statistics"
    shell:
        "undolab metadata --build build 2>&1 | tee {log}"


rule captions:
    input:
        "build/stats/metrics.json",
    output:
        expand("build/captions/{name}.rst", name=SHOWN),
    log:
        "build/logs/captions.log",
    params:
        code=code("report", "cli"),
        names=SHOWN,
    message:
        "Writing the captions of Snakemake's report"
    shell:
        "undolab captions --build build {params.names} 2>&1 | tee {log}"
