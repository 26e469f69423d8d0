"""The demo page is one inert, self-contained, repeatable file."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.report import demo
from undolab.stats.rows import Estimate
from undolab.stats.text import to_json
from undolab.wire import write_shard

_spec = importlib.util.spec_from_file_location("demo_study", Path(__file__).with_name("demo_study.py"))
assert _spec is not None
assert _spec.loader is not None
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)

HOSTILE = (
    "</script><script>window.hurt=1</script><!--<script><img src=x onerror=window.hurt=1>"
    "\u2028\u2029 https://evil.example/x ]]> ${window.hurt=1} {{ 7*7 }} javascript:alert(1) \u202e \x00"
)


def unpacked(data: dict[str, Any]) -> dict[str, Any]:
    """Return embedded data as the page's script puts it together again."""
    parts = data["parts"]
    arms = [parts[arm["end"]] | {"cards": [parts[at] for at in arm["cards"]]} for arm in data["arms"]]
    return data | {"arms": arms}


def test_what_arms_share_is_embedded_once() -> None:
    """Packing loses nothing: each pair finds its two arms again, and no card stands in the page twice."""
    whole = study.collected((2001, 2002))
    small = unpacked(demo.packed(whole))
    assert len(small["pairs"]) == len(whole["pairs"]) > 0
    for pair, before in zip(small["pairs"], whole["pairs"], strict=True):
        for arm in ("control", "fault"):
            assert small["arms"][pair[arm]] == whole["arms"][before[arm]]
    assert len({json.dumps(part) for part in small["parts"]}) == len(small["parts"])
    assert len(demo.embed(demo.packed(whole))) < 0.8 * len(demo.embed(whole))


def test_seeds_left_out_are_named_and_only_then() -> None:
    """Where the page holds fewer seeds than the study, it says which ones it holds."""
    numbers = study.metrics()
    numbers.study.seeds.append(2002)
    short = demo.render(study.collected((2001, 2002), budget=1), numbers, study.TEMPLATE)
    assert "Inside this page is seed 2001 of the study’s 2;" in short  # noqa: RUF001
    assert "Inside this page" not in demo.render(study.collected((2001, 2002)), numbers, study.TEMPLATE)


def test_each_number_names_its_own_denominator_and_the_legend_its_names() -> None:
    """A card says which runs each share is of; a percent sign never starts a line; the study's short names are explained."""
    numbers = study.metrics()
    row = numbers.cell(study.MODEL, "F1", study.POST.value, "B0")
    row.metrics["der"] = Estimate(num=21, den=60, value=0.35, lo=0.1, hi=0.6, dropped=0)
    row.metrics["crsr"] = Estimate(num=19, den=40, value=0.475, lo=0.1, hi=0.8, dropped=0)
    text = demo.render(study.collected(), numbers, study.TEMPLATE)
    card = re.search(r"<li>\s*<p><b>Naive retry \(B0\)</b>.*?</li>", text, re.DOTALL)
    assert card is not None
    assert "35\u00a0%</p>\n      <p>of all 60 runs: done twice" in card[0]
    assert "Still right: 48\u00a0% of the 40 runs that work without a fault" in card[0]
    assert not re.search(r"\d %", text)
    for name in ("F1", "runbook", "plain", "one-task:", study.PRE.value, study.POST.value):
        assert text.count(f"<dt><code>{name}</code>") == 1


def test_the_page_is_the_same_twice() -> None:
    """Equal inputs give equal bytes, whatever the order of the logs."""
    runs = study.study_runs()
    verdicts = {name: verdict for name, _, verdict in runs}
    backwards = [(name, lines) for name, lines, _ in reversed(runs)]
    other = demo.collect(backwards, verdicts, {study.WORKFLOW.id: study.WORKFLOW}, study.TOOLS)
    assert demo.render(other, study.metrics(), study.TEMPLATE) == study.page()


def test_the_page_names_no_address_and_loads_nothing() -> None:
    """No external address, no fetch, no inline handler or style, and a policy that forbids the rest (field case B25)."""
    text = study.page(more=HOSTILE)
    assert "://" not in text
    assert re.findall(r"https?", text.replace("http-equiv", "").replace("https:/\\u002f", "")) == []
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\s(src|on\w+|style)\s*=", markup)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', text))
    assert not re.search(
        r"\b(fetch|XMLHttpRequest|WebSocket|import|eval|innerHTML|insertAdjacentHTML)\b", text
    )
    assert "default-src 'none'" in text


