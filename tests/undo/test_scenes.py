"""The scenes: what each policy makes of them, and that the real store is right in every one."""

import json

import pytest

from undolab.cli.main import main
from undolab.undo.scenes.scenes import LOST, POLICIES_SHOWN, RIGHT, SCENES, STANDS, STORE, play

EXPECTED = {
    "same-value": {"snapshot": LOST, "mapped": LOST, "value": LOST, "merge": LOST},
    "shared-grant": {
        "snapshot": LOST, "mapped": LOST, "value": LOST, "merge": LOST,
        "object": STANDS, "field": STANDS, "tagged": STANDS,
    },
    "disjoint-change": {"snapshot": LOST, "object": STANDS},
    "name-reuse": {},
    "run-recovery": {"object": STANDS, "field": STANDS, "undoscope": STANDS, "tagged": STANDS},
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_each_policy_and_the_store(name):
    """Every policy ends as foretold, and the store is right."""
    lines = {line.policy: line.verdict for line in play(SCENES[name]).lines if line.checks_incarnation}
    assert lines == {
        **dict.fromkeys(POLICIES_SHOWN, RIGHT),
        **EXPECTED[name],
        STORE: RIGHT,
    }


def test_a_reused_name_fails_every_policy_that_acts_without_the_check():
    """Without the incarnation check all but the rebuild delete the new ticket."""
    lines = {line.policy: line for line in play(SCENES["name-reuse"]).lines if not line.checks_incarnation}
    assert {name for name, line in lines.items() if line.verdict == LOST} == set(POLICIES_SHOWN) - {"rebuild"}
    assert lines["undoscope"].after is None


def test_the_store_takes_a_run_back_newest_first():
    """The run's three effects go in the order that lets each of them go."""
    store = play(SCENES["run-recovery"]).lines[-1]
    assert store.answers == tuple((f"effect-{number}", "compensated") for number in (2, 1, 0))
    assert store.after is None


def test_published_answers():
    """The published statuses of the first six policies come out."""
    rows = {
        name: [dict(line.answers)["effect-0"] for line in play(SCENES[name]).lines[:6]]
        for name in ("same-value", "shared-grant", "disjoint-change", "name-reuse")
    }
    yes, no = "compensated", "conflict"
    assert rows == {
        "same-value": [yes, yes, yes, no, no, no],
        "shared-grant": [yes, yes, yes, no, no, yes],
        "disjoint-change": [yes, yes, yes, no, yes, yes],
        "name-reuse": ["incarnation_conflict"] * 6,
    }


def test_the_command_prints_steps_and_traces(capsys):
    """The table has a line a step and a policy; the JSON has the whole states; both are the same each time."""
    assert main(["undo", "demo", "--scenario", "same-value"]) == 0
    page = capsys.readouterr().out
    assert "1  agent  sets status to triage (receipt effect-0)" in page
    assert "undolab (real store)  superseded" in page
    assert main(["undo", "demo", "--scenario", "same-value"]) == 0
    assert capsys.readouterr().out == page
    assert main(["undo", "demo", "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert trace["scenario"] == "shared-grant"
    assert trace["policies"][1]["after"]["grants"] == {}
    assert trace["policies"][-1]["shown"]["grants"] == ["peer"]
