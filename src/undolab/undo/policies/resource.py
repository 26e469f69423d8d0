"""The resource of the published system as pure values, so that every policy and every oracle works on the same state.

Nothing here is changed in place: a write answers a new `Resource`. Production code has a state of its own
(`undolab.undo.kernel`); this one keeps what only the compared policies need, the counters `rev` and `component`.
"""

from collections.abc import Mapping
from typing import NamedTuple

INITIAL = "initial"
KINDS = ("set", "add", "grant", "create")
_START: Mapping[str, int] = dict.fromkeys(KINDS, 0)


class Cell(NamedTuple):
    """A register: its value, and the id of the write that put it there."""

    value: str
    head: str


class Resource(NamedTuple):
    """One incarnation of a named resource."""

    generation: str
    rev: int
    fields: Mapping[str, Cell]
    credits: Mapping[str, int]
    grants: Mapping[str, str]
    component: Mapping[str, int]


class Event(NamedTuple):
    """A write: set (field, text), add (delta), grant or revoke (text = member), create, recreate, delete."""

    op: str
    field: str = ""
    text: str = ""
    delta: int = 0


def blank(generation: str) -> Resource:
    """Return a resource as `seed` makes it: status open, note original, balance 10, nobody granted."""
    fields = {"status": Cell("open", INITIAL), "note": Cell("original", INITIAL)}
    return Resource(generation, 0, fields, {INITIAL: 10}, {}, _START)


def fresh(generation: str) -> Resource:
    """Return a resource as an effect or a peer creates it: blank, at revision 1."""
    return blank(generation)._replace(rev=1, component={**_START, "create": 1})


def balance(resource: Resource) -> int:
    """Return the sum of all contributions, in units of the ledger."""
    return sum(resource.credits.values())


def write(resource: Resource | None, event: Event, ident: str) -> tuple[Resource | None, bool]:
    """Return the state after one peer's write, and whether the write was accepted.

    A write to an absent resource and a debit below zero are skipped. `recreate` gives the name a blank
    resource whether or not one stands there: it is the one write that does not need the old incarnation.
    """
    op = event.op
    if op == "recreate":
        return fresh(ident), True
    if resource is None:
        return None, False
    if op == "delete":
        return None, True
    _, rev, fields, credit, grants, counts = resource
    part = op
    if op == "set":
        fields = {**fields, event.field: Cell(event.text, ident)}
    elif op == "add":
        if balance(resource) + event.delta < 0:
            return resource, False
        credit = {**credit, ident: event.delta}
    elif op == "grant":
        grants = {**grants, ident: event.text}
    else:
        grants, part = without_member(resource, event.text).grants, "grant"
    counts = {**counts, part: counts[part] + 1}
    return Resource(resource.generation, rev + 1, fields, credit, grants, counts), True


def without_member(resource: Resource, member: str) -> Resource:
    """Return the resource without any tag that names a member; no counter moves."""
    return resource._replace(grants={tag: who for tag, who in resource.grants.items() if who != member})


def visible(resource: Resource | None) -> tuple[object, ...]:
    """Return what a user of the resource can see: values, balance, members; `()` where there is none."""
    if resource is None:
        return ()
    values = sorted((name, cell.value) for name, cell in resource.fields.items())
    return (values, balance(resource), sorted(set(resource.grants.values())))
