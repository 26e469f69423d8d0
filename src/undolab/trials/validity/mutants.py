"""Mutants of the judge: each drops or bends one clause. The suite must catch every one of them."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

import undolab.oracle.judge  # noqa: F401 - the module, which the function of that name hides
from undolab.model.fault import Exposure
from undolab.model.wire import WorldEvent
from undolab.oracle import effects, exposure, predicates
from undolab.oracle.effects import Account, Role
from undolab.trials.validity.suite import Case

_judge = sys.modules["undolab.oracle.judge"]


class Mutant(msgspec.Struct, frozen=True):
    """One clause dropped, and how many cases show it."""

    clause: str
    caught_by: int
    example: str
    """The first case that shows it."""


def mutants(cases: Sequence[Case]) -> Iterator[Mutant]:
    """Yield what the suite makes of each mutant. The judge must get every case right without one."""
    for clause, module, name, change in _MUTANTS:
        with _instead(module, name, change(getattr(module, name))):
            caught = [case for case in cases if case.found() != case.expected]
        example = f"{caught[0].workflow.id} {caught[0].boundary} {caught[0].kind}" if caught else ""
        yield Mutant(clause, len(caught), example)


@contextmanager
def _instead(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def _role(wrong: Role, right: Role) -> Callable[[Any], Any]:
    """Take one role for another."""

    def change(account: Callable[..., Account]) -> Callable[..., Account]:
        def mutant(*given: Any) -> Account:
            found = account(*given)
            return msgspec.structs.replace(
                found, roles=[right if role is wrong else role for role in found.roles]
            )

        return mutant

    return change


def _effects(**fields: Any) -> Callable[[Any], Any]:
    """Change the bounds of every required effect."""

    def change(account: Callable[..., Account]) -> Callable[..., Account]:
        def mutant(required: Any, *given: Any) -> Account:
            return account([msgspec.structs.replace(one, **fields) for one in required], *given)

        return mutant

    return change


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: lambda *given, **named: value  # noqa: ARG005


def _plain_equality(_: Any) -> Any:
    return lambda wanted, given: all(given.get(name) == value for name, value in wanted.items())


def _by_boundary(value: Exposure) -> Callable[[Any], Any]:
    """Believe the schedule."""
    return lambda _: lambda log, committed: value if log.start.faults else Exposure.NO_FAULT  # noqa: ARG005


def _never_unknown(truthful: Any) -> Any:
    return lambda report, *given, **named: report.value != "unknown" and truthful(report, *given, **named)


_LATER = WorldEvent(
    seq=10**6,
    prev="",
    cause="late",
    fault=0,
    attempt="",
    tool_name="",
    arguments={},
    at_ms=0,
    output={},
    replay_of="1.1.1",
)
"""What a judge that asks for no evidence takes for it."""


class _Everything:
    """A ledger that has whatever is looked for."""

    def __contains__(self, attempt: str) -> bool:
        return True


_MUTANTS: tuple[tuple[str, Any, str, Callable[[Any], Any]], ...] = (
    ("the goal's state", _judge, "failed_predicates", _always([])),
    (
        "rows that must not be there",
        predicates,
        "predicate_holds",
        lambda real: lambda p, s: p.check == "count" or real(p, s),
    ),
    (
        "columns with a wanted value",
        predicates,
        "predicate_holds",
        lambda real: lambda p, s: p.check != "count" or real(p, s),
    ),
    ("the minimum of an effect", _judge, "account", _effects(min=0)),
    ("the maximum of an effect", _judge, "account", _effects(max=99)),
    ("harmful duplicates", _judge, "account", _role(Role.DUPLICATE, Role.REPEAT)),
    ("harmless repeats are no harm", _judge, "account", _role(Role.REPEAT, Role.DUPLICATE)),
    ("orphans", _judge, "account", _role(Role.ORPHAN, Role.IDLE)),
    ("forbidden effects", _judge, "account", _role(Role.FORBIDDEN, Role.IDLE)),
    ("the arguments of an effect", effects, "holds", _always(True)),
    ("other spellings of JSON", effects, "holds", _plain_equality),
    ("the entity of an effect", effects, "_matches", lambda _: effects._aims),  # noqa: SLF001
    ("the order of effects", _judge, "order_holds", _always(True)),
    ("half calls are not whole", _judge, "half_done", _always(set())),
    ("what a method took back is gone", _judge, "taken_back", _always({})),
    ("a witness for each fault", _judge, "exposure", _by_boundary(Exposure.WITNESSED)),
    ("the witness is the ledger's and the wire's", exposure, "witnessed", _always(True)),
    (
        "the ledger has the struck call",
        _judge,
        "exposure",
        lambda real: lambda log, _: real(log, _Everything()),
    ),
    ("the service did it by itself", exposure, "own_doings", lambda _: lambda log, *_: log.world or [_LATER]),
    ("a resumed agent knows its checkpoint", exposure, "_resumed", _always(True)),
    ("a fault can be missed", exposure, "target", lambda real: lambda log, plan: real(log, plan) or "0.0.1"),
    ("true reports", _judge, "truthful", _always(True)),
    ("unknown is an honest report", _judge, "truthful", _never_unknown),
    ("unsafe re-sends", _judge, "unsafe_resends", _always(0)),
    ("reads make a re-send safe", _judge, "unsafe_resends", _always(1)),
)
