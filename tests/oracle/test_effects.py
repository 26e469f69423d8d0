"""Roles of committed calls: what is required, a duplicate, a repeat, an orphan."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from undolab.model.calls import Effect, LedgerRow
from undolab.model.tools import Op
from undolab.model.workflow import ForbiddenEffect, RequiredEffect
from undolab.oracle.effects import Role, account

ORDER = RequiredEffect(id="order", tool="buy", entity="orders/*", arguments={"item": "x"})


def roles(required: list[RequiredEffect], rows: list[LedgerRow], *forbidden: ForbiddenEffect) -> list[str]:
    return [str(role) for role in account(required, forbidden, rows).roles]


def test_second_order_under_another_call_id_is_a_harmful_duplicate(row: Any) -> None:
    """Equal calls in two turns are two effects although their attempts have different ids (field case B2)."""
    rows = [
        row(1, "1.1.1", "buy", "orders/a", "", "1", item="x"),
        row(2, "2.1.1", "buy", "orders/b", "", "2", item="x"),
    ]
    assert roles([ORDER], rows) == ["required", "duplicate"]


def test_task_that_wants_two_identical_orders_is_not_flagged(row: Any) -> None:
    """Multiplicity comes from the task: with minimum and maximum two, two equal orders are both required."""
    two = RequiredEffect(id="order", tool="buy", entity="orders/*", arguments={"item": "x"}, min=2, max=2)
    rows = [
        row(1, "1.1.1", "buy", "orders/a", "", "1", item="x"),
        row(2, "2.1.1", "buy", "orders/b", "", "2", item="x"),
    ]
    found = account([two], [], rows)
    assert (found.roles, found.missing) == ([Role.REQUIRED, Role.REQUIRED], [])
    assert account([two], [], rows[:1]).missing == ["order"]


def test_repeat_that_changes_nothing_is_harmless(row: Any) -> None:
    """A value set twice is a harmless repeat, not a duplicate (the published rule fails it)."""
    tier = RequiredEffect(id="tier", tool="set_tier", entity="accounts/a")
    rows = [
        row(1, "1.1.1", "set_tier", "accounts/a", "o", "n"),
        row(2, "1.1.2", "set_tier", "accounts/a", "n", "n"),
    ]
    assert roles([tier], rows) == ["required", "repeat"]


def test_composite_call_is_one_commit(row: Any) -> None:
    """All effects of one call are that call: its second effect is no orphan and no duplicate."""
    deploy = RequiredEffect(id="deploy", tool="deploy", entity="catalog/green")
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1"),
        row(2, "1.1.1", "deploy", "catalog/green", "", "2"),
    ]
    found = account([deploy], [], rows)
    assert (len(found.calls), found.roles, found.first) == (1, [Role.REQUIRED], {"deploy": 1})


def test_composite_repeat_that_changes_one_entity_is_harmful(row: Any) -> None:
    """A repeat is harmless only if every one of its effects left its entity as it was."""
    deploy = RequiredEffect(id="deploy", tool="deploy", entity="catalog/green")
    rows = [
        row(1, "1.1.1", "deploy", "services/green", "", "1"),
        row(2, "1.1.1", "deploy", "catalog/green", "", "2"),
        row(3, "2.1.1", "deploy", "services/green", "1", "1"),
        row(4, "2.1.1", "deploy", "catalog/green", "9", "2"),
    ]
    assert roles([deploy], rows) == ["required", "duplicate"]


def test_right_tool_on_the_wrong_entity_is_an_orphan_and_the_effect_is_missing(row: Any) -> None:
    """Writing elsewhere does not count as the required effect (published defect 13)."""
    tier = RequiredEffect(id="tier", tool="set_tier", entity="accounts/a")
    found = account([tier], [], [row(1, "1.1.1", "set_tier", "accounts/b", "o", "n")])
    assert (found.roles, found.missing) == ([Role.ORPHAN], ["tier"])


def test_two_legitimate_calls_on_different_entities_are_no_duplicates(row: Any) -> None:
    """Two effects of one tool are told apart by entity, so neither is a second of the other (published defect 13)."""
    required = [RequiredEffect(id=name, tool="payout", entity=f"accounts/{name}") for name in "ab"]
    rows = [
        row(1, "1.1.1", "payout", "accounts/b", "o", "n"),
        row(2, "2.1.1", "payout", "accounts/a", "o", "n"),
    ]
    assert roles(required, rows) == ["required", "required"]


def test_arguments_are_compared_as_json(row: Any) -> None:
    """Another spelling of the same JSON text, and 5.0 for 5, are the same argument; true for 1 is not."""
    hook = RequiredEffect(
        id="hook", tool="post", entity="webhooks/*", arguments={"payload": '{"a": 1, "b": [2]}', "n": 5}
    )
    same = row(1, "1.1.1", "post", "webhooks/1", "", "1", payload='{"b":[2],"a":1}', n=5.0)
    other = row(1, "1.1.1", "post", "webhooks/1", "", "1", payload='{"b":[2],"a":true}', n=5)
    assert roles([hook], [same]) == ["required"]
    assert roles([hook], [other]) == ["orphan"]


def test_overlapping_effects_are_all_served(row: Any) -> None:
    """A call that two effects could take goes to the one that nothing else can serve, in either order of the effects."""
    narrow = RequiredEffect(id="narrow", tool="buy", entity="orders/*", arguments={"item": "x"})
    wide = RequiredEffect(id="wide", tool="buy", entity="orders/*")
    rows = [
        row(1, "1.1.1", "buy", "orders/a", "", "1", item="x"),
        row(2, "2.1.1", "buy", "orders/b", "", "2", item="y"),
    ]
    for required in ([narrow, wide], [wide, narrow]):
        found = account(required, [], rows)
        assert (found.missing, found.roles) == ([], [Role.REQUIRED, Role.REQUIRED])
        assert found.first == {"narrow": 1, "wide": 2}


def test_minimum_is_served_before_an_optional_effect(row: Any) -> None:
    """An optional effect listed first does not take the only call that a required one needs."""
    optional = RequiredEffect(id="optional", tool="buy", entity="orders/*", min=0, max=3)
    found = account([optional, ORDER], [], [row(1, "1.1.1", "buy", "orders/a", "", "1", item="x")])
    assert (found.missing, found.first) == ([], {"order": 1})


def test_forbidden_is_not_a_second_name_for_multiplicity(row: Any) -> None:
    """A call that matches a required effect is never forbidden, a stray one of the same tool is."""
    rule = ForbiddenEffect(tool="buy", reason="only x may be bought")
    rows = [
        row(1, "1.1.1", "buy", "orders/a", "", "1", item="x"),
        row(2, "2.1.1", "buy", "orders/b", "", "2", item="y"),
    ]
    assert roles([ORDER], rows, rule) == ["required", "forbidden"]


def test_stray_write_without_change_is_idle(row: Any) -> None:
    """A write that matches nothing and changes nothing harms nobody."""
    assert roles([ORDER], [row(1, "1.1.1", "set", "accounts/a", "s", "s")]) == ["idle"]


CALLS = st.lists(st.tuples(st.sampled_from(["buy", "set"]), st.sampled_from("xy"), st.booleans()), max_size=8)
EFFECTS = st.lists(
    st.tuples(
        st.sampled_from(["buy", "set"]), st.sampled_from(["x", "y", ""]), st.integers(0, 2), st.integers(0, 2)
    ),
    max_size=3,
)


@settings(max_examples=200, deadline=None)
@given(calls=CALLS, effects=EFFECTS)
def test_every_commit_has_one_role_and_no_effect_gets_too_many(calls: list[Any], effects: list[Any]) -> None:
    """Roles partition the commits; as many are required as the bounds allow, checked against all assignments."""
    rows = [
        LedgerRow(
            seq=n,
            attempt=f"{n}.1.1",
            tool=tool,
            arguments={"item": item},
            effect=Effect(id=f"e{n}", entity=f"t/{n}", op=Op.CREATE, before="", after="1" if changed else ""),
        )
        for n, (tool, item, changed) in enumerate(calls, start=1)
    ]
    required = [
        RequiredEffect(
            id=str(n),
            tool=tool,
            entity="t/*",
            arguments={"item": item} if item else {},
            min=low,
            max=low + extra,
        )
        for n, (tool, item, low, extra) in enumerate(effects)
    ]
    found = account(required, [], rows)
    assert len(found.roles) == len(calls)
    fewest, most = _best(required, rows)
    assert len(found.missing) == 0 if fewest == 0 else len(found.missing) > 0
    assert found.count(Role.REQUIRED) == most


def _best(required: list[RequiredEffect], rows: list[LedgerRow]) -> tuple[int, int]:
    """Return the smallest lack of minima and the largest number of placed calls over all assignments."""
    counts = {tuple(0 for _ in required)}
    for row in rows:
        fits = [
            n
            for n, e in enumerate(required)
            if e.tool == row.tool and e.arguments.items() <= row.arguments.items()
        ]
        counts |= {(*c[:n], c[n] + 1, *c[n + 1 :]) for c in counts for n in fits if c[n] < required[n].max}
    lack = min(sum(max(0, e.min - n) for e, n in zip(required, c, strict=True)) for c in counts)
    return lack, max(map(sum, counts))
