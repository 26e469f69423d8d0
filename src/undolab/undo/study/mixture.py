"""Random requests that meet: few names, few ids, several agents and runs, peers, permissions, clocks that disagree."""

import random
import zlib
from collections.abc import Sequence

from undolab.undo.study.requests import BLANK, ME, NOW, PEER, TENANT, Op
from undolab.undo.types import Context

AGENTS = (ME, ME._replace(run="run-2"), Context(TENANT, "other", "run-1"))
_NAMES = ("ticket", "till", "folder")
_WEIGHTS = {
    "forward": 34,
    "peer": 18,
    "recover": 24,
    "recover_run": 4,
    "permit": 4,
    "preview": 6,
    "show": 6,
    "dry_run": 2,
    "effects": 2,
}


def mixture(seed: int, number: int) -> list[Op]:
    """Return the opening of a world and so many random requests on it; equal seeds give equal requests."""
    dice = random.Random(f"mixture-{seed}")  # noqa: S311 - the same each time is the point
    return [*start(), *requests(dice, number, "m", ids=max(4, number // 3))]


def start() -> list[Op]:
    """Return the requests that open the world: three resources, and two principals who may recover everything."""
    return [
        *(Op("permit", context, kind="*", name="*", args={"rule": "allow"}) for context in AGENTS[::2]),
        *(Op("seed", name=name, args=dict(BLANK), generation=f"g-{name}") for name in _NAMES[:2]),
    ]


def requests(dice: random.Random, number: int, who: str, ids: int) -> list[Op]:
    """Return random requests of one process called `who`; effects have one of `ids` ids that all processes share."""
    return [_request(dice, f"{who}{place}", ids) for place in range(number)]


def _request(dice: random.Random, unique: str, ids: int) -> Op:
    do = dice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    ident = f"e{dice.randrange(ids)}"
    op = Op(do, dice.choice(AGENTS), at=NOW + dice.randrange(200))
    if do == "forward":
        # What an id stands for is fixed, so that two processes that use it ask for the same effect.
        return _effect(random.Random(f"effect-{ident}-{ids}"), ident, op.at)  # noqa: S311
    if do == "peer":
        kind, name, args = _peer(dice, ids)
        generation = f"g-{unique}" if kind == "create" else ""
        return op._replace(
            context=PEER, ident=f"p-{unique}", kind=kind, name=name, args=args, generation=generation
        )
    if do == "permit":
        rule = _one(dice, ("allow", "allow", "approve", "deny"))
        return op._replace(
            kind=_one(dice, ("*", "set", "add")), name=_one(dice, ("*", "*", "till")), args={"rule": rule}
        )
    if do == "show":
        return op._replace(name=_one(dice, _NAMES))
    if do in {"recover", "preview"}:
        return op._replace(ident=ident, context=op.context if dice.random() < 0.1 else _owner(ident))
    return op


def _one(dice: random.Random, choices: Sequence[str]) -> str:
    return dice.choice(choices)


def _effect(dice: random.Random, ident: str, at: int) -> Op:
    name = _one(dice, _NAMES)
    kind, args = _change(dice, name)
    if kind == "create":
        name = "folder"
    generation = f"g-{ident}" if kind == "create" else ""
    # Some receipts live for less than the clocks of the processes differ.
    ttl = dice.choice((150, 3_600_000, 3_600_000))
    return Op("forward", _owner(ident), ident, kind, name, args, generation, ttl, at)


def _owner(ident: str) -> Context:
    return AGENTS[zlib.crc32(ident.encode()) % len(AGENTS)]


def _change(dice: random.Random, name: str) -> tuple[str, dict[str, object]]:
    other = dice.choice([one for one in _NAMES if one != name])
    choices: list[tuple[str, dict[str, object]]] = [
        ("set", {"field": _one(dice, ("status", "note")), "value": _one(dice, ("triage", "closed"))}),
        ("add", {"delta": dice.choice((-6, -3, 2, 4))}),
        ("grant", {"member": _one(dice, ("ann", "bob"))}),
        ("create", {"fields": {"status": "new", "note": ""}, "opening": 3, "limit": 4}),
        ("update", {"fields": {"status": "mine", "note": "mine"}}),
        ("transfer", {"to": other, "amount": dice.choice((1, 4))}),
        ("reserve", {"amount": dice.choice((1, 4))}),
    ]
    return dice.choice(choices)


def _peer(dice: random.Random, ids: int) -> tuple[str, str, dict[str, object]]:
    name = _one(dice, _NAMES)
    if dice.random() < 0.7:
        kind, args = _change(dice, name)
        return kind, "folder" if kind == "create" else name, args
    choices: list[tuple[str, dict[str, object]]] = [
        ("revoke", {"member": _one(dice, ("ann", "bob"))}),
        ("settle", {"effect": f"e{dice.randrange(ids)}"}),
        ("delete", {}),
    ]
    kind, args = dice.choice(choices)
    return kind, "folder" if kind == "delete" else name, args
