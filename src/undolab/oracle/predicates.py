"""The final-state predicates: what the goal asks of the rows at the end."""

import json
from collections.abc import Sequence
from typing import Any

from undolab.model.match import holds, same_value
from undolab.model.workflow import Predicate, State


def failed_predicates(goal: Sequence[Predicate], state: State) -> list[str]:
    """Return the words of each predicate that does not hold, in the order of the goal."""
    return [predicate.say for predicate in goal if not predicate_holds(predicate, state)]


def predicate_holds(predicate: Predicate, state: State) -> bool:
    """Return True if the predicate holds. A column that is not there equals nothing, not even null."""
    rows = state.get(predicate.table, {})
    if predicate.check == "count":
        return sum(holds(predicate.where, row) for row in rows.values()) == int(predicate.value)
    row = rows.get(predicate.row or "")
    if predicate.check in ("present", "absent"):
        return (row is not None) is (predicate.check == "present")
    if row is None or predicate.column not in row:
        return False
    value: Any = row[predicate.column]
    if predicate.check == "json_equals":
        try:
            value = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            return False
    return same_value(predicate.value, value)
