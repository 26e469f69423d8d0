"""Is there one order of a history's requests in which the pure model gives every answer?

The order must keep real time: what had been answered before another was asked comes first. A request of a process that was
killed may have happened or not. Where the audit is given, the order must also yield its rows, all of them and in their
order; that is sound because each row is written in the transaction of the request that it stands for.
"""

from collections.abc import Sequence
from typing import NamedTuple

from undolab.undo.study.model import AuditRow, Model, Reply
from undolab.undo.study.requests import Op

NEVER = 2**63


class Done(NamedTuple):
    """A request as its process saw it; times in nanoseconds of the machine's one steady clock. `answer` None: killed."""

    op: Op
    answer: str | None
    start: int
    end: int = NEVER


class Order(NamedTuple):
    """An order that explains the history, as numbers of requests, the model at its end, and how much was tried."""

    numbers: list[int]
    model: Model
    tried: int


class _Node(NamedTuple):
    model: Model
    left: frozenset[int]
    audit: int
    numbers: tuple[int, ...]


def explain(initial: Model, history: Sequence[Done], audit: Sequence[AuditRow] | None) -> Order | None:
    """Return an order, or None where there is none: then the history is not serialisable."""
    stack = [_Node(initial, frozenset(range(len(history))), 0, ())]
    seen: set[tuple[frozenset[int], int, str]] = set()
    tried = 0
    while stack:
        node = _read(stack.pop(), history)
        if all(history[number].answer is None for number in node.left) and (
            audit is None or node.audit == len(audit)
        ):
            return Order(list(node.numbers), node.model, tried)
        key = (node.left, node.audit, node.model.fingerprint() if tried else "")
        if key in seen:
            continue
        seen.add(key)
        for number in _next(node.left, history):
            tried += 1
            stack += _after(node, number, history, audit)
    return None


def _next(left: frozenset[int], history: Sequence[Done]) -> list[int]:
    """Return what may come next: asked before anything that is left was answered."""
    first = min((history[number].end for number in left), default=NEVER)
    return sorted((number for number in left if history[number].start < first), key=lambda n: -history[n].end)


def _read(node: _Node, history: Sequence[Done]) -> _Node:
    """Place every request that only looks and whose answer is right now: it changes nothing, so sooner is never worse."""
    placed = True
    while placed:
        placed = False
        for number in _next(node.left, history):
            done = history[number]
            if not done.op.writes and done.answer in {None, node.model.perform(done.op).answer}:
                node = node._replace(left=node.left - {number}, numbers=(*node.numbers, number))
                placed = True
                break
    return node


def _after(
    node: _Node, number: int, history: Sequence[Done], audit: Sequence[AuditRow] | None
) -> list[_Node]:
    done = history[number]
    if not done.op.writes:
        return []
    found = []
    for unasked in (False, True):
        model = node.model.copy()
        reply = model.perform(done.op, unasked=unasked)
        if unasked and not (reply.unasked and _overlapped(done, number, history)):
            break
        if done.answer in {None, reply.answer} and _follows(reply, node.audit, audit):
            found.append(
                _Node(model, node.left - {number}, node.audit + len(reply.audit), (*node.numbers, number))
            )
    return found


def _follows(reply: Reply, at: int, audit: Sequence[AuditRow] | None) -> bool:
    return audit is None or tuple(audit[at : at + len(reply.audit)]) == reply.audit


def _overlapped(done: Done, number: int, history: Sequence[Done]) -> bool:
    """Return whether somebody else changed who must be asked, or what about, while the request ran.

    A recovery asks before it takes the lock. What was then not to be asked for, or not there, is refused under the lock.
    """
    return any(
        other.op.do in {"permit", "forward"} and other.start < done.end and done.start < other.end
        for place, other in enumerate(history)
        if place != number
    )
