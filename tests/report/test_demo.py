"""The demo page is one inert, self-contained, repeatable file that tells the story of each pair."""

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undolab.model.calls import Effect, FinalReport, LedgerRow, Phase
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.fault import Boundary, FaultPlan
from undolab.model.tools import Observe, Op, Reversibility, ToolSpec
from undolab.model.verdict import Verdict
from undolab.model.wire import ArmId, ArmStart, FaultEvent, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.model.workflow import Predicate, RequiredEffect, Scenario, Split, Step, Workflow
from undolab.oracle import judge
from undolab.report import demo
from undolab.stats.rows import CellRow, Estimate, MetricsFile, Scope, Study
from undolab.stats.text import to_json
from undolab.wire import LogWriter, write_shard

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "demo"
MODEL = "gemma3-270m"
POST = Boundary.POST_MUTATION_PRE_ACK
PRE = Boundary.PRE_MUTATION
METHODS = ["none", "B0", "B2", "B6"]
HOSTILE = (
    "</script><script>window.hurt=1</script><!--<script><img src=x onerror=window.hurt=1>"
    "\u2028\u2029 https://evil.example/x ]]> ${window.hurt=1} {{ 7*7 }} javascript:alert(1) \u202e \x00"
)

TOOLS = {
    "get_subscription": ToolSpec(
        name="get_subscription",
        domain="payments",
        description="Show one subscription.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.READ,
    ),
    "charge_renewal": ToolSpec(
        name="charge_renewal",
        domain="payments",
        description="Charge a subscription for one more period.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.CREATE,
        entity="renewals/*",
        idempotency_key=True,
        reversibility=Reversibility.COMPENSATABLE,
        observe=Observe(
            tool="get_subscription",
            arguments={"sub_id": "{sub_id}"},
            rule="added",
            field="periods_paid",
            by=1,
        ),
    ),
    "send_receipt": ToolSpec(
        name="send_receipt",
        domain="payments",
        description="Send a receipt by mail.",
        parameters={"type": "object", "properties": {"sub_id": {"type": "string"}}},
        op=Op.CREATE,
        entity="receipts/*",
        reversibility=Reversibility.IRREVERSIBLE,
    ),
}
CHARGE = {"sub_id": "sub_9001", "amount_cents": 4900}
RECEIPT = {"sub_id": "sub_9001"}
WORKFLOW = Workflow(
    id="RB-PAY-900",
    version=1,
    name="Renew a subscription",
    domain="payments",
    split=Split.TEST,
    complexity="C2",
    reversibility=Reversibility.COMPENSATABLE,
    objective="Renew subscription sub_9001 of Marta for one period at 49.00 EUR, then send her the receipt.",
    tools=list(TOOLS),
    fixture={"subscriptions": [{"sub_id": "sub_9001", "periods_paid": 3}]},
    plan=[
        Step(say="Charge the renewal of sub_9001.", tool="charge_renewal", arguments=CHARGE),
        Step(say="Send Marta the receipt.", tool="send_receipt", arguments=RECEIPT),
    ],
    effects=[
        RequiredEffect(id="charge", tool="charge_renewal", entity="renewals/*", arguments=CHARGE),
        RequiredEffect(id="receipt", tool="send_receipt", entity="receipts/*"),
    ],
    order=[("charge", "receipt")],
    goal=[
        Predicate(say="Marta paid for exactly one more period.", table="renewals", check="count", value=1),
        Predicate(say="One receipt was sent.", table="receipts", check="count", value=1),
    ],
    scenarios=[Scenario(id="charge", tool="charge_renewal", effect="charge")],
)


