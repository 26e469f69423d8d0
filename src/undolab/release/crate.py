"""A run as a Provenance Run Crate: every file with its digest, every job with what it read and wrote, in others' terms.

Times of day and places are left out, so equal runs give equal bytes; the date of publication is `SOURCE_DATE_EPOCH`.
The terms that RO-Crate itself lacks are written out in the context, so nobody needs a second vocabulary to read it.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undolab.model.errors import UndolabError
from undolab.model.files import write_bytes
from undolab.release.files import file_digests
from undolab.release.jobs import Job

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
_WORKFLOW = "Snakefile"
_README = "README.md"
_BIOSCHEMAS = "https://bioschemas.org/profiles/"
_KINDS = {
    ".bib": "application/x-bibtex", ".csv": "text/csv", ".css": "text/css", ".html": "text/html",
    ".js": "text/javascript", ".json": "application/json", ".jsonl": "application/jsonl", ".lock": "text/plain",
    ".md": "text/markdown", ".pdf": "application/pdf", ".png": "image/png", ".smk": "text/plain", ".tex": "text/x-tex",
    ".tsv": "text/tab-separated-values", ".yaml": "application/yaml", ".zst": "application/zstd",
}  # fmt: skip
LICENCE = "https://creativecommons.org/licenses/by/4.0/"


def write(root: Path, out: Path, jobs: Sequence[Job], sources: Sequence[str], epoch: int) -> int:
    """Write the crate of a run to the folder `out`, which is made anew; return how many files it holds.

    Args:
        root: root of the repository.
        out: the folder; it will hold copies of all files beside `ro-crate-metadata.json`.
        jobs: what was run, in order.
        sources: files of the graph itself besides the Snakefile (rules, locks), relative to the root.
        epoch: seconds since 1970 that stand for the date.

    Raises:
        UndolabError: there are no jobs, or a file of the run is missing.
    """
    from rocrate.rocrate import ROCrate

    names = sorted(
        {_WORKFLOW, _README, *sources, *(name for job in jobs for name in (*job.inputs, *job.outputs))}
    )
    missing = [name for name in names if not (root / name).is_file()]
    if not jobs or missing:
        what = missing[0] if missing else "the run"
        raise UndolabError(f"{what} is missing, so there is no whole run to describe; build everything first")
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms = dict(_TERMS)
    _root(crate, epoch)
    digests = file_digests(root, names)
    made = {name for job in jobs for name in job.outputs}
    read = {name for job in jobs for name in job.inputs} - made
    for name in names:
        parameter = _parameter(name) if name in made | read else ""
        crate.add_file(root / name, name, properties=_file(root / name, name, digests[name], parameter))
    crate.dereference(_README)["about"] = _ref("./")
    _parameters(crate, read, made)
    _graph(crate, jobs, read, made)
    shutil.rmtree(out, ignore_errors=True)
    crate.write(out)
    write_bytes(out / "ro-crate-metadata.json", text(crate.metadata.generate()).encode())
    return len(names)


def text(document: Mapping[str, Any]) -> str:
    """Return a crate's metadata in one fixed form: entities by id, keys sorted, lists of references by id."""
    graph = [_settled(entity) for entity in document["@graph"]]
    graph.sort(
        key=lambda entity: (entity["@id"] != "ro-crate-metadata.json", entity["@id"] != "./", entity["@id"])
    )
    return json.dumps({**document, "@graph": graph}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _settled(entity: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in entity.items():
        refs = (
            isinstance(value, list)
            and value
            and all(isinstance(item, dict) and "@id" in item for item in value)
        )
        found[key] = sorted(value, key=lambda item: item["@id"]) if refs and key != "step" else value
    return found


def _root(crate: "ROCrate", epoch: int) -> None:
    dataset = crate.root_dataset
    dataset["name"] = "A run of Undolab"
    dataset["description"] = (
        "One run of Undolab's graph: recorded model calls replayed through fault injection, verdicts worked out again from the "
        "wire logs, statistics, tables, figures, paper and demo, with every file that was read or written."
    )
    dataset["datePublished"] = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")
    dataset["license"] = _add(
        crate, LICENCE, "CreativeWork", name="CC BY 4.0, for data and results", url=LICENCE
    )
    mit = "https://spdx.org/licenses/MIT"
    _add(crate, mit, "CreativeWork", name="MIT, for the code", url=mit)
    dataset["author"] = _add(crate, "#contributors", "Organization", name="Undolab contributors")
    dataset["publisher"] = _ref("#contributors")
    dataset["conformsTo"] = [
        _add(crate, uri, "CreativeWork", name=name, version=uri.rpartition("/")[2])
        for uri, name in PROFILES.items()
    ]
    crate.metadata["conformsTo"] = [_ref("https://w3id.org/ro/crate/1.1"), _ref(list(PROFILES)[-1])]
    dataset["mentions"] = [_ref("#run")]
    dataset["mainEntity"] = _ref(_WORKFLOW)


def _add(crate: "ROCrate", identity: str, kind: str | list[str], **properties: Any) -> dict[str, str]:
    from rocrate.model import ContextEntity  # type: ignore[import-untyped]

    crate.add(ContextEntity(crate, identity, properties={"@type": kind, **properties}))
    return _ref(identity)


def _ref(identity: str) -> dict[str, str]:
    return {"@id": identity}


def _file(path: Path, name: str, digest: str, parameter: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": name, "sha256": digest, "contentSize": str(path.stat().st_size),
        "encodingFormat": _KINDS.get(path.suffix, "text/plain"),
    }  # fmt: skip
    kind = (
        {"@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]}
        if name == _WORKFLOW
        else {}
    )
    return kind | found | ({"exampleOfWork": _ref(parameter)} if parameter else {})


def _parameter(name: str) -> str:
    """Return the id of the input or output of the graph that a file stands for: its folder, or the file."""
    parts = name.split("/")
    kept = parts[:2] if parts[0] in ("build", "data") else parts[:1]
    return f"#{'-'.join(kept) if len(parts) > 1 else name}"


def _parameters(crate: "ROCrate", read: set[str], made: set[str]) -> None:
    for names in (read, made):
        groups: dict[str, list[str]] = {}
        for name in sorted(names):
            groups.setdefault(_parameter(name), []).append(name)
        for identity, members in groups.items():
            _add(
                crate, identity, "FormalParameter", name=identity[1:], additionalType="File", valueRequired=True,
                multipleValues=len(members) > 1, workExample=[_ref(name) for name in members],
                conformsTo=_ref(f"{_BIOSCHEMAS}FormalParameter/1.0-RELEASE"),
            )  # fmt: skip
    for name in ("ComputationalWorkflow", "FormalParameter"):
        profile = f"{_BIOSCHEMAS}{name}/1.0-RELEASE"
        _add(crate, profile, "CreativeWork", name=f"Bioschemas {name}", url=profile, version="1.0")


def _graph(crate: "ROCrate", jobs: Sequence[Job], read: set[str], made: set[str]) -> None:
    rules = list(dict.fromkeys(job.rule for job in jobs))
    engine = _add(
        crate, "#snakemake", "SoftwareApplication", name="Snakemake", softwareVersion=version("snakemake"),
        url="https://snakemake.github.io",
    )  # fmt: skip
    _add(crate, "#language", "ComputerLanguage", name="Snakemake", url="https://snakemake.github.io")
    for position, rule in enumerate(rules, start=1):
        command = next(job.command for job in jobs if job.rule == rule)
        words = " ".join(command.split(" 2>&1")[0].split()[:3])
        _add(
            crate, f"#tool-{rule}", "SoftwareApplication", name=words, description=f"What rule {rule} runs",
            softwareVersion=version("undolab"), license=_ref("https://spdx.org/licenses/MIT"),
        )  # fmt: skip
        _add(
            crate,
            f"#step-{rule}",
            "HowToStep",
            name=rule,
            position=str(position),
            workExample=_ref(f"#tool-{rule}"),
        )
    workflow = crate.dereference(_WORKFLOW)
    workflow["conformsTo"] = _ref(f"{_BIOSCHEMAS}ComputationalWorkflow/1.0-RELEASE")
    workflow["name"] = "Undolab's graph of rules"
    workflow["programmingLanguage"] = _ref("#language")
    workflow["license"] = _ref("https://spdx.org/licenses/MIT")
    workflow["hasPart"] = [_ref(f"#tool-{rule}") for rule in rules]
    workflow["step"] = [_ref(f"#step-{rule}") for rule in rules]
    workflow["input"] = [_ref(name) for name in sorted({_parameter(name) for name in read})]
    workflow["output"] = [_ref(name) for name in sorted({_parameter(name) for name in made})]
    _add(
        crate, "#run", "CreateAction", name="The run", instrument=_ref(_WORKFLOW), agent=_ref("#contributors"),
        object=[_ref(name) for name in sorted(read)], result=[_ref(name) for name in sorted(made)],
        actionStatus="http://schema.org/CompletedActionStatus",
    )  # fmt: skip
    controls = []
    counts: dict[str, int] = {}
    for job in jobs:
        counts[job.rule] = counts.get(job.rule, 0) + 1
        name = f"{job.rule}-{counts[job.rule]}"
        _add(
            crate, f"#job-{name}", "CreateAction", name=f"Job {name}", description=job.command,
            instrument=_ref(f"#tool-{job.rule}"), agent=_ref("#contributors"),
            object=[_ref(path) for path in job.inputs], result=[_ref(path) for path in job.outputs],
            actionStatus="http://schema.org/CompletedActionStatus",
        )  # fmt: skip
        controls.append(
            _add(
                crate,
                f"#control-{name}",
                "ControlAction",
                name=f"Control of job {name}",
                instrument=_ref(f"#step-{job.rule}"),
                object=_ref(f"#job-{name}"),
            )
        )
    _add(
        crate, "#organize", "OrganizeAction", name="Snakemake ran the graph", instrument=engine, object=controls,
        result=_ref("#run"), agent=_ref("#contributors"),
    )  # fmt: skip
