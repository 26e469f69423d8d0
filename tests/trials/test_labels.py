"""What a re-sealed log says of itself must be what it does."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from undolab.model.wire import ArmStart, ReportEvent, TurnEvent, WireEffectEvent, WireLine
from undolab.trials.labels import label_problems

FAULT = "RB-PAY-004/scripted:verify-first/script/POST_MUTATION_PRE_ACK/B2/1/fault"
CONTROL = "RB-PAY-004/scripted:verify-first/script/NONE/none/1/control"


def edit(
    lines: list[WireLine], kind: type[Any], change: Callable[[Any], Any], **where: Any
) -> list[WireLine]:
    """Return the lines with the first line of a kind changed."""
    place = next(
        i
        for i, line in enumerate(lines)
        if isinstance(line, kind) and all(getattr(line, name) == value for name, value in where.items())
    )
    return [*lines[:place], change(lines[place]), *lines[place + 1 :]]


def rename(**fields: Any) -> Callable[[ArmStart], ArmStart]:
    """Return a change of the arm's name."""
    return lambda start: msgspec.structs.replace(start, arm=msgspec.structs.replace(start.arm, **fields))


@pytest.mark.parametrize("arm", [CONTROL, FAULT])
def test_a_true_log_has_no_problem(corpus: Any, workflows: Any, tools: Any, arm: str) -> None:
    """What the harness writes does what it says."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")

    assert label_problems(workflow, tools, corpus[arm][0].log.lines) == []


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        (ArmStart, rename(seed=2), "the world's seed"),
        (ArmStart, rename(boundary="PRE_MUTATION"), "the faults are not those"),
        (ArmStart, rename(method="B0"), "a key that the arm's method does not send"),
        (ArmStart, rename(arm="control", boundary="NONE", method="none"), "a control has a fault"),
        (ArmStart, lambda start: msgspec.structs.replace(start, faults=[]), "the faults are not those"),
        (ReportEvent, lambda end: msgspec.structs.replace(end, report="unknown"), "the agent's last words"),
        (
            TurnEvent,
            lambda turn: msgspec.structs.replace(turn, said="{}"),
            "not the one that the agent's words",
        ),
        (
            WireEffectEvent,
            lambda event: msgspec.structs.replace(event, arguments={"sub_id": "other"}),
            "not the one that the agent's words",
        ),
        (WireEffectEvent, lambda event: msgspec.structs.replace(event, origin="method"), "a call of its own"),
    ],
)
def test_a_label_that_does_not_fit_is_found(
    corpus: Any, workflows: Any, tools: Any, kind: type[Any], change: Callable[[Any], Any], sentence: str
) -> None:
    """Another seed, boundary, method, schedule, report or call than the log's own is a problem."""
    workflow = next(one for one in workflows if one.id == "RB-PAY-004")
    lines = edit(list(corpus[FAULT][0].log.lines), kind, change)

    assert any(sentence in problem for _, problem in label_problems(workflow, tools, lines))
