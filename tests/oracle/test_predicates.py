"""Final-state predicates on literal states."""

from typing import Any

import pytest

from undolab.model.workflow import Predicate, State
from undolab.oracle.predicates import failed_predicates

STATE: State = {
    "objects": {
        "b/flags.json": {"content": '{"x": true}', "size": 11},
        "b/notes": {"content": "no json", "size": 7},
    },
    "git_branches": {"main": {"files": {"a.txt": "one\n"}}},
}


def holds(**fields: Any) -> bool:
    return not failed_predicates([Predicate(say="it", **fields)], STATE)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"row": "b/flags.json", "column": "size", "check": "equals", "value": 11}, True),
        ({"row": "b/flags.json", "column": "size", "check": "equals", "value": True}, False),
        ({"row": "b/flags.json", "column": "missing", "check": "equals", "value": None}, False),
        ({"row": "gone", "column": "size", "check": "equals", "value": 11}, False),
        ({"row": "b/flags.json", "column": "content", "check": "json_equals", "value": {"x": True}}, True),
        ({"row": "b/flags.json", "column": "content", "check": "json_equals", "value": {"x": False}}, False),
        ({"row": "b/notes", "column": "content", "check": "json_equals", "value": {"x": True}}, False),
        ({"row": "b/notes", "check": "present"}, True),
        ({"row": "b/notes", "check": "absent"}, False),
        ({"row": "b/flags.json.bak", "check": "absent"}, True),
        ({"check": "count", "value": 2}, True),
        ({"check": "count", "value": 1, "where": {"size": 7}}, True),
        ({"check": "count", "value": 0, "where": {"none": 7}}, True),
    ],
)
def test_predicate(fields: dict[str, Any], expected: bool) -> None:
    """Content is compared as parsed JSON, never by length, and a deleted row must really be gone (RB-STOR-005)."""
    assert holds(table="objects", **fields) is expected


def test_table_without_rows_counts_zero_and_files_of_a_branch_compare_whole() -> None:
    """An empty table is left out of the state but still has a count; a JSON column is compared as it is."""
    assert holds(table="empty", check="count", value=0)
    assert holds(table="git_branches", row="main", column="files", check="equals", value={"a.txt": "one\n"})
