"""Croissant metadata of the records, the verdicts and the statistics, so that others' loaders find and check them.

Every file stands with its SHA-256, which is the one of the manifest. Tables are described column by column, with types
read from the values. Paths are relative to the metadata: the same in `build/metadata/` and in `results/metadata/`.
"""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.release import layout
from undolab.release.files import byte_order, file_digests, walk

FOLDERS = tuple(name for name in layout.BUILT_FOLDERS if name not in ("figures", "metadata", "tables"))
"""Folders of a build that hold data rather than its presentation."""

_LICENCE = "https://creativecommons.org/licenses/by/4.0/"
_KINDS = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonlines",
    ".tsv": "text/tab-separated-values",
    ".zst": "application/zstd",
}
_SAYS = {
    "records": (
        "Recorded model calls: a request and its answer a line, with token ids and log-probabilities"
        " (docs/reference/records.md). The terms of the model named in the header apply to its answers."
    ),
    "wire": "Wire log of every arm: each attempt, hash-chained.",
    "ledger": "The world's own ledger of committed effects, one line an effect.",
    "verdicts": "Verdicts worked out from the wire log alone, one line an arm.",
    "trials": "Verdicts of the live judge, one line an arm.",
    "pairs": "Checks of each pair up to its fault.",
    "conformance": "The scripted matrix: every workflow, boundary and method.",
    "stats": "Metrics, intervals and contrasts of the study.",
    "undo": "Histories and ablation of the undo layer.",
    "validity": "The judge on runs with a known verdict, and on mutants of itself.",
}
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
    "samplingRate": "cr:samplingRate", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The context that Croissant 1.0 prescribes."""


def write(root: Path, build: Path, out: Path, epoch: int) -> int:
    """Write the metadata of a build and its records to `out`; return how many files it names.

    Args:
        root: root of the repository, with `data/records`.
        build: the build, or `results` of a release.
        out: the file; paths in it are relative to its folder, which must lie in the build.
        epoch: seconds since 1970 that stand for the date.

    Raises:
        UndolabError: there are no records or no tables.
    """
    records = [name for name, _ in walk(root, "data/records") if name.endswith(".jsonl.zst")]
    parts = [name for folder in FOLDERS for name, _ in walk(build, folder)]
    described = [name for name in parts if Path(name).suffix in _KINDS]
    if not records or not any(name.startswith("stats/") for name in described):
        raise UndolabError(f"no records under data/records, or no statistics under {build}; build them first")
    digests = {f"../../{name}": digest for name, digest in file_digests(root, records).items()}
    digests |= {f"../{name}": digest for name, digest in file_digests(build, described).items()}
    names = sorted(digests, key=byte_order)
    tables = [name for name in names if name.endswith(".csv")]
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "undolab",
        "description": (
            "Recorded model calls, wire logs, verdicts and statistics of Undolab, a benchmark that asks whether an agent's"
            " world ends up exactly right when the outcome of a tool call is lost. No model weights and no personal data."
        ),
        "license": _LICENCE,
        "version": version("undolab"),
        "datePublished": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d"),
        "creator": {"@type": "Organization", "name": "Undolab contributors"},
        "citeAs": (
            "Undolab contributors. Undolab: does the world end up exactly right when the outcome of a tool call is lost?"
        ),
        "isLiveDataset": False,
        "distribution": [_object(name, digests[name], _path(root, build, name)) for name in names],
        "recordSet": [found for name in tables if (found := _table(name, _path(root, build, name)))],
    }
    write_bytes(out, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    return len(names)


def _path(root: Path, build: Path, name: str) -> Path:
    inside = name.removeprefix("../")
    return root / inside.removeprefix("../") if inside.startswith("../") else build / inside


def _id(name: str) -> str:
    return name.removeprefix("../").removeprefix("../")


def _object(name: str, digest: str, path: Path) -> dict[str, Any]:
    parts = _id(name).split("/")
    folder = {"data": parts[1], "side": parts[min(2, len(parts) - 1)]}.get(parts[0], parts[0])
    return {
        "@type": "cr:FileObject",
        "@id": _id(name),
        "name": _id(name),
        "description": _SAYS.get(folder, f"Part of the build's {folder}."),
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _KINDS[Path(name).suffix],
        "sha256": digest,
    }


def _table(name: str, path: Path) -> dict[str, Any] | None:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if not all(header) or not rows:
        return None
    stem = _id(name).removesuffix(".csv")
    return {
        "@type": "cr:RecordSet",
        "@id": stem,
        "name": stem,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{stem}/{_word(column)}",
                "name": _word(column),
                "description": column,
                "dataType": _kind([row[index] for row in rows]),
                "source": {"fileObject": {"@id": _id(name)}, "extract": {"column": column}},
            }
            for index, column in enumerate(header)
        ],
    }


def _word(column: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "_", column)


def _kind(values: Sequence[str]) -> str:
    there = [value for value in values if value]
    if there and _all(there, r"-?\d+"):
        return "sc:Integer" if len(there) == len(values) else "sc:Float"
    if there and _all(there, r"-?\d+(\.\d+)?(e-?\d+)?"):
        return "sc:Float"
    return "sc:Boolean" if there and set(there) <= {"True", "False"} else "sc:Text"


def _all(values: Iterable[str], pattern: str) -> bool:
    return all(re.fullmatch(pattern, value) for value in values)
