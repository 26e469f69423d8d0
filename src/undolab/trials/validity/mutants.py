"""Mutants of the judge: each drops or bends one clause. The suite must catch every one of them."""

import inspect
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType

import msgspec

from undolab.model.verdict import Verdict
from undolab.trials.validity.bench import Case, answer
from undolab.trials.validity.clause import EFFECTS, STATE, Clause
from undolab.trials.validity.clauses import CLAUSES


class Mutant(msgspec.Struct, frozen=True):
    """One clause dropped, and how many cases show it."""

    clause: str
    caught_by: int
    example: str
    """The first case that shows it."""


def mutants(cases: Sequence[Case]) -> Iterator[Mutant]:
    """Yield what the suite makes of each mutant. The judge must get every case right without one.

    A mutant is tried on the cases that ask for what its clause can change; the others cannot show it.
    """
    histories = [(group, group[0][1].judged()) for group in _histories(cases)]
    for clause in CLAUSES:
        with _mutated(clause):
            caught = [case for group, real in histories for case in _wrong(group, real, clause)]
        first = min(caught, key=lambda one: one[0])[1] if caught else None
        example = f"{first.workflow.id} {first.boundary} {first.kind}" if first else ""
        yield Mutant(clause.name, len(caught), example)


def _histories(cases: Sequence[Case]) -> list[list[tuple[int, Case]]]:
    """Return the numbered cases grouped by history, so that each is judged once."""
    groups: dict[tuple[int, ...], list[tuple[int, Case]]] = {}
    for n, case in enumerate(cases):
        parts = (case.workflow, case.tools, case.lines, case.rows, case.state)
        groups.setdefault(tuple(map(id, parts)), []).append((n, case))
    return list(groups.values())


def _wrong(group: Sequence[tuple[int, Case]], real: Verdict, clause: Clause) -> list[tuple[int, Case]]:
    asked = [one for one in group if one[1].asks in clause.shows_in and not _decided(one[1], real, clause)]
    if not asked:
        return []
    verdict = asked[0][1].judged()
    return [(n, case) for n, case in asked if answer(verdict, case.asks) != case.expected]


def _decided(case: Case, real: Verdict, clause: Clause) -> bool:
    """Return True if the arm fails by what the clause has no part in, whatever becomes of the clause."""
    if case.asks != "verdict":
        return False
    if clause.shows_in == EFFECTS:
        return not real.state
    return clause.shows_in == STATE and not (real.effects and real.order)


@contextmanager
def _mutated(clause: Clause) -> Iterator[None]:
    """Let a function of the judge run with one piece of its text replaced, wherever it was imported."""
    function: FunctionType = clause.function
    real = function.__code__
    function.__code__ = _edited(function, clause.old, clause.new)
    try:
        yield
    finally:
        function.__code__ = real


def _edited(function: FunctionType, old: str, new: str) -> CodeType:
    """Return the function's code after the edit.

    Raises:
        ValueError: the function's text does not hold `old` exactly once: the judge was changed, and the clause must follow.
    """
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(old) != 1:
        raise ValueError(f"{function.__name__} holds {old!r} {source.count(old)} times, not once")
    module = compile(source.replace(old, new), inspect.getfile(function), "exec", dont_inherit=True)
    return next(
        code for code in module.co_consts if isinstance(code, CodeType) and code.co_name == function.__name__
    )
