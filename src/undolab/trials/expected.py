"""The expected-verdict table: workflow class, boundary and method to the verdict of the gold script, written before any run."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.verdict import Verdict

TABLE = Path("data/expected/verdicts.csv")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One row: the first row that fits an arm says its verdict."""

    boundary: str
    methods: frozenset[str]
    """Codes; empty: every method."""
    facts: Mapping[str, str]
    """Facts of the class that must hold."""
    verdict: str


def read_rules(path: Path = TABLE) -> list[Rule]:
    """Return the rows of the table in order.

    Raises:
        UndolabError: the file is missing.
    """
    if not path.is_file():
        raise UndolabError(f"{path} is missing; restore it from the repository")
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Rule(
                boundary=row["boundary"],
                methods=frozenset() if row["methods"] == "*" else frozenset(row["methods"].split()),
                facts=dict(fact.split("=", 1) for fact in row["class"].split() if fact != "*"),
                verdict=row["verdict"],
            )
            for row in csv.DictReader(file)
        ]


def expected(rules: Sequence[Rule], facts: Mapping[str, str], boundary: str, method: str) -> str:
    """Return the verdict that the table foretells, empty where no row fits."""
    for rule in rules:
        if (
            rule.boundary == boundary
            and (not rule.methods or method in rule.methods)
            and all(facts.get(name) == value for name, value in rule.facts.items())
        ):
            return rule.verdict
    return ""


def found(verdict: Verdict) -> str:
    """Return a verdict in the table's words: class of failure or `pass`, final report, and `untrue` if the report is wrong."""
    words = ["pass" if verdict.passed else verdict.failure.value, verdict.report.value]
    return " ".join(words if verdict.truthful else [*words, "untrue"])
