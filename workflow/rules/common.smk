# What every rule shares: the environment, the configuration, and the list of workflows.

from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate

try:
    from undolab.release.croissant import FOLDERS
    from undolab.release.graph import (
        code,
        exhibit,
        exhibits,
        released,
        shards,
        studies,
        use_this_environment,
        with_tex,
        within,
    )
except ImportError as missing:
    raise WorkflowError(
        "This Snakemake does not belong to the artifact: run `make artifact` first, then `. .venv/bin/activate`."
    ) from missing

min_version("9.0")


configfile: "config/config.yaml"


# Into how many shards the seeds of a workflow, model and framework are shared out: `--config parts=4`. Any number gives the
# same bytes.
PARTS = int(config.pop("parts", 1))
validate(config, "../schemas/config.schema.json")
use_this_environment()

# Each study by where its files lie below build/: "" is the main one, "side/NAME/" another.
STUDIES = studies(config)
SPLIT = STUDIES[""]["split"]
MODELS = STUDIES[""]["models"]
WORKFLOWS = STUDIES[""]["workflows"]
SPLITS = sorted({study["split"] for study in STUDIES.values()})
TOOLS = sorted(str(path) for path in Path("data/tools").glob("*.yaml"))
TEX = with_tex()
EVERY_WORKFLOW = [str(path) for path in sorted(Path("data/workflows").glob("*/*.yaml"))]
EXPECTED = ["data/expected/applicability.csv", "data/expected/verdicts.csv"]
UNDO = expand(
    "build/undo/{name}",
    name=[
        "ablation.csv",
        "histories-by-kind.csv",
        "histories-summary.json",
        "histories.csv",
    ],
)
CONFORMANCE = expand(
    "build/conformance/{name}",
    name=[
        "applicability.csv",
        "baselines.csv",
        "cells.csv",
        "classes.csv",
        "pairs.csv",
        "prompts.csv",
        "verdicts.jsonl",
    ],
)


wildcard_constraints:
    framework="F[0-9]",
    model="|".join({name for study in STUDIES.values() for name in study["models"]}),
    part="[0-9]+of[0-9]+",
    at=f"(?:{'|'.join(STUDIES)})",
    split="|".join(SPLITS),
    workflow="|".join(name for study in STUDIES.values() for name in study["workflows"]),
