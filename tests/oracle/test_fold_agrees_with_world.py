"""Two implementations, one page: random calls on the world and on the fold must agree to the byte.

The environment variable UNDOLAB_SUITE_EXAMPLES sets how many sequences are tried in each domain (120 if not set); thousands make
the long suite of it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undolab.model.calls import Outcome
from undolab.model.canon import canonical
from undolab.model.ids import seeded_id
from undolab.model.load import load_tools, load_workflows
from undolab.model.tools import ToolSpec
from undolab.model.workflow import Row, Workflow
from undolab.oracle import Fold
from undolab.world import World

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("UNDOLAB_SUITE_EXAMPLES", "120"))
"""Call sequences a domain; a sixth of it for each workflow."""
TOOLS = load_tools(ROOT / "data" / "tools")
WORKFLOWS = {workflow.id: workflow for workflow in load_workflows(ROOT / "data" / "workflows")}
SEED = 11

FIXTURES: dict[str, dict[str, list[Row]]] = {
    "database": {
        "accounts": [
            {"account_id": "a", "name": "A", "balance": 10, "status": "OPEN"},
            {"account_id": "b", "name": "B", "balance": 0, "status": "OPEN"},
        ],
        "schemas": [{"schema": "s", "version": 1}],
        "schema_migrations": [{"migration_id": "s-1", "schema": "s", "version": 1, "status": "APPLIED"}],
        "audit_records": [{"audit_id": "aud_old", "entity_id": "a", "action": "x", "details": "y"}],
        "customers": [{"customer_id": "a", "name": "A", "tier": "FREE", "credits": 3}],
        "orders": [{"order_id": "b", "customer_id": "a", "amount": 4, "status": "OPEN"}],
        "inventory": [{"item_id": "a", "quantity": 5}],
    },
    "payments": {
        "subscriptions": [
            {"sub_id": "a", "customer": "c", "plan_id": "p", "paid_periods": 1, "status": "ACTIVE"}
        ],
        "treasury": [{"currency": "USD", "balance_cents": 8}],
        "renewals": [
            {"renewal_id": "old", "sub_id": "gone", "plan_id": "p", "amount_cents": 2},
            {"renewal_id": "b", "sub_id": "a", "plan_id": "p", "amount_cents": 2},
        ],
        "charges": [
            {"charge_id": "a", "customer": "c", "amount_cents": 9, "refunded_cents": 1, "status": "SUCCEEDED"}
        ],
        "refunds": [
            {"refund_id": "old", "charge_id": "gone", "amount_cents": 1, "status": "SUCCEEDED"},
            {"refund_id": "b", "charge_id": "a", "amount_cents": 1, "status": "SUCCEEDED"},
        ],
        "payouts": [
            {
                "disbursement_id": "b",
                "payout_id": "a",
                "merchant_id": "m",
                "amount_cents": 1,
                "status": "PAID",
            }
        ],
        "ledger_accounts": [
            {"account": "a", "balance_cents": 3},
            {"account": "b", "balance_cents": 0},
        ],
        "wires": [
            {
                "transfer_id": "b",
                "wire_id": "a",
                "source_curr": "CHF",
                "target_curr": "USD",
                "amount_cents": 3,
                "status": "SETTLED",
            }
        ],
    },
    "git": {
        "git_commits": [
            {"branch": "main", "message": "start", "files": {"a": "1\n", "b": "1\n", "\u00e9.txt": "\u00fc"}},
            {"branch": "fix", "from": "main", "message": "fix\n\nbody\n", "files": {"a": "2\n"}},
            {"branch": "fix", "message": "new file", "files": {"c": "1\n"}},
            {"branch": "old", "from": "main", "message": ""},
            {"branch": "main", "message": "b", "files": {"b": "2\n"}},
            {"branch": "rival", "from": "old", "message": "rival", "files": {"a": "3\n", "c": ""}},
        ],
        "git_workspace": [
            {"branch": "fix", "file": "a", "content": "2\n"},
            {"branch": "main", "file": "z", "content": "z"},
            {"branch": "main", "file": "b", "content": "w"},
        ],
    },
    "ticketing": {
        "incidents": [
            {
                "incident_id": "a",
                "title": "t",
                "severity": "SEV2",
                "status": "OPEN",
                "sla_tier": "",
                "team": "x",
            }
        ]
    },
    "cloud": {
        "services": [{"service_name": "a", "version": "1", "color": "blue", "replicas": 3}],
        "routes": [{"service_name": "a", "active_color": "blue"}],
        "tiers": [{"tier_name": "a", "instances": 1, "instance_type": "x"}],
    },
    "crm": {
        "crm_accounts": [
            {"account_id": "a", "name": "A", "status": "ACTIVE", "sla_tier": "STANDARD"},
            {"account_id": "b", "name": "B", "status": "MERGED", "sla_tier": "STANDARD"},
        ],
        "leads": [{"lead_id": "a", "name": "L", "status": "NEW"}],
        "opportunities": [{"opp_id": "a", "rep_id": "b", "stage": "OPEN", "deal_value": 3}],
        "rep_quotas": [{"rep_id": "b", "quota": 10}],
    },
    "messaging": {"oncall": [{"service": "a", "engineer": "e"}]},
    "storage": {
        "buckets": [{"bucket_name": "a", "access": "private"}, {"bucket_name": "b", "access": "public"}],
        "objects": [{"bucket_name": "a", "key": "k/1", "content": "\u00e9"}],
        "uploads": [
            {"upload_id": "a", "bucket_name": "a", "key": "k/1", "status": "OPEN"},
            {"upload_id": "b", "bucket_name": "gone", "key": "k", "status": "OPEN"},
        ],
        "upload_parts": [
            {"upload_id": "a", "part_number": 2, "data": "\u00fc"},
            {"upload_id": "b", "part_number": 1, "data": ""},
        ],
    },
}
POOLS: dict[str, list[Any]] = {
    "version": [1, 2, 3],
    "amount": [1, 7],
    "dividend": [1, 7],
    "amount_cents": [1, 5],
    "new_replicas": [0, 3, 4],
    "schema": ["s", "none"],
    "plan_id": ["p", "q"],
    "source_curr": ["USD", "CHF"],
    "currency": ["USD", "CHF"],
    "transfer_id": ["b", *(seeded_id(SEED, "wir", n) for n in (1, 2))],
    "branch": ["main", "fix", "rival", "new", "none"],
    "from_branch": ["main", "fix", "none"],
    "branch_name": ["new", "main", "n", "n/x", "HEAD", "-d", "a..b"],
    "tag_name": [
        "v",
        "v/2",
        "-l",
        "a.lock",
        "x y",
        "@",
        "\u00e9",
        "a.",
        "b@{c",
        "HEAD",
        "t" * 1013,
        "t" * 1014,
    ],
    "message": ["m", "two\nlines\n", "n\0l", "\u00e9 \U0001f600"],
    "target_color": ["green", "blue"],
    "service_name": ["a", "a-green", "none"],
    "payload": ["{}", ' {"a": 1, "a": 2}', "[]", "{", '"x"', '{"n": NaN}'],
    "key": ["k/1", "k2"],
    "source_key": ["k/1", "k2"],
    "dest_key": ["k/1", "k2"],
    "content": ["", "\u00e9\n", '{"a": 1}'],
    "relative_path": ["a", "b", "z", "new.txt", ".hidden", "x/y", "-f", "n" * 101, "\u00e9.txt"],
    "into_branch": ["main", "fix", "old", "none"],
    "quantity": [1, 4],
    "part_number": [1, 2, 9],
    "upload_id": ["a", "b", "none", seeded_id(SEED, "upl", 1)],
    "refund_id": ["b", "old", seeded_id(SEED, "rfd", 1), seeded_id(SEED, "rfd", 2)],
    "renewal_id": ["b", "old", seeded_id(SEED, "rnw", 1)],
    "disbursement_id": ["b", seeded_id(SEED, "pay", 1), seeded_id(SEED, "pay", 2)],
    "debit_account": ["a", "b", "none"],
    "credit_account": ["a", "b", "none"],
    "account": ["a", "b"],
    "recipients": [["x"], ["x", "y"], ["x", "y", "x"], ["x", "y", "z", "w"]],
    "instances": [0, 3],
    "instances_to_remove": [1, 2],
    "instance_count": [1, 2],
    "deal_value": [1, 5],
    "commit": [f"@{n}" for n in range(7)] + ["0000000", "zz"],
}
ANY = ["a", "b", "none"]
BAD = st.sampled_from([None, True, 1.5, -1, 0, "", [], {}])
KEYS = st.sampled_from([None, None, "k1", "k2"])


def calls_of(
    domain: str, least: int = 0, most: int = 12
) -> st.SearchStrategy[list[tuple[str, dict[str, Any], str | None]]]:
    """Return call sequences over a domain's tools, mostly sensible, some with a bad, a missing or a stray argument."""
    one = [
        st.tuples(st.just(name), arguments_of(tool), KEYS)
        for name, tool in TOOLS.items()
        if tool.domain == domain
    ]
    return st.lists(st.one_of(one), min_size=least, max_size=most)


