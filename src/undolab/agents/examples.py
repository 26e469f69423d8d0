"""The worked examples that stand before the task. They decide how a small model recovers, so `plain` shows no failure."""

from typing import Any

import msgspec

from undolab.agents.base import PublicTool
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


def _tool(name: str, *arguments: str, reads: bool = False) -> PublicTool:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return PublicTool(name=name, description="", parameters=parameters, reads=reads)


def _step(say: str, tool: str, **arguments: Any) -> Step:
    return Step(say=say, tool=tool, arguments=arguments)


PLAIN = [
    Example(
        label="bed",
        objective="Water bed A3 in the greenhouse.",
        tools=[
            _tool("get_bed", "bed_id", reads=True),
            _tool("water_bed", "bed_id", "litres"),
            _tool("clear_bed", "bed_id"),
        ],
        steps=[_step("Water the bed", "water_bed", bed_id="A3", litres=12)],
        outputs=[{"bed_id": "A3", "litres": 12}],
    ),
    Example(
        label="lamp",
        objective="Read lamp L7, set it to warm, dim it to 40 and write that into the house book.",
        tools=[
            _tool("get_lamp", "lamp_id", reads=True),
            _tool("set_lamp", "lamp_id", "color"),
            _tool("dim_lamp", "lamp_id", "percent"),
            _tool("write_book", "text"),
        ],
        steps=[
            _step("Read the lamp", "get_lamp", lamp_id="L7"),
            _step("Set its color", "set_lamp", lamp_id="L7", color="warm"),
            _step("Dim it", "dim_lamp", lamp_id="L7", percent=40),
            _step("Write it down", "write_book", text="lamp L7 is warm"),
        ],
        outputs=[
            {"lamp_id": "L7", "color": "cold", "percent": 90},
            {"lamp_id": "L7", "color": "warm"},
            {"lamp_id": "L7", "percent": 40},
            {"entry": 41, "text": "lamp L7 is warm"},
        ],
    ),
    Example(
        label="book",
        objective="Lend book B-19 to reader R-204, read the book to see that it is lent, and print a slip.",
        tools=[
            _tool("get_book", "book_id", reads=True),
            _tool("lend_book", "book_id", "reader_id"),
            _tool("print_slip", "reader_id"),
            _tool("drop_book", "book_id"),
        ],
        steps=[
            _step("Lend the book", "lend_book", book_id="B-19", reader_id="R-204"),
            _step("See that it is lent", "get_book", book_id="B-19"),
            _step("Print the slip", "print_slip", reader_id="R-204"),
        ],
        outputs=[
            {"book_id": "B-19", "reader_id": "R-204"},
            {"book_id": "B-19", "reader_id": "R-204", "state": "lent"},
            {"slip": 3, "reader_id": "R-204"},
        ],
    ),
]

VARIANTS = {"plain": PLAIN}
"""Variant to examples."""
