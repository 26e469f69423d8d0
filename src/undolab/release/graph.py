"""What the Snakemake graph asks while it is read: digests of code and release, and an environment that finds `undolab`."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from undolab.model.config import MAIN, place
from undolab.model.errors import UndolabError
from undolab.release import layout, manifest, sources
from undolab.release.files import file_digest

_EPOCH = "1767225600"


def use_this_environment() -> None:
    """Let the rules' shells find the programs beside this Python, and give all dates in outputs one fixed value."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ.setdefault("SOURCE_DATE_EPOCH", _EPOCH)


def with_tex() -> bool:
    """Return False if the PDF is to be left out (TEX=no)."""
    return os.environ.get("TEX") != "no"


@cache
def code(*rooms: str) -> list[str]:
    """Return the digest of each room with all it imports: the code input of a rule, without mtimes."""
    return [sources.room_digest(Path("src/undolab"), room) for room in rooms]


def studies(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each study of a parsed `config/config.yaml` with its `name` and `workflows`, by where its files lie in a build."""
    named = {MAIN: config["study"], **config.get("side_studies", {})}
    return {
        place(name): {
            **study,
            "name": name,
            "workflows": sorted(path.stem for path in Path("data/workflows", study["split"]).glob("*.yaml")),
        }
        for name, study in named.items()
    }


@cache
def released() -> list[str]:
    """Return what stands in the covered folders now, so that a change anywhere plans the last check again."""
    try:
        found = manifest.verify(Path())
    except UndolabError as error:
        return [str(error)]
    return [*found.changed, *found.missing, *found.extra, *found.links, file_digest(Path(layout.MANIFEST))]
