"""Taking a write back through a public tool: what the inverses of the shipped tools do on the real world."""

from pathlib import Path
from typing import Any

import pytest

from undolab.model.calls import Phase, Reply
from undolab.model.load import load_tools, load_workflows
from undolab.model.observe import Seen, inverse_call, reader_arguments, seen
from undolab.model.tools import Inverse, Observe
from undolab.model.workflow import State, Workflow
from undolab.world import World

ROOT = Path(__file__).parents[2]
TOOLS = load_tools(ROOT / "data/tools")
ALL = load_workflows(ROOT / "data/workflows")
TRACES = {
    "refunds",
    "payouts",
    "wires",
    "orders",
    "journal",
    "uploads",
    "git_workspace",
}
"""Tables where the effect stays on record when it is taken back, or where the write had used something up."""


REOPENED = "resolve_incident"
"""Its inverse opens the incident anew: whether it was under investigation before is not restored."""


def settled(state: State) -> Any:
    """Return the state but for what an inverse leaves on record; of branches only the files count."""
    kept: dict[str, Any] = {name: rows for name, rows in state.items() if name not in TRACES}
    if "git_branches" in kept:
        kept["git_branches"] = {name: row["files"] for name, row in kept["git_branches"].items()}
    return kept


@pytest.mark.parametrize("workflow", ALL, ids=lambda w: w.id)
def test_inverses_restore_what_was(workflow: Workflow) -> None:
    """After any writing call of a plan and its inverse, the world is as before the call."""
    for index, step in enumerate(workflow.plan):
        spec = TOOLS[step.tool]
        if spec.inverse is None:
            continue
        world = World(workflow.fixture, TOOLS, seed=2001)
        for n, earlier in enumerate(workflow.plan[:index]):
            world.call(earlier.tool, earlier.arguments, attempt=f"{n}.1.1")
        assert spec.observe is not None
        asked = reader_arguments(spec.observe, step.arguments)
        assert asked is not None
        read = world.call(spec.observe.tool, asked, attempt="r")
        before = world.snapshot()
        done = world.call(step.tool, step.arguments, attempt="w")
        arguments = inverse_call(spec.inverse, step.arguments, done.output, read.output if read.ok else None)
        if arguments is None:
            assert step.tool == "put_object"
            assert not read.ok
        else:
            undone = world.call(spec.inverse.tool, arguments, attempt="u")
            assert undone.ok, undone.output
            assert (settled(world.snapshot()) == settled(before)) is (step.tool != REOPENED), step.tool
        world.close()


def test_an_inverse_fills_in_what_it_knows() -> None:
    """Arguments, negatives, the answer and the earlier read stand in, with their types; what is not there makes no call."""
    inverse = Inverse(
        tool="t", arguments={"a": "{x}", "b": "-{n}", "c": "{output.id}", "d": "{before.old}", "e": "E"}
    )
    given = {"x": "1", "n": 5}
    full = {"a": "1", "b": -5, "c": 7, "d": [1], "e": "E"}
    assert inverse_call(inverse, given, {"id": 7}, {"old": [1]}) == full
    assert inverse_call(inverse, given, None, {"old": [1]}) is None
    assert inverse_call(inverse, given, {"id": 7}, None) is None


@pytest.mark.parametrize(
    ("after", "what"),
    [([], Seen.ABSENT), (["SENT"], Seen.PRESENT), (["SENDING"], Seen.UNKNOWABLE)],
)
def test_half_a_batch_is_neither_there_nor_not(after: list[str], what: Seen) -> None:
    """An item that stands for half a call keeps the observer from calling the effect absent."""
    observe = Observe(
        tool="l",
        arguments={},
        rule="listed",
        field="items",
        fields={"status": "SENT"},
        partial={"status": "SENDING"},
    )
    replies = [Reply(phase=Phase.OK, output={"items": [{"status": s} for s in x]}) for x in ([], after)]
    assert seen(observe, {}, *replies) is what