def arguments_of(tool: ToolSpec) -> st.SearchStrategy[dict[str, Any]]:
    properties = tool.parameters.get("properties", {})
    good = st.fixed_dictionaries(
        {name: st.sampled_from(kind.get("enum") or POOLS.get(name, ANY)) for name, kind in properties.items()}
    )
    if not properties:
        return st.one_of(good, st.just({"stray": 1}))
    names = st.sampled_from(list(properties))
    bad = st.builds(lambda args, name, value: {**args, name: value}, good, names, BAD)
    missing = st.builds(lambda args, name: {k: v for k, v in args.items() if k != name}, good, names)
    stray = st.builds(lambda args: {**args, "stray": 1}, good)
    return st.one_of(good, good, good, good, good, good, good, bad, missing, stray)


class Both:
    """One world and one fold of the same fixture; every call must agree, and so must all that is left at the end."""

    def __init__(self, fixture: Mapping[str, list[Row]], tools: Mapping[str, ToolSpec]) -> None:
        self.world = World(dict(fixture), tools, seed=SEED)
        self.fold = Fold(fixture, tools, SEED)
        self.rows: list[Any] = []

    def call(
        self, number: int, tool: str, arguments: dict[str, Any], key: str | None, stop: int | None = None
    ) -> Outcome:
        attempt = f"{number}.1.1"
        cut = {} if stop is None else {"stop_after": stop}
        theirs = self.world.call(tool, arguments, attempt=attempt, key=key, **cut)
        ours = self.fold.apply(tool, arguments, key, attempt=attempt, **cut)
        return self._agreed(attempt, tool, arguments, key, ours, theirs)

    def finish(self, number: int, tool: str, arguments: dict[str, Any], key: str | None) -> Outcome:
        """Let a call that had begun run to its end."""
        attempt = f"{number}.1.1"
        theirs = self.world.finish(tool, arguments, attempt=attempt, key=key)
        ours = self.fold.finish(tool, arguments, key, attempt=attempt)
        return self._agreed(attempt, tool, arguments, key, ours, theirs)

    def _agreed(
        self,
        attempt: str,
        tool: str,
        arguments: dict[str, Any],
        key: str | None,
        ours: Outcome,
        theirs: Outcome,
    ) -> Outcome:
        assert canonical(ours) == canonical(theirs)
        honoured = key if TOOLS[tool].idempotency_key else None
        self.rows += [(attempt, tool, arguments, effect, honoured) for effect in ours.effects]
        return ours

    def close(self) -> None:
        try:
            assert canonical(self.fold.state()) == canonical(self.world.snapshot())
            ledger = self.world.ledger()
            assert [(r.attempt, r.tool, r.arguments, r.effect, r.key) for r in ledger] == self.rows
            assert [r.seq for r in ledger] == list(range(1, len(ledger) + 1))
        finally:
            self.world.close()


