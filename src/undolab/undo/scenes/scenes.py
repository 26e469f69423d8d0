"""The five scenes: what happens in each, what is due at the end, and what every policy and the real store make of it."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from undolab.undo.histories.grammar import CONTEXT, EXPIRES, GENERATION, NOW
from undolab.undo.histories.mechanism import Asked, Compared
from undolab.undo.histories.signature import signature
from undolab.undo.policies.receipt import forward
from undolab.undo.policies.resource import INITIAL, Event, Resource, balance, blank, write
from undolab.undo.policies.table import POLICIES
from undolab.undo.scenes.shop import Shop

STORE = "undolab"
"""What the real store is called beside the policies."""
RIGHT, STANDS, LOST = "right", "effect left standing", "others' work lost"
"""How a state after recovery is judged: as it is due; an effect of the agent's that should go is there; a peer's is not."""
_TICKET = "ticket"


class Step(NamedTuple):
    """One write: `agent` or `peer`, and the id of its effect or event."""

    who: str
    event: Event
    ident: str


class Scene(NamedTuple):
    """A story that ends in the agent asking for its effects back, newest first.

    `guardless`: the policies are also tried without the check that the name still stands for the same resource.
    """

    name: str
    title: str
    lesson: str
    steps: tuple[Step, ...]
    seeded: bool = True
    guardless: bool = False
    run: bool = False

    @property
    def own(self) -> list[str]:
        """The agent's effects, newest first."""
        return [step.ident for step in reversed(self.steps) if step.who == "agent"]


def _agent(event: Event, number: int = 0) -> Step:
    return Step("agent", event, f"effect-{number}")


def _peer(event: Event) -> Step:
    return Step("peer", event, "peer-0")


_TRIAGE = Event("set", field="status", text="triage")
_CONTRACTOR = Event("grant", text="contractor")
_ALL = (
    Scene(
        "same-value",
        "Two writers, one value",
        "The agent set the status, then a colleague set the same value anew. Values cannot tell the two apart; "
        "the record of who wrote last can. The colleague's decision must stand.",
        (_agent(_TRIAGE), _peer(_TRIAGE)),
    ),
    Scene(
        "shared-grant",
        "Two grants, one member",
        "A colleague granted the same member on their own account. Only the agent's grant may go; the member must stay.",
        (_agent(_CONTRACTOR), _peer(_CONTRACTOR)),
    ),
    Scene(
        "disjoint-change",
        "Another field of the same ticket",
        "A colleague wrote a note on the ticket. The agent's status must go back, and the note must stay.",
        (_agent(_TRIAGE), _peer(Event("set", field="note", text="call back"))),
    ),
    Scene(
        "name-reuse",
        "Another ticket under the old name",
        "The agent's ticket was deleted and a colleague made a new one of the same name. It must stay. All policies "
        "pass while they check the incarnation; without that one check, all but the rebuild delete the new ticket.",
        (_agent(Event("create")), _peer(Event("recreate"))),
        seeded=False,
        guardless=True,
    ),
    Scene(
        "run-recovery",
        "A whole run",
        "The agent made a ticket, set its status and granted access; nobody else came near. The whole run must go. "
        "Undoing its own edits moves the ticket's revision, so a guard on the revision then keeps the ticket for ever.",
        (_agent(Event("create")), _agent(_TRIAGE, 1), _agent(_CONTRACTOR, 2)),
        seeded=False,
        run=True,
    ),
)
SCENES: Mapping[str, Scene] = {scene.name: scene for scene in _ALL}
POLICIES_SHOWN = tuple(name for name in POLICIES if name != "deny")
"""The policy that never acts has nothing to show."""


class Line(NamedTuple):
    """What one policy, or the store, did: each effect's answer, the state after, and how that state is to be judged."""

    policy: str
    checks_incarnation: bool
    answers: tuple[tuple[str, str], ...]
    after: Resource | None
    verdict: str


class Played(NamedTuple):
    """A scene with the state after each of its steps (the opening first), the state that is due, and what all made of it."""

    scene: Scene
    states: tuple[Resource | None, ...]
    due: Resource | None
    lines: tuple[Line, ...]


def play(scene: Scene) -> Played:
    """Play a scene on every policy and on the real store; the same each time."""
    states = _states(scene)
    due, rests = replay(scene)
    if rests:
        due = states[-1]
    lines = [_compared(scene, name, due, checks=True) for name in POLICIES_SHOWN]
    if scene.guardless:
        lines += [_compared(scene, name, due, checks=False) for name in POLICIES_SHOWN]
    lines.append(_stored(scene, due))
    return Played(scene, states, due, tuple(lines))


