"""The locks: pinned, hashed, without addresses, and in agreement with each other."""

import re
from pathlib import Path

import pytest

ENVS = Path(__file__).resolve().parents[2] / "envs"
LOCKS = ("setup", "artifact", "dev", "build", "live", "tectonic", "bench", "server", "smollm2", "slurm")


def pins(name: str) -> dict[str, tuple[str, int]]:
    """Return package → (version with its marker, number of hashes)."""
    entries = re.split(r"\n(?=\S)", (ENVS / f"{name}.lock").read_text(encoding="utf-8").strip())
    heads = [re.match(r"([A-Za-z0-9._-]+)==(\S+)", entry) for entry in entries]
    assert all(heads), f"{name}.lock has a line that pins nothing"
    return {m[1]: (m[2], e.count("--hash=sha256:")) for m, e in zip(heads, entries, strict=True) if m}


@pytest.mark.parametrize("name", LOCKS)
def test_each_package_is_pinned_with_hashes(name: str) -> None:
    found = pins(name)
    assert found
    assert [package for package, (_, hashes) in found.items() if not hashes] == []


@pytest.mark.parametrize("name", LOCKS)
def test_no_address_stands_in_a_lock(name: str) -> None:
    text = (ENVS / f"{name}.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links", text)


@pytest.mark.parametrize("other", ["setup", "dev", "build", "live", "slurm"])
def test_locks_agree_on_shared_packages(other: str) -> None:
    artifact, mine = pins("artifact"), pins(other)
    assert {p: (v[0], mine[p][0]) for p, v in artifact.items() if p in mine and mine[p][0] != v[0]} == {}


def test_the_served_model_runs_on_the_same_llama_cpp() -> None:
    assert pins("server")["llama-cpp-python"][0] == pins("live")["llama-cpp-python"][0]


def test_the_test_tools_come_on_top_of_the_artifact() -> None:
    assert set(pins("artifact")) <= set(pins("dev"))


def test_the_slurm_executor_is_pinned_and_changes_nothing_of_the_artifact() -> None:
    slurm, artifact = pins("slurm"), pins("artifact")
    assert slurm["snakemake-executor-plugin-slurm"][0] == "2.8.0"
    assert {name for name in slurm if name not in artifact} == {
        "snakemake-executor-plugin-slurm",
        "snakemake-executor-plugin-slurm-jobstep",
    }


def test_the_replay_path_has_no_compiled_model_runtime() -> None:
    assert not {p for p in pins("artifact") if p.startswith(("llama", "gemma"))}


def test_tex_lock_is_sorted_and_names_the_release() -> None:
    lines = (ENVS / "tex.lock").read_text(encoding="utf-8").splitlines()
    files = [line.split("  ", 1)[1] for line in lines if not line.startswith("#")]
    assert lines[0].startswith("#")
    assert "debian 12" in lines[0]
    assert files == sorted(set(files))