def resolved(fold: Fold, arguments: dict[str, Any]) -> dict[str, Any]:
    """Replace `@n` by the short id of the nth commit there is."""
    commit = arguments.get("commit")
    if not isinstance(commit, str) or not commit.startswith("@"):
        return arguments
    ids = sorted({entry["id"] for branch in fold.state()["git_branches"].values() for entry in branch["log"]})
    return {**arguments, "commit": ids[int(commit[1:]) % len(ids)][:7]}


@pytest.mark.parametrize("domain", FIXTURES)
def test_random_calls_agree(domain: str) -> None:
    """Outputs, error messages, effects, digests, ids, key replays, snapshots and ledgers are equal on any calls."""

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(calls=calls_of(domain))
    def agree(calls: list[tuple[str, dict[str, Any], str | None]]) -> None:
        both = Both(FIXTURES[domain], TOOLS)
        try:
            for number, (tool, arguments, key) in enumerate(calls, start=1):
                both.call(number, tool, resolved(both.fold, arguments), key)
        finally:
            both.close()

    agree()


@pytest.mark.parametrize("domain", [d for d in FIXTURES if d not in ("payments", "ticketing")])
def test_calls_that_die_half_way_agree(domain: str) -> None:
    """Composite calls cut after their first part, with and without keys, among whole calls, leave the same rows and answers."""
    composite = [t for t in TOOLS.values() if t.domain == domain and t.sub_writes > 1]
    half = st.one_of([st.tuples(st.just(t.name), arguments_of(t), KEYS) for t in composite])
    whole = st.one_of(
        [st.tuples(st.just(t.name), arguments_of(t), KEYS) for t in TOOLS.values() if t.domain == domain]
    )

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        calls=st.lists(
            st.one_of(st.tuples(half, st.sampled_from([1, 1, 2])), st.tuples(whole, st.none())), max_size=8
        )
    )
    def agree(calls: list[tuple[tuple[str, dict[str, Any], str | None], int | None]]) -> None:
        both = Both(FIXTURES[domain], TOOLS)
        try:
            for number, ((tool, arguments, key), stop) in enumerate(calls, start=1):
                both.call(number, tool, resolved(both.fold, arguments), key, stop)
        finally:
            both.close()

    agree()


