"""What a clause of the judge is, and how it is dropped: by an edit of the function that holds it."""

from collections.abc import Callable
from typing import Any, NamedTuple

EFFECTS = frozenset({"verdict", "duplicates", "class"})
"""What shows a clause of effects and their order."""
STATE = frozenset({"verdict", "report", "class"})
"""What shows a clause of the goal's state."""


class Clause(NamedTuple):
    """One clause and how to drop it."""

    name: str
    shows_in: frozenset[str]
    """What cases can ask for that it changes."""
    function: Any
    """A plain function or method of the judge."""
    old: str
    new: str


def of(
    shows_in: frozenset[str], function: Callable[..., Any], *edits: tuple[str, str, str]
) -> tuple[Clause, ...]:
    """Return clauses of one function, each given as its name, the text that holds it, and what stands there without it."""
    return tuple(Clause(name, shows_in, function, old, new) for name, old, new in edits)
