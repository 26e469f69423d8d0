# What every rule shares: the environment, the configuration, the list of workflows, and the digests of code and release.

import os
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate

try:
    from undolab.model.errors import UndolabError
    from undolab.release import layout, manifest, sources
    from undolab.release.files import file_digest
except ImportError as missing:
    raise WorkflowError(
        "This Snakemake does not belong to the artifact: run `make artifact` first, then `. .venv/bin/activate`."
    ) from missing

min_version("9.0")


configfile: "config/config.yaml"


validate(config, "../schemas/config.schema.json")

os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")

SPLIT = config["study"]["split"]
MODELS = config["study"]["models"]
WORKFLOWS = sorted(path.stem for path in Path("data/workflows", SPLIT).glob("*.yaml"))
TOOLS = sorted(str(path) for path in Path("data/tools").glob("*.yaml"))
TEX = os.environ.get("TEX") != "no"


wildcard_constraints:
    workflow="|".join(WORKFLOWS),


@cache
def code(*rooms):
    """Digest of the package rooms that a rule runs, with all they import: code without its mtimes."""
    return [sources.room_digest(Path("src/undolab"), room) for room in rooms]


@cache
def released():
    """What stands in the covered folders now, so that a change anywhere plans the last check again."""
    try:
        found = manifest.verify(Path())
    except UndolabError as error:
        return [str(error)]
    return [*found.changed, *found.missing, *found.extra, *found.links, file_digest(Path(layout.MANIFEST))]
