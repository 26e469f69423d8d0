"""The production kernel on every history: it must name the right class and leave the right state, provenance and all."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from undolab.undo.histories.grammar import ALPHABETS, CONTEXT, EFFECTS, EXPIRES, IDENT, NOW, effect
from undolab.undo.histories.mechanism import Asked, Kernel
from undolab.undo.histories.oracles import contract
from undolab.undo.histories.signature import signature
from undolab.undo.histories.walk import Walk, begin, step
from undolab.undo.policies.receipt import Receipt


class Kernelled(NamedTuple):
    """The kernel over all histories of one kind: how often it gave each outcome, and the words it got wrong."""

    outcomes: Counter[str]
    wrong: list[str]


def conform(kind: str, depth: int) -> Kernelled:
    """Return how the kernel does on every word up to a length, against the contract's class and state."""
    outcomes: Counter[str] = Counter()
    wrong = []
    receipt = effect(kind)
    machine = Kernel()
    for word, walk, state in _states(machine, kind, depth):
        asked = Asked(IDENT, CONTEXT, CONTEXT, True, NOW, EXPIRES, False, None)
        answer = machine.recover(state, asked)
        outcomes[answer.status] += 1
        if not _right(machine, kind, walk, receipt, answer.status, answer.state):
            wrong.append(word)
    return Kernelled(outcomes, wrong)


def _right(machine: Kernel, kind: str, walk: Walk, receipt: Receipt, status: str, after: Any) -> bool:
    truth = contract(kind, walk, receipt)
    own = {receipt.ident}
    return status == truth.outcome and signature(machine.project(after), own) == signature(
        truth.expected, own
    )


def _states(machine: Kernel, kind: str, depth: int) -> Iterator[tuple[str, Walk, Any]]:
    """Yield every word with its walk and the kernel's state, each beginning walked once."""
    state, _ = machine.act(machine.start(seeded=kind != "create"), EFFECTS[kind], IDENT, CONTEXT, EXPIRES)
    stack = [("", begin(kind), state)]
    while stack:
        word, walk, state = stack.pop()
        yield word, walk, state
        if len(word) < depth:
            ident = f"peer-{len(word)}"
            for digit, event in enumerate(ALPHABETS[kind]):
                changed, _ = machine.peer(state, event, ident)
                stack.append((f"{word}{digit}", step(walk, event, ident), changed))
