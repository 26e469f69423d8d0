"""What a run of the graph did, as Snakemake tells it: which rule made which files, from which files, by which command."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError

_COLUMNS = ("output_file", "rule", "log-file(s)", "input-file(s)", "shellcmd", "plan")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a rule."""

    rule: str
    command: str
    """The shell command."""
    inputs: list[str]
    """Paths relative to the root, sorted."""
    outputs: list[str]


def of_run(root: Path, target: str = "build") -> list[Job]:
    """Return the jobs behind a target, each after those that it rests on.

    Raises:
        UndolabError: Snakemake is not there, cannot read the graph, or says that the build is no whole run.
    """
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--detailed-summary", target]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UndolabError(f"Snakemake cannot tell what a run does ({last}); run `make artifact` first")
    return parse(done.stdout)


def parse(summary: str) -> list[Job]:
    """Return the jobs of a detailed summary of Snakemake, in an order in which they can run.

    Raises:
        UndolabError: this is no such summary, or a file is missing, behind its inputs, or not known to be made by the run.
    """
    rows = list(csv.DictReader(io.StringIO(summary), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or not set(_COLUMNS) <= rows[0].keys():
        raise UndolabError(
            "Snakemake's summary of the run has another form than expected; use the locked version"
        )
    for row in rows:
        if row["plan"] != "no update" or row["shellcmd"] == "-":
            raise UndolabError(
                f"{row['output_file']} is not the outcome of a finished run; run `snakemake all`, then again"
            )
    grouped: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        key = (row["rule"], row["log-file(s)"], _plain(row["shellcmd"]), _plain(row["input-file(s)"]))
        grouped.setdefault(key, set()).add(row["output_file"])
    jobs = [
        Job(
            rule=rule,
            command=command,
            inputs=sorted(filter(None, inputs.split(","))),
            outputs=sorted(outputs),
        )
        for (rule, _, command, inputs), outputs in grouped.items()
    ]
    return _ordered(jobs)


def _plain(cell: str) -> str:
    return "" if cell == "-" else cell


def _ordered(jobs: list[Job]) -> list[Job]:
    """Return the jobs by rule and outputs, each after those that make its inputs."""
    maker = {name: job for job in jobs for name in job.outputs}
    done: dict[int, Job] = {}

    def visit(job: Job) -> None:
        if id(job) in done:
            return
        for name in job.inputs:
            if name in maker and maker[name] is not job:
                visit(maker[name])
        done[id(job)] = job

    for job in sorted(jobs, key=lambda job: (job.rule, job.outputs)):
        visit(job)
    return list(done.values())