def replay(scene: Scene) -> tuple[Resource | None, bool]:
    """Return what the peers' writes give without the agent's, and whether one of them then fails: it rests on the agent's."""
    state, rests = blank(GENERATION) if scene.seeded else None, False
    for step in scene.steps:
        if step.who == "peer":
            state, accepted = write(state, step.event, step.ident)
            rests = rests or not accepted
    return state, rests


def _states(scene: Scene) -> tuple[Resource | None, ...]:
    state = blank(GENERATION) if scene.seeded else None
    found = [state]
    for step in scene.steps:
        if step.event.op == "create":
            made = forward(state, step.event, step.ident, f"generation-{step.ident}", CONTEXT, EXPIRES)
            state = None if made is None else made.after
        else:
            state, _ = write(state, step.event, step.ident)
        found.append(state)
    return tuple(found)


def _compared(scene: Scene, policy: str, due: Resource | None, *, checks: bool) -> Line:
    machine = Compared(POLICIES[policy], frozenset() if checks else frozenset({"incarnation"}))
    state = machine.start(seeded=scene.seeded)
    for step in scene.steps:
        if step.who == "agent":
            state, _ = machine.act(state, step.event, step.ident, CONTEXT, EXPIRES)
        else:
            state, _ = machine.peer(state, step.event, step.ident)
    answers = []
    for place, ident in enumerate(scene.own):
        rebuilt = _rebuilt(scene, scene.own[: place + 1])
        asked = Asked(ident, CONTEXT, CONTEXT, True, NOW, EXPIRES, False, rebuilt)
        answer = machine.recover(state, asked)
        state = answer.state
        answers.append((ident, answer.status))
    after = machine.project(state)
    return Line(policy, checks, tuple(answers), after, _verdict(scene, after, due))


def _rebuilt(scene: Scene, without: list[str]) -> Resource | None:
    """Return what the log gives without some of the agent's effects."""
    left = tuple(step for step in scene.steps if step.ident not in without)
    return _states(scene._replace(steps=left))[-1]


def _stored(scene: Scene, due: Resource | None) -> Line:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        try:
            shop.permit(CONTEXT)
            if scene.seeded:
                shop.seed(_TICKET, GENERATION)
            for step in scene.steps:
                if step.who == "agent":
                    shop.act(_TICKET, step.event, step.ident, CONTEXT, f"generation-{step.ident}")
                else:
                    shop.peer(_TICKET, step.event, step.ident)
            if scene.run:
                answers = tuple((item.id, item.state) for item in shop.recover_run(CONTEXT).effects)
            else:
                answers = tuple((ident, shop.recover(CONTEXT, ident)) for ident in scene.own)
            after = shop.project(_TICKET)
        finally:
            shop.close()
    return Line(STORE, True, answers, after, _verdict(scene, after, due))


def _verdict(scene: Scene, after: Resource | None, due: Resource | None) -> str:
    if signature(after, set(scene.own)) == signature(due, set(scene.own)):
        return RIGHT
    return STANDS if _peers(due) <= _peers(after) else LOST


def _peers(state: Resource | None) -> set[tuple[str, ...]]:
    """Return what peers wrote of a state: its incarnation, its cells, its tags."""
    if state is None:
        return set()
    cells = {(name, cell.value, cell.head) for name, cell in state.fields.items()}
    tags = {(tag, member, tag) for tag, member in state.grants.items()}
    found = {*cells, *tags, ("", "", state.generation)}
    return {entry for entry in found if entry[-1].startswith("peer-")}


def shown(state: Resource | None) -> dict[str, Any] | None:
    """Return what there is to see of a resource, and whose it is: its maker, the writer of its status, its grants."""
    if state is None:
        return None
    return {
        "maker": _whose(state.generation),
        "status": state.fields["status"].value,
        "writer": _whose(state.fields["status"].head),
        "note": state.fields["note"].value,
        "balance": balance(state),
        "members": sorted(set(state.grants.values())),
        "grants": [_whose(tag) for tag in sorted(state.grants)],
    }


def _whose(ident: str) -> str:
    if ident in {INITIAL, GENERATION}:
        return "host"
    return "peer" if ident.startswith("peer-") else "agent"


def say(event: Event) -> str:
    """Return a write in words."""
    match event.op:
        case "set":
            return f"sets {event.field} to {event.text}"
        case "add":
            return f"books {event.delta:+}"
        case "grant":
            return f"grants {event.text}"
        case "revoke":
            return f"revokes {event.text}"
        case "create":
            return "creates the ticket"
        case "recreate":
            return "deletes it and makes a new one of the same name"
        case _:
            return "deletes the ticket"
