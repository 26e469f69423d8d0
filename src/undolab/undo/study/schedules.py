"""Schedules of kills and races: the 90 published ones, and a thousand of ours.

Published are 30 trials each of: killed when object and consumed bit are written and nothing is committed, killed after the
commit before the answer, and 32 attempts at one recovery over 16 connections. They ran `mapped`, which is not idempotent,
so that a second commit would show; here they run `mapped` on the shelf and the production store too, with SIGKILL. Ours
draw kind, policy, peers, kills and races from a seed. Nothing may be lost and nothing done twice.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from undolab.undo import schema
from undolab.undo.authority import Rule
from undolab.undo.histories.grammar import ALPHABETS, effect
from undolab.undo.histories.grammar import EFFECTS as PUBLISHED_EFFECTS
from undolab.undo.histories.walk import follow
from undolab.undo.policies.resource import KINDS, balance
from undolab.undo.policies.table import POLICIES, transform
from undolab.undo.study import state
from undolab.undo.study.children import Children, read_lines
from undolab.undo.study.model import Model
from undolab.undo.study.processes import disagreements
from undolab.undo.study.requests import EFFECTS, PEER, Op, opening
from undolab.undo.study.shelf import Shelf
from undolab.undo.study.shelf import create as create_shelf
from undolab.undo.study.stores import Clock, Opened
from undolab.undo.study.suite import Case, Found

TRIALS = 30
_ATTEMPTS, _THREADS = 32, 16
PUBLISHED = ("before_commit", "after_commit", "concurrent_32")
_IDENT = "effect-0"
_STATEMENTS = 40  # more than a request has: some of the kills come after the last one
_SLOWEST_US = 12_000
_RULES: tuple[Rule, ...] = ("allow", "allow", "allow", "approve", "deny")
_PEERS = (
    Op("peer", PEER, kind="add", name="ticket", args={"delta": 2}),
    Op("peer", PEER, kind="add", name="ticket", args={"delta": -4}),
    Op("peer", PEER, kind="set", name="ticket", args={"field": "note", "value": "theirs"}),
    Op("peer", PEER, kind="set", name="ticket", args={"field": "status", "value": "triage"}),
    Op("peer", PEER, kind="grant", name="ticket", args={"member": "contractor"}),
    Op("peer", PEER, kind="revoke", name="ticket", args={"member": "contractor"}),
    Op("peer", PEER, kind="settle", name="ticket", args={"effect": "e-reserve"}),
    Op("peer", PEER, kind="set", name="folder", args={"field": "status", "value": "theirs"}),
    Op("peer", PEER, kind="delete", name="till"),
)


def cases(children: Children, seed: int, ours: int) -> list[Case]:
    """Return the published schedules, once for `mapped` and once for the production store, and so many of ours."""
    found = [
        Case(f"{what}/{subject}/{trial}", _published(children, what, subject))
        for subject in ("mapped", "kernel")
        for what in PUBLISHED
        for trial in range(TRIALS)
    ]
    return found + [Case(f"ours/{number}", _ours(children, seed, number)) for number in range(ours)]


class _Mapped:
    """The published subject: `mapped` on an `add`, with the balance to look at."""

    target = "kills:shelf_request"

    def __init__(self, path: Path) -> None:
        create_shelf(path, seeded=True)
        self._path = path
        shelf = self._open()
        shelf.act(_IDENT, PUBLISHED_EFFECTS["add"])
        shelf.close()

    def _open(self) -> Shelf:
        return Shelf.open(self._path, clock=Clock())

    def job(self, lines: Path, at: int) -> list[object]:
        return [str(self._path), str(lines), at, "add", "mapped"]

    def ask(self, times: int = 1) -> list[str]:
        shelf = self._open()
        answers = [shelf.recover("mapped", _IDENT) for _ in range(times)]
        shelf.close()
        return answers

    def look(self) -> tuple[int, list[str]]:
        shelf = self._open()
        resource = shelf.show()
        wrong = shelf.problems()
        shelf.close()
        return (-1 if resource is None else balance(resource)), wrong


class _Kernel:
    """The production store with the same effect."""

    target = "kills:request"

    def __init__(self, path: Path) -> None:
        schema.create(path)
        self._path = path
        opened = Opened(path)
        for op in (*opening(), EFFECTS["add"]):
            opened.perform(op)
        opened.close()

    def job(self, lines: Path, at: int) -> list[object]:
        return [str(self._path), str(lines), at, Op("recover", ident="e-add")]

    def ask(self, times: int = 1) -> list[str]:
        opened = Opened(self._path)
        answers = [opened.perform(Op("recover", ident="e-add")) for _ in range(times)]
        opened.close()
        return answers

    def look(self) -> tuple[int, list[str]]:
        opened = Opened(self._path)
        shown = opened.store.show("acme", "ticket") or {}
        wrong = state.problems(opened.db)
        opened.close()
        return shown.get("balance", -1), wrong


def _published(children: Children, what: str, subject: str) -> Callable[[], Found]:
    def run() -> Found:
        with tempfile.TemporaryDirectory() as name:
            path, lines = Path(name) / "u.db", Path(name) / "lines"
            made = _Mapped(path) if subject == "mapped" else _Kernel(path)
            if what == "concurrent_32":
                with ThreadPoolExecutor(_THREADS) as pool:
                    share = [_ATTEMPTS // _THREADS] * _THREADS
                    answers = [answer for some in pool.map(made.ask, share) for answer in some]
                left, wrong = made.look()
                accepted = answers.count("compensated")
                if (accepted, left, len(answers)) != (1, 10, _ATTEMPTS):
                    wrong.append(f"{accepted} of {len(answers)} attempts were accepted, balance {left}")
                return Found({what: 1, "attempts": len(answers)}, wrong)
            at = _audit_row(children, subject, Path(name)) if what == "before_commit" else _STATEMENTS
            code = children.run(made.target, [made.job(lines, at)])[0]
            between, wrong = made.look()
            answer = made.ask()[0]
            left, more = made.look()
            first = {"before_commit": 14, "after_commit": 10}[what]
            again = answer == "compensated" if what == "before_commit" else answer != "compensated"
            if (code, between, left, again) != (-9, first, 10, True):
                wrong.append(f"exit {code}, balance {between} and then {left}, {answer}")
            return Found({what: 1, "kills": 1}, wrong + more)

    return run


def _audit_row(children: Children, subject: str, folder: Path) -> int:
    """Return the number of the statement that writes the audit row of a recovery, from one that nobody kills."""
    lines = folder / "counted"
    made = _Mapped(folder / "c.db") if subject == "mapped" else _Kernel(folder / "c.db")
    children.run(made.target, [made.job(lines, -1)])
    statements = [line[1] for line in read_lines(lines) if line[0] == "statement"]
    return next(place for place, text in enumerate(statements) if text.startswith("INSERT INTO audit"))


class _Played(NamedTuple):
    """How often children were killed and how often they were asked at the same time."""

    counts: Counter[str]
    answers: list[str]


def _ours(children: Children, seed: int, number: int) -> Callable[[], Found]:
    def run() -> Found:
        dice = random.Random(f"schedules-{seed}-{number}")  # noqa: S311 - the same each time is the point
        with tempfile.TemporaryDirectory() as name:
            if dice.random() < 0.6:
                return _on_the_store(children, dice, Path(name))
            return _on_the_shelf(children, dice, Path(name))

    return run


def _on_the_store(children: Children, dice: random.Random, folder: Path) -> Found:
    """Play an effect, peers' events and its recovery, each killed a few times and asked again, the last one raced too."""
    path = folder / "u.db"
    schema.create(path)
    opened, model = Opened(path), Model()
    for op in opening(dice.choice(_RULES)):
        opened.perform(op)
        model.perform(op)
    opened.close()
    own = EFFECTS[dice.choice(list(EFFECTS))]
    peers = [
        op._replace(ident=f"p-{place}") for place, op in enumerate(dice.choices(_PEERS, k=dice.randrange(4)))
    ]
    split = dice.randint(0, len(peers))
    last = dice.choice((Op("recover", ident=own.ident), Op("recover", ident=own.ident), Op("recover_run")))
    played = _Played(Counter(), [])
    for op in (*peers[:split], own, *peers[split:]):
        _killed(children, dice, folder, played, "kills:request", [str(path), op])
        model.perform(op)
    bystanders = [
        Op("peer", PEER, f"b-{place}", "add", "ticket", {"delta": 0}) for place in range(dice.randrange(3))
    ]
    _killed(children, dice, folder, played, "kills:request", [str(path), last], settle=False)
    _raced(
        children,
        dice,
        folder,
        played,
        "kills:request",
        [[str(path), last]] * dice.randint(1, 4) + [[str(path), op] for op in bystanders],
    )
    opened = Opened(path)
    for op in bystanders:
        opened.perform(op)
        model.perform(op)
    final = opened.perform(last)
    expected = model.perform(last).answer
    wrong = state.problems(opened.db) + disagreements(opened, model)
    opened.close()
    first = [answer for answer in played.answers if answer == "compensated"]
    if len(first) > 1:
        wrong.append(f"{len(first)} of the attempts were told that they did it")
    if final.removesuffix(" repeated") != expected and last.do == "recover":
        wrong.append(f"in the end {final}, not {expected}")
    played.counts.update({f"store_{own.kind}": 1, "schedules": 1})
    return Found(played.counts, wrong)