class Script:
    """A hand-driven arm: writes the wire lines that a run would write, and keeps the world's counts."""

    def __init__(self, boundary: Boundary, method: str, seed: int, arm: str) -> None:
        """Start an arm."""
        self.arm = ArmId(
            workflow=WORKFLOW.id,
            model=MODEL,
            framework="F1",
            boundary=boundary.value,
            method=method,
            seed=seed,
            arm=arm,
        )
        self.boundary = boundary
        self.log = LogWriter()
        self.rows: list[LedgerRow] = []
        self.tables: dict[str, dict[str, dict[str, Any]]] = {"renewals": {}, "receipts": {}}
        self.calls: dict[str, int] = {}
        plans = (
            [FaultPlan(boundary=boundary, scenario="charge", tool="charge_renewal")] if arm == "fault" else []
        )
        self.log.add(
            ArmStart,
            arm=self.arm,
            workflow_digest="0" * 64,
            tools_digest="0" * 64,
            world_seed=seed,
            prompt="runbook",
            examples="plain",
            faults=plans,
        )

    def turn(self, number: int, said: str, error: str = "") -> None:
        """Log what the agent said."""
        self.log.add(TurnEvent, turn=number, seen="0" * 64, said=said, error=error)

    def attempt(
        self,
        name: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        lost: bool = False,
        key: str | None = None,
        replay_of: str | None = None,
    ) -> None:
        """Log one attempt; `lost` injects the arm's fault into it."""
        op = TOOLS[tool].op
        self.calls[tool] = self.calls.get(tool, 0) + 1
        common = {
            "attempt": name,
            "call_index": self.calls[tool],
            "tool_name": tool,
            "op_type": op,
            "arguments": arguments,
            "at_ms": 0,
            "origin": "method" if name.endswith("m") else "agent",
            "key": key,
        }
        self.log.add(WireEffectEvent, phase=Phase.INVOKE, **common)
        ran = not (lost and self.boundary is PRE)
        effects: list[Effect] = []
        output: dict[str, Any] | None = None
        if ran and op is Op.READ:
            output = {"sub_id": "sub_9001", "periods_paid": 3 + len(self.tables["renewals"])}
        elif ran:
            table = "renewals" if tool == "charge_renewal" else "receipts"
            if replay_of is None:
                row = f"{table[:3]}_{len(self.tables[table]) + 1:08x}"
                effects = self._commit(name, tool, arguments, table, row)
            output = {"id": list(self.tables[table])[-1], "status": "done"}
        if lost:
            self.log.add(FaultEvent, fault=0, stage="injected", attempt=name)
            self.log.add(
                FaultEvent, fault=0, stage="witnessed", attempt=name, detail={"ledger_rows": len(effects)}
            )
        self.log.add(
            WireEffectEvent,
            phase=Phase.UNKNOWN if lost else Phase.OK,
            committed_externally=bool(effects),
            acknowledged_to_agent=not lost,
            target=[effect.entity for effect in effects],
            effects=effects,
            output=output,
            replay_of=replay_of,
            **common,
        )

    def finish(self, report: FinalReport, turns: int) -> tuple[str, list[WireLine], Verdict]:
        """End the arm and judge it."""
        self.log.add(ReportEvent, report=report, reason="finished", turns=turns, final_state="0" * 64)
        verdict = judge(WORKFLOW, TOOLS, self.log.lines, self.rows, self.tables)
        return self.arm.name(), self.log.lines, verdict

    def _commit(self, name: str, tool: str, arguments: dict[str, Any], table: str, row: str) -> list[Effect]:
        self.tables[table][row] = dict(arguments)
        number = len(self.rows) + 1
        effect = Effect(
            id=f"e{number}", entity=f"{table}/{row}", op=Op.CREATE, before="", after=f"{number:016x}"
        )
        self.rows.append(LedgerRow(seq=number, attempt=name, tool=tool, arguments=arguments, effect=effect))
        return [effect]


def say(tool: str, arguments: dict[str, Any], step: int, more: str = "") -> str:
    """Return a turn as the small model writes it."""
    inside = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    return f"step {step}: {tool}({inside}){more}"


def run(
    boundary: Boundary, method: str, seed: int, arm: str, more: str = ""
) -> tuple[str, list[WireLine], Verdict]:
    """Return one arm: charge, then receipt, with the method's usual answer to the lost one."""
    script = Script(boundary, method, seed, arm)
    faulted = arm == "fault"
    key = "idem_6f1d2a90b3c4e5f7" if method == "B2" else None
    script.turn(1, say("charge_renewal", CHARGE, 1, more))
    if method == "B6":
        script.attempt("1.1.1m", "get_subscription", RECEIPT)
    script.attempt("1.1.1", "charge_renewal", CHARGE, lost=faulted, key=key)
    if faulted and method == "B6":
        script.attempt("1.1.2m", "get_subscription", RECEIPT)
    if faulted and (method in {"B0", "B2"} or (method == "B6" and boundary is PRE)):
        replay = "1.1.1" if method == "B2" and boundary is POST else None
        script.attempt("1.1.2", "charge_renewal", CHARGE, key=key, replay_of=replay)
    script.turn(2, say("send_receipt", RECEIPT, 2))
    script.attempt("2.1.1", "send_receipt", RECEIPT)
    script.turn(3, "finish: done")
    return script.finish(FinalReport.DONE, 3)


