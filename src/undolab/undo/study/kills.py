"""SIGKILL at every boundary between statements of forward, peer's write, recovery and run recovery.

For each request the statements are counted once, then a child process is killed before the first, before the second, …
and after the last, when the answer was not yet told. Expected is the whole transaction or nothing of it, decided by the
COMMIT alone; the same request, asked again, then ends it once. The production store meets it with each kind of effect under
each rule of permission; the compared policies meet it on the shelf.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from undolab.undo import schema
from undolab.undo.histories.grammar import ALPHABETS
from undolab.undo.histories.grammar import EFFECTS as PUBLISHED_EFFECTS
from undolab.undo.policies.resource import KINDS
from undolab.undo.policies.table import POLICIES
from undolab.undo.study import state
from undolab.undo.study.children import Children, Lines, die, read_lines
from undolab.undo.study.requests import EFFECTS, ME, PEER, Op, opening
from undolab.undo.study.shelf import Shelf
from undolab.undo.study.shelf import create as create_shelf
from undolab.undo.study.stores import Clock, Opened, copied
from undolab.undo.study.suite import Case, Found

_RULES = ("allow", "approve", "deny")
_AGAIN = Op("peer", PEER, "p-after", "set", "ticket", {"field": "note", "value": "theirs"})
_PEERS: Mapping[str, Op] = {
    "add": Op("peer", PEER, "p-add", "add", "ticket", {"delta": 2}),
    "revoke": Op("peer", PEER, "p-revoke", "revoke", "ticket", {"member": "contractor"}),
    "settle": Op("peer", PEER, "p-settle", "settle", "ticket", {"effect": "e-reserve"}),
    "delete": Op("peer", PEER, "p-delete", "delete", "till"),
}
_RUN = [
    *EFFECTS.values(),
    Op("forward", ME, "e-inside", "set", "folder", {"field": "status", "value": "triage"}),
    Op("forward", ME, "e-second", "add", "folder", {"delta": 2}),
]
_RUN[3] = _RUN[3]._replace(args={"opening": 3, "fields": {"status": "open"}})
_RUN = [op for op in _RUN if op.ident != "e-update"]


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
            yield Target(
                f"recover/{kind}/{rule}", [*opening(rule), op, _AGAIN], Op("recover", ident=op.ident)
            )
    for event, op in _PEERS.items():
        yield Target(f"peer/{event}", [*opening(), EFFECTS["grant"], EFFECTS["reserve"]], op)
    yield Target("rejected/add", opening(), EFFECTS["add"]._replace(args={"delta": -11}))
    gone = [EFFECTS["grant"], _PEERS["revoke"]]
    yield Target("recover/absent/allow", [*opening(), *gone], Op("recover", ident="e-grant"))
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
    found = [Case(target.name, lambda target=target: _production(children, target, every)) for target in targets()]  # type: ignore[misc]
    found += [Case(target.name, lambda target=target: _shelved(children, target, every)) for target in shelf_targets()]  # type: ignore[misc]
    return found


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
    shelf._db.set_trace_callback(_Killer(at, out))  # noqa: SLF001 - the study watches its own shelf
    answer = _ask(shelf, kind, policy)
    if at >= 0:
        die()
    out.write(["answer", answer])


class _Killer:
    """Counts statements as SQLite begins them."""

    def __init__(self, at: int, out: Lines) -> None:
        self._left, self._at, self._out = at, at, out

    def __call__(self, statement: str) -> None:
        if self._at < 0:
            self._out.write(["statement", statement.split(None, 1)[0]])
        elif self._left == 0:
            die()
        self._left -= 1


class _Rig(NamedTuple):
    """What both kinds of store give: how to make one, ask a child, look, and ask again."""

    made: Path
    work: Path
    lines: Path


def _production(children: Children, target: Target, every: int) -> Found:
    counts, wrong = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        rig = _Rig(Path(name) / "made.db", Path(name) / "work.db", Path(name) / "lines")
        schema.create(rig.made)
        opened = Opened(rig.made)
        for op in target.before:
            opened.perform(op)
        before = state.dump(opened.db)
        opened.close()

        def ask(at: int) -> int:
            copied(rig.made, rig.work)
            rig.lines.unlink(missing_ok=True)
            return children.run("kills:request", [[str(rig.work), str(rig.lines), at, target.op]])[0]

        statements, answer = _counted(ask(-1), rig)
        opened = Opened(rig.work)
        after = state.dump(opened.db)
        wrong += state.problems(opened.db)
        opened.close()
        for at in _boundaries(len(statements), every):
            code = ask(at)
            opened = Opened(rig.work)
            found = state.dump(opened.db)
            committed = at > statements.index("COMMIT")
            problems = state.problems(opened.db)
            if code != -9:
                problems.append(f"the child ended with {code}")
            if found != (after if committed else before):
                problems.append(f"killed {'after' if committed else 'before'} COMMIT: other rows than expected")
            again = opened.perform(target.op)
            if again not in ({answer, _repeated(target.op, answer)} if committed else {answer}):
                problems.append(f"asked again: {again}, not {answer}")
            if state.effects(state.dump(opened.db)) != state.effects(after):
                problems.append("asked again: other rows than after one request")
            problems += state.problems(opened.db)
            opened.close()
            counts.update(kills=code == -9, committed=committed, lost=not committed)
            wrong += [f"boundary {at}: {problem}" for problem in problems]
    return Found(counts, wrong)


def _repeated(op: Op, answer: str) -> str:
    """Return what a request that was done already is answered with."""
    if op.do == "peer":
        return "rejected id_used"
    if op.do == "recover_run":
        standing = [part for part in answer.split(" | ")[0].split() if part.rpartition(":")[2] not in _SETTLED]
        return f"{' '.join(standing)} | {answer.split(' | ')[1]}"
    return f"{answer} repeated" if op.do == "recover" else answer


_SETTLED = {"compensated", "already_absent"}


def _shelved(children: Children, target: ShelfTarget, every: int) -> Found:
    counts, wrong = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        rig = _Rig(Path(name) / "made.db", Path(name) / "work.db", Path(name) / "lines")
        create_shelf(rig.made, seeded=target.kind != "create")
        shelf = Shelf.open(rig.made, clock=Clock())
        if target.policy:
            shelf.act("effect-0", PUBLISHED_EFFECTS[target.kind])
            for place, digit in enumerate(target.word):
                shelf.peer(f"peer-{place}", ALPHABETS[target.kind][int(digit)])
        before = shelf.show()
        shelf.close()

        def ask(at: int) -> int:
            copied(rig.made, rig.work)
            rig.lines.unlink(missing_ok=True)
            job = [str(rig.work), str(rig.lines), at, target.kind, target.policy]
            return children.run("kills:shelf_request", [job])[0]

        statements, answer = _counted(ask(-1), rig)
        shelf = Shelf.open(rig.work, clock=Clock())
        after = shelf.show()
        shelf.close()
        for at in _boundaries(len(statements), every):
            code = ask(at)
            shelf = Shelf.open(rig.work, clock=Clock())
            committed = at > statements.index("COMMIT")
            problems = shelf.problems()
            if code != -9:
                problems.append(f"the child ended with {code}")
            if shelf.show() != (after if committed else before):
                problems.append(f"killed {'after' if committed else 'before'} COMMIT: other state than expected")
            again = _ask(shelf, target.kind, target.policy)
            done = {"accepted": "repeated", "compensated": "already_compensated"}.get(answer, answer)
            if again != (done if committed else answer):
                problems.append(f"asked again: {again} after {answer}")
            if shelf.show() != after:
                problems.append("asked again: other state than after one request")
            problems += shelf.problems()
            shelf.close()
            counts.update(kills=code == -9, committed=committed, lost=not committed)
            wrong += [f"boundary {at}: {problem}" for problem in problems]
    return Found(counts, wrong)


def _ask(shelf: Shelf, kind: str, policy: str) -> str:
    return shelf.recover(policy, "effect-0") if policy else shelf.act("effect-0", PUBLISHED_EFFECTS[kind])


def _counted(code: int, rig: _Rig) -> tuple[list[str], str]:
    lines = read_lines(rig.lines)
    if code or not lines or lines[-1][0] != "answer":
        raise ChildProcessError(f"a request that nobody killed ended with {code}")
    return [line[1] for line in lines[:-1]], lines[-1][1]


def _boundaries(statements: int, every: int) -> list[int]:
    """Return the numbers of the statements to die before; the last stands for after all of them."""
    return sorted({*range(0, statements + 1, every), statements})
