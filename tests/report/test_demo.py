"""The demo page tells the story of each pair: what is in its data."""

import importlib.util
from pathlib import Path

from undolab.model.calls import FinalReport
from undolab.model.fault import Boundary
from undolab.report import demo

_spec = importlib.util.spec_from_file_location("demo_study", Path(__file__).with_name("demo_study.py"))
assert _spec is not None
assert _spec.loader is not None
study = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(study)


def test_naive_retry_after_a_lost_answer_is_shown_as_charged_twice() -> None:
    """The card of the second attempt is marked as done again, and the story says twice."""
    arm = study.fault_arm(study.collected(), study.POST, "B0")
    lost, again = arm["cards"][0], arm["cards"][1]
    assert (lost["fault"], lost["server"], lost["heard"], lost["told"]) == (
        study.POST.value,
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
    arm = study.fault_arm(study.collected(), study.PRE, "B0")
    assert arm["cards"][0]["server"] == "nothing"
    assert "effects" not in arm["cards"][0]
    assert arm["cards"][1]["role"] == "required"
    assert arm["passed"]


def test_a_replayed_key_and_an_adopted_effect_are_told_apart_from_a_repeat() -> None:
    """B2 shows the stored answer without an effect; B6 shows that it read the effect back and adopted it."""
    data = study.collected()
    replay = study.fault_arm(data, study.POST, "B2")["cards"][1]
    assert (replay["server"], replay["heard"], replay["honoured"]) == ("replayed", "ok", True)
    verify = study.fault_arm(data, study.POST, "B6")["cards"]
    assert [card["by"] for card in verify[:3]] == ["method", "agent", "method"]
    assert (verify[1]["heard"], verify[1]["told"]) == ("adopted", "agent")
    assert study.fault_arm(data, study.PRE, "B6")["cards"][1]["told"] == "method"


def test_an_agent_that_goes_on_after_a_lost_request_is_shown_as_left_undone() -> None:
    """Without a method the agent is told of the loss; its false report is a failed clause."""
    arm = study.fault_arm(study.collected(), study.PRE, "none")
    assert (arm["cards"][0]["heard"], arm["cards"][0]["told"]) == ("lost", "agent")
    assert arm["story"] == "“Charge a subscription for one more period” was left undone."
    report = next(clause for clause in arm["clauses"] if clause["name"] == "Report")
    assert report == {"name": "Report", "ok": False, "text": "It reported “done”, and that is not true."}


def test_a_turn_without_a_call_keeps_its_error() -> None:
    """Bad output of the model is a card with the reason."""
    script = study.Script(Boundary.NONE, "none", 1, "control")
    script.turn(1, "step one: {", "invalid JSON")
    name, lines, verdict = script.finish(FinalReport.NONE, 1)
    data = demo.collect([(name, lines)], {name: verdict}, {study.WORKFLOW.id: study.WORKFLOW}, study.TOOLS)
    assert data["arms"][name]["cards"] == [{"turn": 1, "said": "step one: {", "error": "invalid JSON"}]


def test_the_page_opens_on_a_double_charge() -> None:
    """The first pair shown is a passing control beside a harmful duplicate by naive retry."""
    data = study.collected()
    pair = data["pairs"][data["start"]]
    assert (pair["boundary"], pair["method"]) == (study.POST.value, "B0")


def test_the_first_seed_is_complete_and_further_seeds_obey_the_budget() -> None:
    """All pairs of the first seed are there whatever the budget; others only whole."""
    assert {pair["seed"] for pair in study.collected((2001, 2002), budget=1)["pairs"]} == {2001}
    assert len(study.collected((2001, 2002), budget=1)["pairs"]) == 8
    assert len(study.collected((2001, 2002))["pairs"]) == 16


def test_each_scene_shows_the_store_right_and_starts_with_a_way_that_fails() -> None:
    """Every scene of the undo layer is inside the page; the first comparison is one that is not right."""
    found = study.collected()["scenes"]
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
    arm = study.fault_arm(study.collected(), study.POST, "B0")
    said = {clause["name"]: clause["text"] for clause in arm["clauses"]}
    assert said["Final state"] == "This should hold and does not: “Marta paid for exactly one more period”."
    assert said["Effects"] == "One effect too many: a repeat that does harm."