def study_runs(seeds: Sequence[int] = (2001,), more: str = "") -> list[tuple[str, list[WireLine], Verdict]]:
    """Return a small complete study."""
    found = []
    for seed in seeds:
        found.append(run(Boundary.NONE, "none", seed, "control", more))
        found += [
            run(boundary, method, seed, "fault", more) for boundary in (PRE, POST) for method in METHODS
        ]
    return found


def metrics() -> MetricsFile:
    """Return headline numbers of the right shape."""
    study = Study(
        workflows=[WORKFLOW.id],
        models=[MODEL],
        frameworks=["F1"],
        boundaries=[PRE.value, POST.value],
        methods=METHODS,
        seeds=[2001],
        prompt="runbook",
        examples="plain",
        replicates=100,
        bootstrap_seed=1,
        rules=1,
    )
    cells = []
    for number, (boundary, method) in enumerate((b, m) for b in study.boundaries for m in METHODS):
        scope = Scope(
            model=MODEL,
            framework="F1",
            prompt="runbook",
            examples="plain",
            boundary=boundary,
            method=method,
            task="all",
        )
        right = Estimate(
            num=number, den=10, value=number / 10, lo=max(0.0, number / 10 - 0.1), hi=0.8, dropped=0
        )
        twice = Estimate(num=0, den=0, value=None, lo=None, hi=None, dropped=0) if number == 0 else right
        cells.append(
            CellRow(
                scope=scope,
                N=10,
                exposed=10,
                D=8,
                R=number,
                F=number,
                interval="cluster_bootstrap",
                metrics={"crsr": right, "der": twice},
                failures={},
                sums={},
            )
        )
    return MetricsFile(study=study, cells=cells)


def collected(seeds: Sequence[int] = (2001,), more: str = "", budget: int = demo.BUDGET) -> dict[str, Any]:
    """Return the embedded data of the small study."""
    runs = study_runs(seeds, more)
    logs = [(name, lines) for name, lines, _ in runs]
    verdicts = {name: verdict for name, _, verdict in runs}
    return demo.collect(logs, verdicts, {WORKFLOW.id: WORKFLOW}, TOOLS, budget)


def page(**options: Any) -> str:
    """Return the whole page of the small study."""
    return demo.render(collected(**options), metrics(), TEMPLATE)


def fault_arm(data: dict[str, Any], boundary: Boundary, method: str) -> dict[str, Any]:
    """Return the embedded fault arm of one pair."""
    pair = next(p for p in data["pairs"] if (p["boundary"], p["method"]) == (boundary.value, method))
    found: dict[str, Any] = data["arms"][pair["fault"]]
    return found


def test_naive_retry_after_a_lost_answer_is_shown_as_charged_twice() -> None:
    """The card of the second attempt is marked as done again, and the story says twice."""
    arm = fault_arm(collected(), POST, "B0")
    lost, again = arm["cards"][0], arm["cards"][1]
    assert (lost["fault"], lost["server"], lost["heard"], lost["told"]) == (
        POST.value,
        "committed",
        "lost",
        "method",
    )
    assert (again["role"], again["count"], again["nth"], again["told"]) == ("duplicate", 2, 2, "agent")
    assert arm["headline"] == "Done twice"
    assert arm["story"] == "“Charge a subscription for one more period” took effect twice instead of once."
    assert not arm["passed"]


def test_a_lost_request_shows_that_nothing_ran() -> None:
    """At the other boundary the service did nothing, and the retry is the first effect."""
    arm = fault_arm(collected(), PRE, "B0")
    assert arm["cards"][0]["server"] == "nothing"
    assert "effects" not in arm["cards"][0]
    assert arm["cards"][1]["role"] == "required"
    assert arm["passed"]


def test_a_replayed_key_and_an_adopted_effect_are_told_apart_from_a_repeat() -> None:
    """B2 shows the stored answer without an effect; B6 shows that it read the effect back and adopted it."""
    data = collected()
    replay = fault_arm(data, POST, "B2")["cards"][1]
    assert (replay["server"], replay["heard"], replay["honoured"]) == ("replayed", "ok", True)
    verify = fault_arm(data, POST, "B6")["cards"]
    assert [card["by"] for card in verify[:3]] == ["method", "agent", "method"]
    assert (verify[1]["heard"], verify[1]["told"]) == ("adopted", "agent")
    assert fault_arm(data, PRE, "B6")["cards"][1]["told"] == "method"


