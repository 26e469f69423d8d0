"""The scenes of the undo layer as plain data for the page: each step, what is due, and what each way of undoing makes of it."""

from typing import Any

from undolab.undo.policies.resource import Resource
from undolab.undo.scenes.scenes import LOST, RIGHT, SCENES, STANDS, STORE, Line, Played, play, say, shown

_WAYS = {
    "snapshot": ("Whole copy", "Puts the object back as it was before the effect."),
    "mapped": ("Opposite operation", "Does the opposite: old value back, member out, object deleted."),
    "value": ("Value check", "The opposite operation, if the written value still shows."),
    "object": ("Revision check", "The opposite operation, if the object was not touched since."),
    "field": ("Check of the part", "The opposite operation, if the field or list was not touched since."),
    "undoscope": ("UndoScope", "As published: takes out its own entry, if that is still there."),
    "tagged": (
        "Part check, own entry",
        "Takes out its own entry, if the field or list was not touched since.",
    ),
    "merge": ("Three-way merge", "Merges the state before, after and now, as a revert does."),
    "rebuild": ("Log played again", "Plays the log anew without the effect."),
    STORE: ("Undolab", "The real store: takes out its own entry, whole runs too."),
}
_VERDICTS = {
    RIGHT: ("pass", "Exactly right"),
    STANDS: ("warn", "Its own effect is left standing"),
    LOST: ("fail", "Work of a colleague is lost"),
}
_ANSWERS = {
    "compensated": "taken back",
    "conflict": "refused: a conflict",
    "incarnation_conflict": "refused: the name stands for another ticket now",
    "invariant_conflict": "refused: the balance would fall below zero",
    "missing": "refused: the ticket is gone",
    "superseded": "left alone: a later write stands in its place",
    "already_absent": "nothing of it is left",
    "refused": "refused",
}


def scenes() -> list[dict[str, Any]]:
    """Return every scene, played now: the same each time."""
    return [_scene(play(scene)) for scene in SCENES.values()]


def _scene(played: Played) -> dict[str, Any]:
    scene = played.scene
    start = "the ticket is open" if scene.seeded else "there is no ticket yet"
    steps = [{"who": "Start", "what": start, "state": _rows(played.states[0])}]
    for step, state in zip(scene.steps, played.states[1:], strict=True):
        who = "Agent" if step.who == "agent" else "Colleague"
        steps.append({"who": who, "what": say(step.event), "state": _rows(state)})
    what = "asks to have its whole run back" if scene.run else "asks to have it back"
    steps.append({"who": "Agent", "what": what, "state": _rows(played.states[-1])})
    return {
        "name": scene.name,
        "title": scene.title,
        "lesson": scene.lesson.replace("'", "\u2019"),
        "steps": steps,
        "due": _rows(played.due),
        "ways": [_way(line) for line in played.lines[:-1]],
        "store": _way(played.lines[-1]),
        "start": _first(played),
    }


def _first(played: Played) -> int:
    """Return the way to show first: the mildest that fails, so that the scene has something to say."""
    wrong = [place for place, line in enumerate(played.lines[:-1]) if line.verdict != RIGHT]
    by_name = {place: played.lines[place].policy for place in wrong}
    for wanted in ("undoscope", "value", "snapshot"):
        for place, name in by_name.items():
            if name == wanted:
                return place
    return wrong[0] if wrong else 0


def _way(line: Line) -> dict[str, Any]:
    name, what = _WAYS[line.policy]
    look, verdict = _VERDICTS[line.verdict]
    answers = [_ANSWERS.get(status, status) for _, status in line.answers]
    return {
        "name": name if line.checks_incarnation else f"{name} without the incarnation check",
        "what": what,
        "look": look,
        "verdict": verdict,
        "answers": answers,
        "state": _rows(line.after),
    }


def _rows(state: Resource | None) -> list[tuple[str, str]]:
    """Return a state as short rows of words."""
    seen = shown(state)
    if seen is None:
        return [("Ticket", "none")]
    whose = {"host": "there from the start", "agent": "made by the agent", "peer": "made by the colleague"}
    writers = {"host": "from the start", "agent": "by the agent", "peer": "by the colleague"}
    members = ", ".join(seen["members"])
    granted = " and ".join(writers[tag] for tag in seen["grants"])
    return [
        ("Ticket", whose[seen["maker"]]),
        ("Status", f"{seen['status']}, {writers[seen['writer']]}"),
        ("Note", seen["note"]),
        ("Access", f"{members}, granted {granted}" if members else "nobody"),
    ]
