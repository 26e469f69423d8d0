"""`make test-slurm`: the smoke target on a real Slurm of one node gives the files of the local run, byte for byte.

Starts munged, slurmctld and slurmd of its own, from Debian's packages, on free ports and with everything in a temporary
folder, and stops them at the end. No accounting, processes found through /proc. Where Slurm cannot be started, it says why
and ends with exit code 0: nothing was tested.
"""

import argparse
import hashlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo", "scancel")
PLUGIN = "snakemake_executor_plugin_slurm"
COMPARED = ("conformance", "ledger", "pairs", "shards", "splits", "trials", "verdicts", "wire")
CONF = """ClusterName=undolab
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MinJobAge=600
ReturnToService=2
SlurmctldParameters=idle_on_node_suspend
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class CannotStartError(Exception):
    """Slurm cannot run here; the text says why."""


def _find(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise CannotStartError(f"there is no {name}; on Debian: apt-get install slurm-wlm munge")
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _megabytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def _wait(what: str, ready: list[str], wanted: str, log: Path, environment: dict[str, str]) -> None:
    said = ""
    for _ in range(60):
        done = subprocess.run(ready, env=environment, check=False, capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode == 0 and wanted in done.stdout:
            return
        time.sleep(0.5)
    tail = log.read_text(errors="replace").splitlines()[-5:] if log.is_file() else []
    raise CannotStartError(f"{what} is not ready after 30 s: {' '.join(said.split())} {' | '.join(tail)}")


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """Run a Slurm of one node; give the environment of those who submit to it.

    Raises:
        CannotStartError: it cannot be started here.
    """
    programs = {name: _find(name) for name in PROGRAMS}
    host = socket.gethostname().split(".")[0]
    text = CONF.format(
        host=host,
        user=pwd.getpwuid(os.getuid()).pw_name,
        folder=folder,
        ctld=_free_port(),
        slurmd=_free_port(),
        cpus=os.cpu_count() or 1,
        memory=_megabytes() * 9 // 10,
    )
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(text)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    # Inside a job the executor takes every SLURM_ variable away, so its srun would look for a system-wide configuration.
    wrapper = folder / "bin/srun"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {programs["srun"]} "$@"\n')
    wrapper.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{wrapper.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "SLURM_CONF": str(folder / "slurm.conf"),
    }
    munge = [
        f"--{name}={folder}/munge.{name.split('-')[0]}"
        for name in ("key-file", "pid-file", "log-file", "seed-file")
    ]
    commands = {
        "munged": [programs["munged"], "--foreground", "--force", f"--socket={folder}/munge.socket", *munge],
        "slurmctld": [programs["slurmctld"], "-D", "-i"],
        "slurmd": [programs["slurmd"], "-D", "-N", host],
    }
    checks = {
        "munged": (["test", "-S", f"{folder}/munge.socket"], ""),
        "slurmctld": ([programs["sinfo"], "--noheader"], "all"),
        "slurmd": ([programs["sinfo"], "--noheader", "--format=%t"], "idle"),
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in commands.items():
            with (folder / f"{name}.out").open("wb") as out:
                started.append(
                    subprocess.Popen(
                        command, env=environment, stdout=out, stderr=subprocess.STDOUT, cwd=folder
                    )
                )
            ready, wanted = checks[name]
            _wait(name, ready, wanted, folder / f"{name}.out", environment)
        yield environment
    finally:
        if len(started) == len(commands):
            user = str(os.getuid())
            subprocess.run(
                [programs["scancel"], "--user", user], env=environment, check=False, capture_output=True
            )
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _copy(tree: Path, target: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=tree, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (tree / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, target / name)


def _manifest(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): hashlib.sha256(path.read_bytes()).hexdigest()
        for kind in COMPARED
        for path in sorted((tree / "build" / kind).rglob("*"))
        if path.is_file()
    }


def _snakemake(tree: Path, target: str, environment: dict[str, str], *words: str) -> None:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--quiet",
        "rules",
        "progress",
        "host",
        *words,
        "--",
        target,
    ]
    done = subprocess.run(
        command,
        cwd=tree,
        env={**environment, "PYTHONPATH": str(tree / "src")},
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        print(done.stdout)
        for log in sorted((tree / ".snakemake/slurm_logs").rglob("*.log")):
            print(log.relative_to(tree), log.read_text(errors="replace"), sep="\n")
        raise SystemExit(f"test-slurm: snakemake {target} failed in {tree.name}, see above")


def main() -> int:
    """Run the comparison; 0 where it is equal or Slurm cannot run here."""
    # Told to stop, it stops what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tree", type=Path, default=ROOT, help="whose tracked files are run (default: this repository)"
    )
    parser.add_argument("--target", default="smoke", help="what is built (default: smoke)")
    parser.add_argument(
        "--parts", type=int, default=2, help="shards that the seeds are shared out over (default: 2)"
    )
    arguments = parser.parse_args()
    if find_spec(PLUGIN) is None:
        print(
            "test-slurm: skipped: the package snakemake-executor-plugin-slurm is not installed; make test-slurm installs it"
        )
        return 0
    with tempfile.TemporaryDirectory(prefix="undolab-slurm-") as name:
        folder = Path(name)
        for kind in ("local", "slurm", "daemons"):
            (folder / kind).mkdir()
        try:
            with one_node(folder / "daemons") as environment:
                for kind in ("local", "slurm"):
                    _copy(arguments.tree, folder / kind)
                print(f"test-slurm: {arguments.target} here")
                _snakemake(folder / "local", arguments.target, dict(os.environ), "--cores", "2")
                print(f"test-slurm: {arguments.target} as Slurm jobs, seeds in {arguments.parts} shards")
                profile = [
                    "--workflow-profile",
                    "workflow/profiles/slurm",
                    "--slurm-status-command",
                    "squeue",
                ]
                profile += [
                    "--slurm-init-seconds-before-status-checks",
                    "2",
                    "--config",
                    f"parts={arguments.parts}",
                ]
                _snakemake(folder / "slurm", arguments.target, environment, *profile)
                jobs = _jobs(environment)
        except CannotStartError as reason:
            print(f"test-slurm: skipped: {reason}")
            return 0
        here, there = (_manifest(folder / kind) for kind in ("local", "slurm"))
    shards = {name for name in {**here, **there} if name.startswith("build/shards/")}
    compared = sorted((here.keys() | there.keys()) - shards)
    wrong = [name for name in compared if here.get(name) != there.get(name)]
    for name in wrong:
        print(
            f"test-slurm: {name} differs: {here.get(name, 'nothing')} here, {there.get(name, 'nothing')} there"
        )
    if not jobs or not compared:
        raise SystemExit("test-slurm: Slurm ran no job, or nothing was built")
    print(
        f"test-slurm: {jobs} Slurm jobs; {len(compared) - len(wrong)} of {len(compared)} files are those of the local run, "
        f"of {len(shards & there.keys())} files of shards there and {len(shards & here.keys())} here"
    )
    return 1 if wrong else 0


def _jobs(environment: dict[str, str]) -> int:
    command = ["squeue", "--states=all", "--noheader", "--format=%T"]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.split().count("COMPLETED")


if __name__ == "__main__":
    sys.exit(main())
