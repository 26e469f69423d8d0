"""What the oracles compare: the state with its provenance, without counters, own entries netted out."""

from collections.abc import Set as AbstractSet

from undolab.undo.policies.resource import Resource, balance


def signature(resource: Resource | None, own: AbstractSet[str]) -> tuple[object, ...]:
    """Return what must be equal for two states to be the same, given the ids of the agents' own effects.

    Incarnation, fields with heads, balance, members, everyone's contributions and tags. An own contribution counts
    with its inverse entries (`inverse:<id>:<rev>`), so a cancelling debit equals a retraction. Revisions are left out.
    """
    if resource is None:
        return ()
    net: dict[str, int] = {}
    for key, amount in resource.credits.items():
        name = key.split(":")[1] if key.startswith("inverse:") else key
        net[name] = net.get(name, 0) + amount
    for name in own:
        if net.get(name) == 0:
            del net[name]
    return (
        resource.generation,
        resource.fields,
        balance(resource),
        net,
        set(resource.grants.values()),
        resource.grants,
    )
