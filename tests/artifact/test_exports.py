"""What is made from a finished run for others: Snakemake's report and the crate, without a network, as a reviewer makes them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from undolab.release import manifest
from undolab.release.files import file_digest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("artifact")]


@pytest.fixture(scope="module")
def report(built: Path, run: Any) -> Path:
    """Return Snakemake's report of the run."""
    for words in (
        ["--cores", "2", "--", "build", "captions"],
        ["--report", "build/report.html", "--", "build"],
    ):
        done = run("snakemake", *words, cwd=built)
        assert done.returncode == 0, done.stdout
    return built / "build/report.html"


def _results(page: str) -> dict[str, Any]:
    match = re.search(r'<script id="results">\s*var results = (.*?);\s*</script>', page, re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def test_the_report_shows_every_figure_and_table_with_its_caption(report: Path) -> None:
    """Each has a heading, a rule, and words that name what they rest on."""
    results = _results(report.read_text())
    built = report.parent

    shown = {path.relative_to(built.parent).as_posix() for path in (built / "figures").iterdir()}
    shown |= {path.relative_to(built.parent).as_posix() for path in (built / "tables").glob("*.csv")}
    assert shown <= results.keys()
    assert {"build/paper/paper.pdf", "build/demo/index.html", "build/stats/metrics.csv"} <= results.keys()
    for name in shown:
        assert len(results[name]["caption"]) > 40, name
        assert results[name]["job_properties"]["rule"], name
    assert "prompt mode" in results["build/figures/figure2.pdf"]["caption"]


def test_the_report_loads_nothing_from_elsewhere(report: Path) -> None:
    """No script, style, picture or frame has an address; everything lies within the file."""
    page = report.read_text()

    pattern = r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)\s*=\s*\\?["']?((?:https?:)?//[^"'\s>]+)"""
    loaded = re.findall(pattern, page)
    assert loaded == []
    assert not re.findall(r"@import\s+(?:url\()?[\"']?https?:", page)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium on this machine")
def test_chromium_shows_the_report_from_the_disk(report: Path, run: Any, tmp_path: Path) -> None:
    """Opened without a network, the page builds itself and lists the headings."""
    flags = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
        "--disable-sync --virtual-time-budget=4000 --dump-dom"
    )
    done = run("chromium", *flags.split(), f"--user-data-dir={tmp_path}", report.as_uri(), cwd=report.parent)

    shown = re.sub(r"<script\b.*?</script>", "", done.stdout, flags=re.DOTALL)
    assert all(heading in shown for heading in ("Figures", "Tables", "Numbers", "Paper and demo"))


def test_the_crate_of_the_run_is_the_same_twice_and_has_the_manifest_s_digests(
    built: Path, run: Any, tmp_path: Path
) -> None:
    """Made twice it has the same bytes; every input that is covered has the digest of the manifest."""
    texts = []
    for name in ("one", "two"):
        done = run("undolab", "crate", "--out", str(tmp_path / name), cwd=built, TZ=f"Etc/GMT+{len(name)}")
        assert done.returncode == 0, done.stdout
        texts.append((tmp_path / name / "ro-crate-metadata.json").read_bytes())
    assert texts[0] == texts[1]

    graph = {entity["@id"]: entity for entity in json.loads(texts[0])["@graph"]}
    covered = manifest.read(built)
    held = {name: graph[name]["sha256"] for name in covered if name in graph}
    assert len(held) > 50
    assert held == {name: covered[name] for name in held}
    outputs = [item["@id"] for item in graph["#run"]["result"]]
    assert "build/paper/paper.pdf" in outputs
    assert all(graph[name]["sha256"] == file_digest(built / name) for name in outputs)


def test_every_claim_stands_in_the_build_too(built: Path, run: Any) -> None:
    """After a whole run each value is found in the released file and in the rebuilt one."""
    done = run("undolab", "claims", cwd=built)

    assert done.returncode == 0, done.stdout
    assert "FAILS" not in done.stdout