def test_an_agent_that_goes_on_after_a_lost_request_is_shown_as_left_undone() -> None:
    """Without a method the agent is told of the loss; its false report is a failed clause."""
    arm = fault_arm(collected(), PRE, "none")
    assert (arm["cards"][0]["heard"], arm["cards"][0]["told"]) == ("lost", "agent")
    assert arm["story"] == "“Charge a subscription for one more period” was left undone."
    report = next(clause for clause in arm["clauses"] if clause["name"] == "Report")
    assert report == {"name": "Report", "ok": False, "text": "It reported “done”, and that is not true."}


def test_a_turn_without_a_call_keeps_its_error() -> None:
    """Bad output of the model is a card with the reason."""
    script = Script(Boundary.NONE, "none", 1, "control")
    script.turn(1, "step one: {", "invalid JSON")
    name, lines, verdict = script.finish(FinalReport.NONE, 1)
    data = demo.collect([(name, lines)], {name: verdict}, {WORKFLOW.id: WORKFLOW}, TOOLS)
    assert data["arms"][name]["cards"] == [{"turn": 1, "said": "step one: {", "error": "invalid JSON"}]


def test_the_page_opens_on_a_double_charge() -> None:
    """The first pair shown is a passing control beside a harmful duplicate by naive retry."""
    data = collected()
    pair = data["pairs"][data["start"]]
    assert (pair["boundary"], pair["method"]) == (POST.value, "B0")


def test_the_first_seed_is_complete_and_further_seeds_obey_the_budget() -> None:
    """All pairs of the first seed are there whatever the budget; others only whole."""
    assert {pair["seed"] for pair in collected((2001, 2002), budget=1)["pairs"]} == {2001}
    assert len(collected((2001, 2002), budget=1)["pairs"]) == 8
    assert len(collected((2001, 2002))["pairs"]) == 16


def unpacked(data: dict[str, Any]) -> dict[str, Any]:
    """Return embedded data as the page's script puts it together again."""
    parts = data["parts"]
    arms = [parts[arm["end"]] | {"cards": [parts[at] for at in arm["cards"]]} for arm in data["arms"]]
    return data | {"arms": arms}


def test_what_arms_share_is_embedded_once() -> None:
    """Packing loses nothing: each pair finds its two arms again, and no card stands in the page twice."""
    whole = collected((2001, 2002))
    small = unpacked(demo.packed(whole))
    assert len(small["pairs"]) == len(whole["pairs"]) > 0
    for pair, before in zip(small["pairs"], whole["pairs"], strict=True):
        for arm in ("control", "fault"):
            assert small["arms"][pair[arm]] == whole["arms"][before[arm]]
    assert len({json.dumps(part) for part in small["parts"]}) == len(small["parts"])
    assert len(demo.embed(demo.packed(whole))) < 0.8 * len(demo.embed(whole))


def test_seeds_left_out_are_named_and_only_then() -> None:
    """Where the page holds fewer seeds than the study, it says which ones it holds."""
    numbers = metrics()
    numbers.study.seeds.append(2002)
    short = demo.render(collected((2001, 2002), budget=1), numbers, TEMPLATE)
    assert "Inside this page is seed 2001 of the study’s 2;" in short  # noqa: RUF001
    assert "Inside this page" not in demo.render(collected((2001, 2002)), numbers, TEMPLATE)


def test_each_number_names_its_own_denominator_and_the_legend_its_names() -> None:
    """A card says which runs each share is of; a percent sign never starts a line; the study's short names are explained."""
    numbers = metrics()
    row = numbers.cell(MODEL, "F1", POST.value, "B0")
    row.metrics["der"] = Estimate(num=21, den=60, value=0.35, lo=0.1, hi=0.6, dropped=0)
    row.metrics["crsr"] = Estimate(num=19, den=40, value=0.475, lo=0.1, hi=0.8, dropped=0)
    text = demo.render(collected(), numbers, TEMPLATE)
    card = re.search(r"<li>\s*<p><b>Naive retry \(B0\)</b>.*?</li>", text, re.DOTALL)
    assert card is not None
    assert "35\u00a0%</p>\n      <p>of all 60 runs: done twice" in card[0]
    assert "Still right: 48\u00a0% of the 40 runs that work without a fault" in card[0]
    assert not re.search(r"\d %", text)
    for name in ("F1", "runbook", "plain", "one-task:", PRE.value, POST.value):
        assert text.count(f"<dt><code>{name}</code>") == 1