def test_hostile_text_cannot_leave_its_script_element() -> None:
    """The page has its own two scripts and no more, and the data reads back as it was."""
    text = study.page(more=HOSTILE)
    assert text.count("<script") == text.count("</script>") == 2
    assert "<!--" not in text
    assert "\u2028" not in text
    assert "\x00" not in text
    raw = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert raw is not None
    data = json.loads(raw[1])
    assert data == json.loads(json.dumps(demo.packed(study.collected(more=HOSTILE))))
    whole = unpacked(data)
    assert HOSTILE in whole["arms"][data["pairs"][data["start"]]["fault"]]["cards"][0]["said"] + "\x00"


@given(st.text())
def test_any_text_embeds_safely(text: str) -> None:
    """Whatever the text, the embedded form is ASCII without a tag, a comment or an address, and reads back equal."""
    raw = demo.embed({"said": text})
    assert raw.isascii()
    assert not set("<>&") & set(raw)
    assert "//" not in raw
    assert json.loads(raw) == {"said": text}


def test_write_reads_the_files_of_a_build(tmp_path: Path) -> None:
    """From logs, verdicts, metrics, workflows and tools on disk the same page comes out as from memory."""
    runs = study.study_runs()
    logs = {name: b"".join(canonical(line) + b"\n" for line in lines) for name, lines, _ in runs}
    write_shard(tmp_path / "wire" / f"{study.WORKFLOW.id}.jsonl.zst", logs)
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_bytes(b"".join(canonical(verdict) + b"\n" for _, _, verdict in runs))
    (tmp_path / "metrics.json").write_text(to_json(study.metrics()))
    put_json(tmp_path / f"workflows/test/{study.WORKFLOW.id}.yaml", msgspec.to_builtins(study.WORKFLOW))
    fields = {name: msgspec.to_builtins(tool) for name, tool in study.TOOLS.items()}
    for tool in fields.values():
        del tool["name"], tool["domain"]
    put_json(tmp_path / "tools/payments.yaml", fields)

    def build(wire: str) -> bytes:
        out = tmp_path / "out/index.html"
        files = (tmp_path / "metrics.json", tmp_path / "workflows", tmp_path / "tools", out)
        demo.write(tmp_path / wire, [verdicts], *files, template_dir=study.TEMPLATE)
        return out.read_bytes()

    assert build("wire") == study.page().encode()
    with pytest.raises(UndolabError, match="holds no wire log"):
        build("elsewhere")


def put_json(path: Path, value: Any) -> None:
    """Write a value as JSON, which is YAML too."""
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(value))


def test_missing_parts_are_clear_sentences(tmp_path: Path) -> None:
    """A log without verdict, a fault arm without control and a missing template each say what to do."""
    name, lines, verdict = study.run(study.POST, "B0", 1, "fault")
    with pytest.raises(UndolabError, match="no verdict"):
        demo.collect([(name, lines)], {}, {study.WORKFLOW.id: study.WORKFLOW}, study.TOOLS)
    with pytest.raises(UndolabError, match="no control arm"):
        demo.collect([(name, lines)], {name: verdict}, {study.WORKFLOW.id: study.WORKFLOW}, study.TOOLS)
    with pytest.raises(UndolabError, match=r"page\.css is missing"):
        demo.render(study.collected(), study.metrics(), tmp_path)


@pytest.mark.slow
def test_chromium_shows_the_page_without_an_error_and_runs_no_model_text(tmp_path: Path) -> None:
    """Opened from disk with hostile text inside, the page builds itself, logs no error and stays inert (field case B25)."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    target = tmp_path / "index.html"
    target.write_text(study.page(more=HOSTILE), encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --enable-logging=stderr --virtual-time-budget=4000 --dump-dom"
    )
    command = [chromium, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", target.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "CONSOLE" not in done.stderr
    assert "Done twice" in done.stdout
    assert "Work of a colleague is lost" in done.stdout
    assert 'data-theme="' in done.stdout
    shown = re.sub(r"<script\b.*?</script>", "", done.stdout, flags=re.DOTALL)
    assert "&lt;/script&gt;&lt;script&gt;window.hurt=1" in shown
    assert "<img" not in shown