def _on_the_shelf(children: Children, dice: random.Random, folder: Path) -> Found:
    """Do the same with a compared policy."""
    path, kind, policy = folder / "u.db", dice.choice(KINDS), dice.choice(list(POLICIES))
    word = "".join(dice.choices("0123", k=dice.randrange(4)))
    create_shelf(path, seeded=kind != "create")
    played = _Played(Counter(), [])
    _killed(children, dice, folder, played, "kills:shelf_request", [str(path), kind, ""])
    shelf = Shelf.open(path, clock=Clock())
    for place, digit in enumerate(word):
        shelf.peer(f"peer-{place}", ALPHABETS[kind][int(digit)])
    shelf.close()
    last = [str(path), kind, policy]
    _killed(children, dice, folder, played, "kills:shelf_request", last, settle=False)
    _raced(children, dice, folder, played, "kills:shelf_request", [last] * dice.randint(1, 4))
    shelf = Shelf.open(path, clock=Clock())
    final = shelf.recover(policy, _IDENT)
    walk = follow(kind, word)
    status, after = transform(POLICIES[policy], walk.actual, effect(kind), walk.replay)
    wrong = shelf.problems()
    if shelf.show() != after:
        wrong.append(f"{policy} after {kind} {word}: not the state after one recovery")
    if final not in ({status, "already_compensated"} if status == "compensated" else {status}):
        wrong.append(f"{policy} after {kind} {word}: in the end {final}, not {status}")
    if played.answers.count("compensated") > 1:
        wrong.append("two of the attempts were told that they did it")
    shelf.close()
    played.counts.update({f"shelf_{policy}": 1, "schedules": 1})
    return Found(played.counts, wrong)


