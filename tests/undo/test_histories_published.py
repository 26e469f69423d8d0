"""The published grammar: its size, its totals and its ablation come out to the count."""

import csv
import io

import pytest

from undolab.undo.histories.ablation import CASES, ablation_csv, collateral_by_guard, lines
from undolab.undo.histories.grammar import histories, words
from undolab.undo.histories.summary import summary
from undolab.undo.histories.tables import policies_csv, rows_csv

_TOTALS = {
    "snapshot": (1035, 19),
    "mapped": (521, 523),
    "value": (271, 95),
    "object": (0, 4),
    "field": (0, 42),
    "undoscope": (0, 678),
    "deny": (0, 0),
}


@pytest.fixture(scope="module")
def found():
    return summary(4, 2)


@pytest.fixture(scope="module")
def table():
    return list(csv.DictReader(io.StringIO(rows_csv(4).decode())))


def test_sizes():
    """There are 341 words of up to four events, 1,364 histories, and 349,524 of up to eight."""
    assert len(list(words(4))) == 341
    assert (histories(4), histories(8)) == (1364, 349_524)


@pytest.mark.parametrize(("policy", "counts"), _TOTALS.items())
def test_published_totals(found, policy, counts):
    """Collateral and recovered of each published policy are the published numbers, of 678 eligible."""
    total = found["policies"][policy]
    assert (total["cases"], total["eligible"]) == (1364, 678)
    assert (total["collateral"], total["recovered"]) == counts


def test_kinds_add_up_to_the_totals(found):
    """The counts by kind have the three published names and add up to the totals."""
    assert list(found["by_kind"]) == ["set", "add", "grant", "create"]
    for policy in _TOTALS:
        parts = [found["by_kind"][kind][policy] for kind in found["by_kind"]]
        assert all(list(part) == ["eligible", "collateral", "recovered"] for part in parts)
        for name in parts[0]:
            assert sum(part[name] for part in parts) == found["policies"][policy][name]
    assert [found["by_kind"][kind]["undoscope"]["eligible"] for kind in found["by_kind"]] == [5, 331, 341, 1]


def test_rows_of_the_table(found, table):
    """The table has 9,548 rows in the published order, and its columns count to the same totals."""
    assert len(table) == found["rows"] == 9548
    assert [row["case"] for row in table[::7]] == [str(case) for case in range(1364)]
    starts = {kind: next(r["case"] for r in table if r["kind"] == kind) for kind in found["by_kind"]}
    assert starts == {"set": "0", "add": "341", "grant": "682", "create": "1023"}
    for policy, (collateral, recovered) in _TOTALS.items():
        rows = [row for row in table if row["policy"] == policy]
        assert sum(row["collateral"] == "True" for row in rows) == collateral
        assert sum(row["recovered"] == "True" for row in rows) == recovered


def test_table_by_kind(found):
    """The table by policy has a line for each of the ten policies, and columns for each kind."""
    lines_ = list(csv.DictReader(io.StringIO(policies_csv(found).decode())))
    assert [line["policy"] for line in lines_] == [*_TOTALS, "tagged", "merge", "rebuild"]
    for line in lines_:
        for name in ("eligible", "collateral", "recovered"):
            parts = [int(line[f"{kind}_{name}"]) for kind in ("set", "add", "grant", "create")]
            assert sum(parts) == int(line[name])


_BASE = {
    "same_value": ("conflict", False, False),
    "independent_grant": ("compensated", True, True),
    "disjoint_field": ("compensated", True, True),
    "independent_credit": ("compensated", True, True),
    "reused_name": ("incarnation_conflict", False, False),
    "business_invariant": ("invariant_conflict", False, False),
    "wrong_run": ("scope_denied", False, False),
    "revoked": ("policy_denied", False, False),
    "expired": ("expired", False, False),
    "duplicate": ("already_compensated", False, False),
}
# (case, omitted guard) -> status, collateral
_CHANGED = {
    ("same_value", "provenance"): ("compensated", True),
    ("independent_grant", "provenance"): ("compensated", True),
    ("reused_name", "incarnation"): ("compensated", True),
    ("business_invariant", "invariant"): ("compensated", True),
    ("wrong_run", "scope"): ("compensated", True),
    ("revoked", "policy"): ("compensated", True),
    ("expired", "expiry"): ("compensated", True),
    ("duplicate", "consumption"): ("effect_missing", False),
}


def test_ablation_rows():
    """Each of the 80 rows is its case's base row but for the one published omission that changes it."""
    rows = list(lines())
    assert len(rows) == 80
    assert [case.name for case in CASES] == list(_BASE)
    for row in rows:
        status, eligible, recovered = _BASE[row.case]
        collateral = False
        if (row.case, row.omitted) in _CHANGED:
            status, collateral = _CHANGED[row.case, row.omitted]
            recovered = False
        assert row[2:5] == (eligible, collateral, recovered), row
        assert row.status == status, row
        assert row.changed == (status == "compensated"), row


def test_ablation_totals():
    """Collateral by omitted guard is as published: two for provenance, none for consumption, else one."""
    assert collateral_by_guard() == {
        "none": 0, "scope": 1, "policy": 1, "expiry": 1, "incarnation": 1, "provenance": 2, "invariant": 1,
        "consumption": 0,
    }  # fmt: skip
    assert ablation_csv().count(b"\n") == 81


def test_reused_name_without_the_shared_check(found):
    """Left to its own guard, the published policy deletes each new resource that nobody has edited: words that end in 2."""
    counts = found["create_without_incarnation"]
    assert counts["undoscope"]["collateral"] == sum(word.endswith("2") for word in words(4)) == 85
    assert counts["mapped"]["collateral"] > counts["value"]["collateral"] > 85
    assert counts["deny"]["collateral"] == 0