@pytest.mark.parametrize("domain", FIXTURES)
def test_calls_that_are_overtaken_agree(domain: str) -> None:
    """A call that has begun and ends only after others have run holds its key meanwhile, and then writes what is right then."""

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(first=calls_of(domain, 1, 2), meanwhile=calls_of(domain, 0, 6))
    def agree(first: list[Any], meanwhile: list[Any]) -> None:
        both = Both(FIXTURES[domain], TOOLS)
        try:
            begun = []
            for number, (tool, arguments, key) in enumerate(first, start=1):
                sent = resolved(both.fold, arguments)
                if not both.call(number, tool, sent, key, 0).output:
                    begun.append((number, tool, sent, key))
            again = [(tool, arguments, key) for tool, arguments, key in first]
            for number, (tool, arguments, key) in enumerate([*again, *meanwhile], start=len(first) + 1):
                both.call(number, tool, resolved(both.fold, arguments), key)
            for number, tool, sent, key in begun:
                both.finish(number, tool, sent, key)
        finally:
            both.close()

    agree()


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_plans_in_any_order_and_number_agree(workflow: Workflow) -> None:
    """The calls of each workflow's plan, repeated and shuffled, with and without keys, agree on its own fixture."""
    tools = {name: TOOLS[name] for name in workflow.tools}

    @settings(max_examples=max(2, EXAMPLES // 6), deadline=None)
    @given(calls=st.lists(st.tuples(st.sampled_from(workflow.plan), KEYS), max_size=8))
    def agree(calls: list[Any]) -> None:
        both = Both(workflow.fixture, tools)
        try:
            for number, (step, key) in enumerate(calls, start=1):
                both.call(number, step.tool, step.arguments, key)
        finally:
            both.close()

    agree()


@pytest.mark.parametrize("domain", FIXTURES)
def test_every_tool_of_the_data_is_folded(domain: str) -> None:
    """No tool is left to the world alone: the fold knows every name in `data/tools`."""
    fold = Fold(FIXTURES[domain], TOOLS, SEED)
    for name, tool in TOOLS.items():
        if tool.domain == domain:
            assert "no tool" not in str(fold.apply(name, {}).output)


@pytest.mark.parametrize(("ours", "theirs"), [("", "1\n"), ("1\n", ""), ("1\n", "2\n"), ("same", "same")])
def test_two_branches_that_add_one_file_agree(ours: str, theirs: str) -> None:
    """A file that both sides added with different text conflicts, also where one of them is empty."""
    rows = [
        {"branch": "main", "message": "start", "files": {"a": "1\n"}},
        {"branch": "fix", "from": "main", "message": "fix", "files": {"c": theirs, "d": "new"}},
        {"branch": "rival", "from": "main", "message": "rival", "files": {"c": ours}},
    ]
    both = Both({"git_commits": rows}, TOOLS)
    try:
        fix = both.fold.state()["git_branches"]["fix"]["head"]
        answer = both.call(1, "cherry_pick_commit", {"commit": fix[:7], "branch": "rival"}, None)
        assert answer.ok is (ours == theirs)
    finally:
        both.close()
