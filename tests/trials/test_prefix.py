from typing import Any

import msgspec

from undolab.model.fault import Exposure
from undolab.model.wire import TurnEvent, WireEffectEvent
from undolab.trials.prefix import compare_prefix

CONTROL = "RB-DB-005/scripted:gold/script/NONE/none/1/control"
FAULT = "RB-DB-005/scripted:gold/script/POST_MUTATION_PRE_ACK/B6/1/fault"


def test_a_prefix_that_differs_in_one_reply_is_seen(corpus: Any) -> None:
    """The check can fail: another answer to an earlier read is a difference."""
    control, fault = corpus[CONTROL][0].log.lines, list(corpus[FAULT][0].log.lines)
    answered = (
        isinstance(line, WireEffectEvent) and line.phase == "ok" and line.origin == "agent" for line in fault
    )
    place = list(answered).index(True)
    fault[place] = msgspec.structs.replace(fault[place], output={"balance": 1})

    assert not compare_prefix("x", Exposure.WITNESSED, control, fault, {"probes"}).equal


def test_a_prefix_that_differs_in_what_the_agent_saw_is_seen(corpus: Any) -> None:
    """So is a digest of other bytes seen."""
    control, fault = corpus[CONTROL][0].log.lines, list(corpus[FAULT][0].log.lines)
    place = next(i for i, line in enumerate(fault) if isinstance(line, TurnEvent))
    fault[place] = msgspec.structs.replace(fault[place], seen="other")

    assert not compare_prefix("x", Exposure.WITNESSED, control, fault, {"probes"}).equal


def test_a_missing_line_is_seen(corpus: Any) -> None:
    """A shorter prefix is not an equal one."""
    control, fault = corpus[CONTROL][0].log.lines, list(corpus[FAULT][0].log.lines)
    place = next(
        i for i, line in enumerate(fault) if isinstance(line, WireEffectEvent) and line.origin == "agent"
    )

    assert not compare_prefix(
        "x", Exposure.WITNESSED, control, fault[:place] + fault[place + 1 :], {"probes"}
    ).equal


def test_probes_keys_and_time_are_not_part_of_the_prefix(corpus: Any) -> None:
    """What a method declares that it adds does not make a pair unequal."""
    control, fault = corpus[CONTROL][0].log.lines, corpus[FAULT][0].log.lines
    prefix = compare_prefix("x", Exposure.WITNESSED, control, fault, {"probes"})

    assert (prefix.equal, prefix.difference) == (True, "")


def test_what_a_method_adds_without_saying_so_is_seen(corpus: Any) -> None:
    """A probe that is not declared makes the pair unequal."""
    control, fault = corpus[CONTROL][0].log.lines, corpus[FAULT][0].log.lines

    assert not compare_prefix("x", Exposure.WITNESSED, control, fault).equal


def test_a_key_that_is_not_declared_is_seen(corpus: Any) -> None:
    """So does a key."""
    control, fault = corpus[CONTROL][0].log.lines, list(corpus[FAULT][0].log.lines)
    place = next(
        i for i, line in enumerate(fault) if isinstance(line, WireEffectEvent) and line.origin == "agent"
    )
    fault[place] = msgspec.structs.replace(fault[place], key="k")

    assert not compare_prefix("x", Exposure.WITNESSED, control, fault, {"probes"}).equal
    assert compare_prefix("x", Exposure.WITNESSED, control, fault, {"probes", "key"}).equal
