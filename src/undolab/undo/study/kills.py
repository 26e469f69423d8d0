"""SIGKILL at every boundary between statements of forward, peer's write, recovery and run recovery.

For each request the statements are counted once, then a child process is killed before the first, before the second, …
and after the last, when the answer was not yet told. Expected is the whole transaction or nothing of it, decided by the
COMMIT alone; the same request, asked again, then ends it once. The production store meets it with each kind of effect under
each rule of permission; the compared policies meet it on the shelf.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from undolab.undo import schema
from undolab.undo.authority import Rule
from undolab.undo.histories.grammar import ALPHABETS
from undolab.undo.histories.grammar import EFFECTS as PUBLISHED_EFFECTS
from undolab.undo.policies.resource import KINDS
from undolab.undo.policies.table import POLICIES
from undolab.undo.study import state
from undolab.undo.study.children import Children, Lines, die, read_lines
from undolab.undo.study.requests import BLANK, EFFECTS, ME, PEER, Op, opening
from undolab.undo.study.shelf import Shelf
from undolab.undo.study.shelf import create as create_shelf
from undolab.undo.study.stores import Clock, Opened, copied
from undolab.undo.study.suite import Case, Found

_RULES: tuple[Rule, ...] = ("allow", "approve", "deny")
_SETTLED = {"compensated", "already_absent"}
_LATER = Op("peer", PEER, "p-later", "set", "ticket", {"field": "note", "value": "theirs"})
_PEERS: Mapping[str, Op] = {
    "add": Op("peer", PEER, "p-add", "add", "ticket", {"delta": 2}),
    "revoke": Op("peer", PEER, "p-revoke", "revoke", "ticket", {"member": "contractor"}),
    "settle": Op("peer", PEER, "p-settle", "settle", "ticket", {"effect": "e-reserve"}),
    "delete": Op("peer", PEER, "p-delete", "delete", "till"),
}
# A whole run: every kind, and two edits of what it created itself.
_RUN = [
    *(EFFECTS[kind] for kind in ("set", "add", "grant", "transfer", "reserve")),
    EFFECTS["create"]._replace(args=dict(BLANK)),
    Op("forward", ME, "e-inside", "set", "folder", {"field": "status", "value": "triage"}),
    Op("forward", ME, "e-second", "add", "folder", {"delta": 2}),
]


class Target(NamedTuple):
    """One request to be killed in, and what came before it."""

    name: str
    before: list[Op]
    op: Op


class ShelfTarget(NamedTuple):
    """The same on the shelf: an effect or its recovery under a policy, after some of the published peers' events."""

    name: str
    kind: str
    word: str
    policy: str  # "" for the effect itself


def targets() -> Iterator[Target]:
    """Yield every request to the production store."""
    for kind, op in EFFECTS.items():
        yield Target(f"forward/{kind}", opening(), op)
        for rule in _RULES:
            before = [*opening(rule), op, _LATER]
            yield Target(f"recover/{kind}/{rule}", before, Op("recover", ident=op.ident))
    for event, op in _PEERS.items():
        yield Target(f"peer/{event}", [*opening(), EFFECTS["grant"], EFFECTS["reserve"]], op)
    yield Target("rejected/add", opening(), EFFECTS["add"]._replace(args={"delta": -11}))
    gone = [*opening(), EFFECTS["grant"], _PEERS["revoke"]]
    yield Target("recover/absent/allow", gone, Op("recover", ident="e-grant"))
    for rule in _RULES:
        yield Target(f"recover_run/{rule}", [*opening(rule), *_RUN], Op("recover_run"))
    yield Target("recover_run/empty", opening(), Op("recover_run"))


def shelf_targets() -> Iterator[ShelfTarget]:
    """Yield every effect, and every recovery under every compared policy, with and without a peer's event before it."""
    for kind in KINDS:
        yield ShelfTarget(f"shelf/forward/{kind}", kind, "", "")
        for policy in POLICIES:
            for word in ("", "0"):
                yield ShelfTarget(f"shelf/{policy}/{kind}/{word or '-'}", kind, word, policy)


def cases(children: Children, every: int = 1) -> list[Case]:
    """Return a case for each request; each kills at every boundary, or at every so many of them and the last."""
    found = [Case(one.name, partial(_case, children, _OnStore, one, every)) for one in targets()]
    return found + [Case(one.name, partial(_case, children, _OnShelf, one, every)) for one in shelf_targets()]


def request(job: list[Any]) -> None:
    """Make one request in a child, and die before its `at`th statement, or after the last; -1 lives and lists them."""
    path, lines, at, raw = job
    opened = Opened(Path(path))
    out = Lines(Path(lines))
    opened.watch(_Killer(at, out))
    answer = opened.perform(msgspec.convert(raw, Op))
    if at >= 0:
        die()
    out.write(["answer", answer])


def shelf_request(job: list[Any]) -> None:
    """Do the same on the shelf."""
    path, lines, at, kind, policy = job
    shelf = Shelf.open(Path(path), clock=Clock())
    out = Lines(Path(lines))
    shelf.watch(_Killer(at, out))
    answer = ask(shelf, kind, policy)
    if at >= 0:
        die()
    out.write(["answer", answer])


def ask(shelf: Shelf, kind: str, policy: str) -> str:
    """Make the shelf's request: the effect itself, or under a policy its recovery."""
    return shelf.recover(policy, "effect-0") if policy else shelf.act("effect-0", PUBLISHED_EFFECTS[kind])


