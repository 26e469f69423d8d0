"""What the Snakemake graph asks while it is read: digests of code and release, and an environment that finds `undolab`."""

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from undolab.model.config import MAIN, place
from undolab.model.errors import UndolabError
from undolab.release import layout, manifest, sources
from undolab.release.files import file_digest

CAPTIONS = "build/captions"
"""Where the captions of tables and figures are built for Snakemake's report."""

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


def shards(study: Mapping[str, Any], workflow: str, parts: int) -> list[str]:
    """Return where the shards of a workflow's trials lie below those of its study: one for each model, framework and part."""
    count = max(1, min(parts, len(study["seeds"])))
    return [
        f"{workflow}/{model}.{framework}.{number}of{count}"
        for model in study["models"]
        for framework in study["frameworks"]
        for number in range(1, count + 1)
    ]


@cache
def released() -> list[str]:
    """Return what stands in the covered folders now, so that a change anywhere plans the last check again."""
    try:
        found = manifest.verify(Path())
    except UndolabError as error:
        return [str(error)]
    return [*found.changed, *found.missing, *found.extra, *found.links, file_digest(Path(layout.MANIFEST))]


def flat(paths: Iterable[Any]) -> list[str]:
    """Return nested lists of paths as one list."""
    return [name for item in paths for name in ([str(item)] if isinstance(item, str) else flat(item))]


def within(paths: Iterable[Any], folders: Collection[str]) -> list[str]:
    """Return those of nested lists of paths that lie in one of these folders of the build."""
    return [path for path in flat(paths) if len(parts := Path(path).parts) > 2 and parts[1] in folders]


def exhibits(paths: Iterable[Any], category: str, *kinds: str) -> list[Any]:
    """Return output files of a rule; those of the given kinds stand in Snakemake's report, captioned by the build."""
    return [
        _shown(path, category, f"../../{CAPTIONS}/{Path(path).stem}.rst")
        if Path(path).suffix[1:] in kinds
        else path
        for path in flat(paths)
    ]


def exhibit(path: str, category: str, name: str) -> Any:
    """Return one output file that Snakemake's report shows with the words of `workflow/report/<name>.rst`."""
    return _shown(path, category, f"../report/{name}.rst")


def _shown(path: str, category: str, caption: str) -> Any:
    # Snakemake looks for a caption from the folder of the rules.
    from snakemake.io import report  # type: ignore[import-untyped]

    labels = {"name": Path(path).stem, "file": Path(path).suffix[1:]} | (
        {"study": "{at}"} if "{at}" in path else {}
    )
    return report(path, caption=caption, category=category, labels=labels)
