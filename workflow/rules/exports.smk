# What others' tools read: metadata of the data. (The crate of a run is `undolab crate`: it describes the graph from outside.)

DATA = [
    path
    for path in flat(BUILT)
    if path.split("/")[1] in FOLDERS and path != "build/metadata/croissant.json"
]


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
