"""`undolab wire` and `undolab heads`: look at wire logs, and index the heads of their chains."""

import argparse
from pathlib import Path

from undolab.cli.common import Commands
from undolab.model.calls import Phase
from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.wire import FaultEvent, ReportEvent, TurnEvent, WireEffectEvent, WireLine, WorldEvent
from undolab.wire import heads, read_arms, side_of, write_heads


def add_commands(commands: Commands) -> None:
    """Add the subcommands."""
    show = commands.add_parser("wire", help="print the arms of a wire log, or one arm line by line")
    show.add_argument("log", type=Path, help="a shard: .jsonl.zst or .jsonl")
    show.add_argument("--arm", metavar="NAME", help="the arm to print; any part of its name that only it has")
    show.set_defaults(run=_show)

    index = commands.add_parser("heads", help="write the sorted index of the chains' heads")
    index.add_argument("log", nargs="+", type=Path, help="shards")
    index.add_argument("--out", type=Path, required=True, help="the file to write")
    index.set_defaults(run=_heads)


def _heads(arguments: argparse.Namespace) -> int:
    for log in arguments.log:
        _require(log)
    index = {}
    for log in arguments.log:
        index.update({side_of(log) + name: head for name, head in heads(read_arms(log)).items()})
    write_heads(arguments.out, index)
    return 0


def _require(log: Path) -> None:
    if not log.is_file():
        raise UndolabError(f"{log} is not a file; name a wire log such as results/wire/RB-DB-005.jsonl.zst")


def _show(arguments: argparse.Namespace) -> int:
    _require(arguments.log)
    arms = dict(read_arms(arguments.log))
    if arguments.arm is None:
        for name in arms:
            print(name)
        return 0
    found = [name for name in arms if arguments.arm in name]
    if not found:
        raise UndolabError(
            f"no arm of {arguments.log} has {arguments.arm!r} in its name; `undolab wire LOG` lists them"
        )
    if len(found) != 1:
        raise UndolabError(
            f"{len(found)} arms of {arguments.log} have {arguments.arm!r} in their name; give more of it"
        )
    for line in arms[found[0]]:
        text = _text(line)
        if text:
            print(text)
    return 0


def _text(line: WireLine) -> str:
    match line:
        case TurnEvent():
            return f"{line.turn:>3}      agent   {line.said}" + (f"  [{line.error}]" if line.error else "")
        case WireEffectEvent() if line.phase is Phase.INVOKE:
            call = f"{line.tool_name} {canonical(line.arguments).decode()}"
            return f"{line.attempt:<8} {line.origin:<7} {call}" + (f"  key {line.key}" if line.key else "")
        case WireEffectEvent():
            return f"{line.attempt:<8} {line.phase:<7} {_what(line)}"
        case WorldEvent():
            changed = ", ".join(effect.entity for effect in line.effects)
            return f"{line.attempt:<8} {line.cause:<7} {line.tool_name}" + (
                f"  committed {changed}" if changed else ""
            )
        case FaultEvent():
            return f"{line.attempt:<8} fault   {line.stage}"
        case ReportEvent():
            return f"         end     {line.report} ({line.reason}) after {line.turns} turns"
        case _:
            return ""


def _what(line: WireEffectEvent) -> str:
    changed = ", ".join(
        f"{effect.entity} {effect.before or 'nothing'} -> {effect.after or 'nothing'}"
        for effect in line.effects
    )
    heard = "" if line.acknowledged_to_agent else "nobody heard: "
    replay = f" (stored answer of {line.replay_of})" if line.replay_of else ""
    output = "" if line.output is None else canonical(line.output).decode()
    return f"{heard}{output or 'nothing ran'}{replay}" + (f"  committed {changed}" if changed else "")