class _Killer:
    """Counts statements as SQLite begins them."""

    def __init__(self, at: int, out: Lines) -> None:
        self._left, self._at, self._out = at, at, out

    def __call__(self, statement: str) -> None:
        if self._at < 0:
            self._out.write(["statement", " ".join(statement.split(None, 3)[:3])])
        elif self._left == 0:
            die()
        self._left -= 1


class _Subject(Protocol):
    """What both kinds of store give; `work` is the database that children are let loose on."""

    child: str

    def begin(self, made: Path) -> Any:
        """Make a store with all that came before; return how it looks."""

    def job(self) -> list[Any]:
        """Return what a child needs to know of the request."""

    def look(self, work: Path) -> tuple[Any, list[str]]:
        """Return how a store looks, and what is wrong with it."""

    def again(self, work: Path) -> str:
        """Make the request, from this process."""

    def answers(self, answer: str) -> set[str]:
        """Return what the request may be answered once it was done, when `answer` is the first answer."""

    def same(self, found: Any, expected: Any) -> bool:
        """Return whether two looks are the same but for what a repeated request leaves."""


class _OnStore:
    child = "kills:request"

    def __init__(self, target: Target) -> None:
        self._target = target

    def begin(self, made: Path) -> state.Dump:
        schema.create(made)
        opened = Opened(made)
        for op in self._target.before:
            opened.perform(op)
        opened.close()
        return self.look(made)[0]

    def job(self) -> list[Any]:
        return [self._target.op]

    def look(self, work: Path) -> tuple[state.Dump, list[str]]:
        opened = Opened(work)
        found = state.dump(opened.db), state.problems(opened.db)
        opened.close()
        return found

    def again(self, work: Path) -> str:
        opened = Opened(work)
        answer = opened.perform(self._target.op)
        opened.close()
        return answer

    def answers(self, answer: str) -> set[str]:
        match self._target.op.do:
            case "peer":
                return {"rejected id_used"}
            case "recover":
                return {f"{answer} repeated" if answer in _SETTLED else answer}
            case "recover_run":
                listed, _, stands = answer.partition(" | ")
                left = [part for part in listed.split() if part.rpartition(":")[2] not in _SETTLED]
                return {f"{' '.join(left)} | {stands}"}
        return {answer}

    def same(self, found: state.Dump, expected: state.Dump) -> bool:
        return state.effects(found) == state.effects(expected)


class _OnShelf:
    child = "kills:shelf_request"

    def __init__(self, target: ShelfTarget) -> None:
        self._target = target

    def begin(self, made: Path) -> Any:
        create_shelf(made, seeded=self._target.kind != "create")
        shelf = Shelf.open(made, clock=Clock())
        if self._target.policy:
            ask(shelf, self._target.kind, "")
        for place, digit in enumerate(self._target.word):
            shelf.peer(f"peer-{place}", ALPHABETS[self._target.kind][int(digit)])
        shelf.close()
        return self.look(made)[0]

    def job(self) -> list[Any]:
        return [self._target.kind, self._target.policy]

    def look(self, work: Path) -> tuple[Any, list[str]]:
        shelf = Shelf.open(work, clock=Clock())
        found = shelf.show(), shelf.problems()
        shelf.close()
        return found

    def again(self, work: Path) -> str:
        shelf = Shelf.open(work, clock=Clock())
        answer = ask(shelf, self._target.kind, self._target.policy)
        shelf.close()
        return answer

    def answers(self, answer: str) -> set[str]:
        return {{"accepted": "repeated", "compensated": "already_compensated"}.get(answer, answer)}

    def same(self, found: Any, expected: Any) -> bool:
        return bool(found == expected)


def _case(children: Children, kind: type[Any], target: Target | ShelfTarget, every: int) -> Found:
    subject: _Subject = kind(target)
    counts, wrong = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        made, work, lines = (Path(name) / file for file in ("made.db", "work.db", "lines"))
        before = subject.begin(made)

        def child(at: int) -> int:
            copied(made, work)
            lines.unlink(missing_ok=True)
            return children.run(subject.child, [[str(work), str(lines), at, *subject.job()]])[0]

        code = child(-1)
        told = read_lines(lines)
        if code or not told or told[-1][0] != "answer":
            return Found({}, [f"a request that nobody killed ended with {code}"])
        statements, answer = [line[1] for line in told[:-1]], told[-1][1]
        after, problems = subject.look(work)
        wrong += problems
        for at in sorted({*range(0, len(statements) + 1, every), len(statements)}):
            code = child(at)
            committed = at > statements.index("COMMIT")
            found, problems = subject.look(work)
            if code != -9:
                problems.append(f"the child ended with {code}")
            if found != (after if committed else before):
                problems.append(
                    f"killed {'after' if committed else 'before'} COMMIT: other rows than expected"
                )
            again = subject.again(work)
            if again not in (subject.answers(answer) if committed else {answer}):
                problems.append(f"asked again: {again} after {answer}")
            found, more = subject.look(work)
            if not subject.same(found, after):
                problems.append("asked again: other rows than after one request")
            counts.update(kills=code == -9, before_commit=not committed, after_commit=committed)
            wrong += [f"boundary {at}: {problem}" for problem in problems + more]
    return Found(counts, wrong)
