# The whole artifact as one graph: verified inputs, replayed trials, reconstruction, statistics, tables, figures, paper, demo.
# Targets: all (the default), verify, smoke, build, paper, demo, live, record, release. Everything is computed into build/.


include: "workflow/rules/common.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/record.smk"
include: "workflow/rules/stats.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/undo.smk"
include: "workflow/rules/release.smk"
include: "workflow/rules/exports.smk"


report: "workflow/report/workflow.rst"


localrules:
    all,
    build,
    demo,
    live,
    paper,
    record,
    release,
    smoke,
    verify,


rule all:
    default_target: True
    input:
        "build/check.txt",
