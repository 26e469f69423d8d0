"""The worked examples that stand before the task. They decide how a small model recovers, so `plain` shows no failure.

`retry` and `check` are the same tasks, in two of which an answer is lost: after it `retry` makes the call again at once, and
`check` reads first and makes it again only where it did not happen.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from undolab.agents.base import PublicTool
from undolab.model.calls import LOST, Phase, Reply
from undolab.model.workflow import Step


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A small task with its calls and their results; its domain is in no workflow."""

    label: str
    """What its calls are counted with."""
    objective: str
    tools: list[PublicTool]
    steps: list[Step]
    outputs: list[dict[str, Any]]
    """One result a step."""
    after: Mapping[int, list[tuple[Step, dict[str, Any]]]] = {}
    """Place of a step (from 0) whose answer is lost first, to the calls that follow the error and their results."""

    def log(self) -> Iterator[tuple[int, Step, Reply]]:
        """Yield each call with the place in the runbook that it is counted by, and its reply."""
        for place, (step, output) in enumerate(zip(self.steps, self.outputs, strict=True)):
            if place not in self.after:
                yield place, step, Reply(phase=Phase.OK, output=output)
                continue
            yield place, step, Reply(phase=Phase.UNKNOWN, output=LOST)
            for call, answer in self.after[place]:
                yield place, call, Reply(phase=Phase.OK, output=answer)


def _tool(name: str, *arguments: str, reads: bool = False) -> PublicTool:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return PublicTool(name=name, description="", parameters=parameters, reads=reads)


def _step(say: str, tool: str, **arguments: Any) -> Step:
    return Step(say=say, tool=tool, arguments=arguments)


PLAIN = [
    Example(
        label="lamp",
        objective="Set lamp L7 to warm, dim it to 40, and see that it is so.",
        tools=[
            _tool("dim_lamp", "lamp_id", "percent"),
            _tool("get_lamp", "lamp_id", reads=True),
            _tool("set_lamp", "lamp_id", "color"),
            _tool("write_book", "text"),
        ],
        steps=[
            _step("Read the lamp", "get_lamp", lamp_id="L7"),
            _step("Set its color", "set_lamp", lamp_id="L7", color="warm"),
            _step("Dim it", "dim_lamp", lamp_id="L7", percent=40),
            _step("See that it is so", "get_lamp", lamp_id="L7"),
        ],
        outputs=[
            {"lamp_id": "L7", "color": "cold", "percent": 90},
            {"lamp_id": "L7", "color": "warm"},
            {"lamp_id": "L7", "percent": 40},
            {"lamp_id": "L7", "color": "warm", "percent": 40},
        ],
    ),
    Example(
        label="bed",
        objective="Water bed A3 in the greenhouse with 12 litres.",
        tools=[
            _tool("clear_bed", "bed_id"),
            _tool("get_bed", "bed_id", reads=True),
            _tool("water_bed", "bed_id", "litres"),
        ],
        steps=[
            _step("Read the bed", "get_bed", bed_id="A3"),
            _step("Water it", "water_bed", bed_id="A3", litres=12),
            _step("See that it is wet", "get_bed", bed_id="A3"),
        ],
        outputs=[
            {"bed_id": "A3", "plant": "basil", "state": "dry"},
            {"bed_id": "A3", "litres": 12},
            {"bed_id": "A3", "plant": "basil", "state": "wet"},
        ],
    ),
    Example(
        label="book",
        objective="Lend book B-19 to reader R-204, print a slip for the reader, and see that the book is lent.",
        tools=[
            _tool("drop_book", "book_id"),
            _tool("get_book", "book_id", reads=True),
            _tool("lend_book", "book_id", "reader_id"),
            _tool("print_slip", "reader_id"),
        ],
        steps=[
            _step("Read the book", "get_book", book_id="B-19"),
            _step("Lend the book", "lend_book", book_id="B-19", reader_id="R-204"),
            _step("Print the slip", "print_slip", reader_id="R-204"),
            _step("See that it is lent", "get_book", book_id="B-19"),
        ],
        outputs=[
            {"book_id": "B-19", "state": "free"},
            {"book_id": "B-19", "reader_id": "R-204"},
            {"slip": 3, "reader_id": "R-204"},
            {"book_id": "B-19", "reader_id": "R-204", "state": "lent"},
        ],
    ),
]

_LAMP, _BED, _BOOK = PLAIN
_with = msgspec.structs.replace
RETRY = [
    _with(_LAMP, after={1: [(_LAMP.steps[1], _LAMP.outputs[1])]}),
    _BED,
    _with(_BOOK, after={1: [(_BOOK.steps[1], _BOOK.outputs[1])]}),
]
CHECK = [
    _with(_LAMP, after={1: [(_LAMP.steps[0], {"lamp_id": "L7", "color": "warm", "percent": 90})]}),
    _BED,
    _with(_BOOK, after={1: [(_BOOK.steps[0], _BOOK.outputs[0]), (_BOOK.steps[1], _BOOK.outputs[1])]}),
]

VARIANTS = {"plain": PLAIN, "retry": RETRY, "check": CHECK}
"""Variant to examples."""