def test_each_scene_shows_the_store_right_and_starts_with_a_way_that_fails() -> None:
    """Every scene of the undo layer is inside the page; the first comparison is one that is not right."""
    found = collected()["scenes"]
    assert [scene["name"] for scene in found] == [
        "same-value", "shared-grant", "disjoint-change", "name-reuse", "run-recovery",
    ]  # fmt: skip
    for scene in found:
        assert scene["store"]["look"] == "pass"
        assert scene["store"]["state"] == scene["due"]
        assert scene["ways"][scene["start"]]["look"] != "pass"
        assert len({way["name"] for way in scene["ways"]}) == len(scene["ways"])


def test_what_does_not_hold_cannot_be_read_as_a_fact() -> None:
    """Goals that failed are quoted as what should hold, and a harmful repeat is a sentence."""
    arm = fault_arm(collected(), POST, "B0")
    said = {clause["name"]: clause["text"] for clause in arm["clauses"]}
    assert said["Final state"] == "This should hold and does not: “Marta paid for exactly one more period”."
    assert said["Effects"] == "One effect too many: a repeat that does harm."


def test_the_page_is_the_same_twice() -> None:
    """Equal inputs give equal bytes, whatever the order of the logs."""
    runs = study_runs()
    verdicts = {name: verdict for name, _, verdict in runs}
    backwards = [(name, lines) for name, lines, _ in reversed(runs)]
    other = demo.collect(backwards, verdicts, {WORKFLOW.id: WORKFLOW}, TOOLS)
    assert demo.render(other, metrics(), TEMPLATE) == page()


def test_the_page_names_no_address_and_loads_nothing() -> None:
    """No external address, no fetch, no inline handler or style, and a policy that forbids the rest (field case B25)."""
    text = page(more=HOSTILE)
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
    text = page(more=HOSTILE)
    assert text.count("<script") == text.count("</script>") == 2
    assert "<!--" not in text
    assert "\u2028" not in text
    assert "\x00" not in text
    raw = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert raw is not None
    data = json.loads(raw[1])
    assert data == json.loads(json.dumps(demo.packed(collected(more=HOSTILE))))
    assert (
        HOSTILE in unpacked(data)["arms"][data["pairs"][data["start"]]["fault"]]["cards"][0]["said"] + "\x00"
    )


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
    runs = study_runs()
    logs = {name: b"".join(canonical(line) + b"\n" for line in lines) for name, lines, _ in runs}
    write_shard(tmp_path / "wire" / f"{WORKFLOW.id}.jsonl.zst", logs)
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_bytes(b"".join(canonical(verdict) + b"\n" for _, _, verdict in runs))
    (tmp_path / "metrics.json").write_text(to_json(metrics()))
    put_json(tmp_path / f"workflows/test/{WORKFLOW.id}.yaml", msgspec.to_builtins(WORKFLOW))
    fields = {name: msgspec.to_builtins(tool) for name, tool in TOOLS.items()}
    for tool in fields.values():
        del tool["name"], tool["domain"]
    put_json(tmp_path / "tools/payments.yaml", fields)

    def build(wire: str) -> bytes:
        out = tmp_path / "out/index.html"
        files = (tmp_path / "metrics.json", tmp_path / "workflows", tmp_path / "tools", out)
        demo.write(tmp_path / wire, [verdicts], *files, template_dir=TEMPLATE)
        return out.read_bytes()

    assert build("wire") == page().encode()
    with pytest.raises(UndolabError, match="holds no wire log"):
        build("elsewhere")


def put_json(path: Path, value: Any) -> None:
    """Write a value as JSON, which is YAML too."""
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(value))


def test_missing_parts_are_clear_sentences(tmp_path: Path) -> None:
    """A log without verdict, a fault arm without control and a missing template each say what to do."""
    name, lines, verdict = run(POST, "B0", 1, "fault")
    with pytest.raises(UndolabError, match="no verdict"):
        demo.collect([(name, lines)], {}, {WORKFLOW.id: WORKFLOW}, TOOLS)
    with pytest.raises(UndolabError, match="no control arm"):
        demo.collect([(name, lines)], {name: verdict}, {WORKFLOW.id: WORKFLOW}, TOOLS)
    with pytest.raises(UndolabError, match=r"page\.css is missing"):
        demo.render(collected(), metrics(), tmp_path)


@pytest.mark.slow
def test_chromium_shows_the_page_without_an_error_and_runs_no_model_text(tmp_path: Path) -> None:
    """Opened from disk with hostile text inside, the page builds itself, logs no error and stays inert (field case B25)."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    target = tmp_path / "index.html"
    target.write_text(page(more=HOSTILE), encoding="utf-8")
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
