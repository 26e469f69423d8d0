"""Cases from the field that concern the paper and the artifact, on a run of the whole graph."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from undolab.release import manifest
from undolab.release.files import file_digests

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("artifact")]
MADE = ("demo", "figures", "metadata", "paper", "stats", "tables")


def _digests(tree: Path) -> dict[str, str]:
    folder = tree / "build"
    names = [
        path.relative_to(folder).as_posix()
        for name in MADE
        for path in sorted((folder / name).rglob("*"))
        if path.is_file() and "tex" not in path.relative_to(folder).parts
    ]
    return file_digests(folder, names)


def test_b22_another_folder_hour_zone_locale_and_hash_seed_give_the_same_bytes(
    built: Path, copy: Path, run: Any
) -> None:
    """Statistics, tables, figures, paper, demo, metadata and manifest are made again and have the same SHA-256."""
    hour = 3600
    for path in copy.rglob("*"):
        if path.is_file() and not path.is_symlink():
            stat = path.stat()
            os.utime(path, (stat.st_atime - hour, stat.st_mtime - hour))
    for name in MADE:
        shutil.rmtree(copy / "build" / name)
    there = {"TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "7"}

    done = run(
        "snakemake",
        "--cores",
        "1",
        "--rerun-triggers",
        "mtime",
        "--",
        "build",
        cwd=copy,
        HOME=str(copy),
        **there,
    )

    assert done.returncode == 0, done.stdout
    assert _digests(copy) == _digests(built)
    manifests = [file_digests(tree, manifest.covered(tree)[0]) for tree in (built, copy)]
    assert manifests[0] == manifests[1]


@pytest.mark.tex
def test_b23_a_bundle_without_a_file_fails_at_once_and_names_it(
    built: Path, run: Any, tmp_path: Path
) -> None:
    """With the network cut and an empty home nothing waits: one sentence names the file and the command that fetches it."""
    tools = built / ".tools"
    if not (tools / "texbundle/booktabs.sty").is_file():
        pytest.skip("no TeX bundle here")
    tree = tmp_path / "tree"
    shutil.copytree(built, tree, symlinks=True, ignore=shutil.ignore_patterns(".tools", ".snakemake"))
    (tree / ".tools/texbundle").mkdir(parents=True)
    for name in ("tectonic", "tectonic.bin", "texbundle.status"):
        (tree / ".tools" / name).symlink_to((tools / name).resolve())
    shutil.copy2((tools / "tectonic").resolve(), tree / ".tools/real")
    (tree / ".tools/tectonic").unlink()
    (tree / ".tools/real").rename(tree / ".tools/tectonic")
    for path in (tools / "texbundle").resolve().iterdir():
        if path.name != "booktabs.sty":
            (tree / ".tools/texbundle" / path.name).symlink_to(path)
    shutil.copytree((tools / "texcache").resolve(), tree / ".tools/texcache")
    (tree / "home").mkdir()
    begin = time.monotonic()

    done = run("undolab", "report", "paper", "--build", "build", cwd=tree, HOME=str(tree / "home"))

    assert done.returncode == 2
    assert "booktabs.sty is not in the TeX bundle" in done.stdout
    assert "`make tex`" in done.stdout
    assert time.monotonic() - begin < 300


def test_b23_the_whole_graph_was_built_without_a_network_in_an_empty_home(built: Path) -> None:
    """The paper came from the bundle alone: the run of this folder had no route and no cache of its user's."""
    probe = subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("this system does not allow a network to be cut")
    assert (built / "build/paper/paper.pdf").is_file()
    assert not (built.parent / ".cache/Tectonic").exists()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium on this machine")
def test_b25_the_demo_of_the_study_opens_from_the_disk_without_a_network(
    built: Path, run: Any, tmp_path: Path
) -> None:
    """The page is whole, its console is silent, and no address stands in it."""
    page = built / "build/demo/index.html"
    assert not re.search(r"https?://", page.read_text(encoding="utf-8"))
    flags = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
        "--disable-sync --enable-logging=stderr --virtual-time-budget=4000 --dump-dom"
    )

    done = run("chromium", *flags.split(), f"--user-data-dir={tmp_path}", page.as_uri(), cwd=built)

    assert f"source: {page.as_uri()}" not in done.stdout
    assert 'data-theme="' in done.stdout
    assert "gemma3-270m" in re.sub(r"<script\b.*?</script>", "", done.stdout, flags=re.DOTALL)