def _job(body: Sequence[object], lines: Path, at: int) -> list[object]:
    return [body[0], str(lines), at, *body[1:]]


def _killed(
    children: Children,
    dice: random.Random,
    folder: Path,
    played: _Played,
    target: str,
    body: Sequence[object],
    *,
    settle: bool = True,
) -> None:
    """Ask up to three times and be killed at some statement each time; then, with `settle`, ask once more and live."""
    for _ in range(dice.randrange(4)):
        code = children.run(target, [_job(body, folder / "lines", dice.randrange(_STATEMENTS))])[0]
        played.counts.update(kills=code == -9)
    if settle:
        _raced(children, dice, folder, played, target, [body])


def _raced(
    children: Children,
    dice: random.Random,
    folder: Path,
    played: _Played,
    target: str,
    bodies: Sequence[Sequence[object]],
) -> None:
    """Ask several times at once; where there are several, some are killed at some moment."""
    lines = [folder / f"lines-{place}" for place in range(len(bodies))]
    for path in lines:
        path.unlink(missing_ok=True)
    many = len(bodies) > 1
    after = [dice.randrange(1, _SLOWEST_US) if many and dice.random() < 0.4 else 0 for _ in bodies]
    jobs = [_job(body, path, -1) for body, path in zip(bodies, lines, strict=True)]
    codes = children.run(target, jobs, after)
    played.counts.update(kills=codes.count(-9), raced=len(bodies) if many else 0)
    for path in lines:
        played.answers.extend(line[1] for line in read_lines(path) if line[0] == "answer")
