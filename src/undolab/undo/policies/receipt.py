"""The full receipt of the published system (both whole objects), and the agent's own effect that it stands for."""

from typing import NamedTuple

from undolab.undo.policies.resource import Event, Resource, fresh, write


class Context(NamedTuple):
    """Who asks: tenant, principal, run."""

    tenant: str
    principal: str
    run: str


class Receipt(NamedTuple):
    """What the agent keeps of one effect. `expires` is in seconds of the history's own clock."""

    ident: str
    context: Context
    event: Event
    before: Resource | None
    after: Resource
    expires: int


def forward(
    resource: Resource | None, event: Event, ident: str, generation: str, context: Context, expires: int
) -> Receipt | None:
    """Return the receipt of an agent's effect, whose `after` is the new state; None where the effect is an error.

    Errors are a create of a name in use, any other effect on an absent resource, and a debit below zero.
    """
    if event.op == "create":
        after = None if resource is not None else fresh(generation)
    else:
        changed, accepted = write(resource, event, ident)
        after = changed if accepted else None
    if after is None:
        return None
    return Receipt(ident, context, event, resource, after, expires)
