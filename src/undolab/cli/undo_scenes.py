"""`undolab undo demo`: one scene, step by step, on every policy and on the real store, as a table or as JSON."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from undolab.cli.common import Commands
from undolab.undo.policies.resource import Resource
from undolab.undo.scenes.scenes import SCENES, STORE, Line, Played, play, say, shown

_DEFAULT = "shared-grant"
_COLUMNS = ("ticket", "status", "written by", "note", "balance", "member", "granted by")


def add_demo(actions: Commands) -> None:
    """Add `demo` to the actions of `undolab undo`."""
    command = actions.add_parser("demo", help="a scene on every policy and on the real store, step by step")
    command.add_argument(
        "--scenario", choices=tuple(SCENES), default=_DEFAULT, help=f"which one (default: {_DEFAULT})"
    )
    command.add_argument("--json", action="store_true", help="print the whole states as JSON")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    played = play(SCENES[arguments.scenario])
    print(json.dumps(_trace(played), indent=1) if arguments.json else _page(played))
    return 0 if played.lines[-1].verdict == "right" else 1


def _trace(played: Played) -> dict[str, Any]:
    return {
        "scenario": played.scene.name,
        "steps": [[who, what, _whole(state)] for who, what, state in _steps(played)],
        "due": _whole(played.due),
        "policies": [
            {
                "policy": line.policy,
                "checks_incarnation": line.checks_incarnation,
                "answers": dict(line.answers),
                "shown": shown(line.after),
                "after": _whole(line.after),
                "verdict": line.verdict,
            }
            for line in played.lines
        ],
    }


def _whole(state: Resource | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {**state._asdict(), "fields": {name: cell._asdict() for name, cell in state.fields.items()}}


def _steps(played: Played) -> list[tuple[str, str, Resource | None]]:
    start = "opens the ticket" if played.scene.seeded else "has no ticket yet"
    steps = [("host", start, played.states[0])]
    for step, state in zip(played.scene.steps, played.states[1:], strict=True):
        note = f" (receipt {step.ident})" if step.who == "agent" else ""
        steps.append((step.who, say(step.event) + note, state))
    return steps


def _page(played: Played) -> str:
    scene = played.scene
    steps = [
        [str(number), who, what, *_cells(state)] for number, (who, what, state) in enumerate(_steps(played))
    ]
    asked = "asks for its whole run back" if scene.run else f"asks for {scene.own[0]} back"
    steps.append([str(len(steps)), "agent", asked, *_cells(played.states[-1])])
    steps.append(["", "", "what is due now", *_cells(played.due)])
    lines = [[_name(line), _answers(line), *_cells(line.after), line.verdict] for line in played.lines]
    return "\n".join(
        [
            f"{scene.name}: {scene.title}",
            scene.lesson,
            "",
            *_table(["", "who", "does", *_COLUMNS], steps),
            "",
            *_table(["policy", "answer", *_COLUMNS, "verdict"], lines),
        ]
    )


def _name(line: Line) -> str:
    if line.policy == STORE:
        return f"{STORE} (real store)"
    return line.policy if line.checks_incarnation else f"{line.policy}, no incarnation check"


def _answers(line: Line) -> str:
    return ", ".join(status for _, status in line.answers)


def _cells(state: Resource | None) -> list[str]:
    seen = shown(state)
    if seen is None:
        return ["none", *[""] * (len(_COLUMNS) - 1)]
    return [
        f"the {seen['maker']}'s",
        seen["status"],
        seen["writer"],
        seen["note"],
        str(seen["balance"]),
        ", ".join(seen["members"]) or "-",
        ", ".join(seen["grants"]) or "-",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
