"""All counts of a depth: published totals, then both kinds of damage under both oracles, the four classes, the kernel.

Everything here is an exact count, the same on every machine; no time is in it.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from undolab.undo.histories.ablation import collateral_by_guard
from undolab.undo.histories.agents import SYMBOLS, verdicts
from undolab.undo.histories.conform import conform
from undolab.undo.histories.grammar import histories
from undolab.undo.histories.mechanism import Compared, Kernel, Mechanism
from undolab.undo.histories.merged import Graph
from undolab.undo.histories.oracles import CLASSES
from undolab.undo.policies.resource import KINDS
from undolab.undo.policies.table import GUARDS, OURS, POLICIES, PUBLISHED

PUBLISHED_COUNTS = ("eligible", "collateral", "recovered")
_DAMAGE = ("visible", "provenance", "replay_visible", "replay_provenance")
Counts = dict[str, dict[str, dict[str, int]]]


def summary(depth: int, agents_depth: int) -> dict[str, Any]:
    """Return every count for words up to `depth`, and for the two agents' histories up to `agents_depth` symbols."""
    graphs = {kind: Graph(kind, depth) for kind in KINDS}
    tallies = {kind: graph.tally(depth) for kind, graph in graphs.items()}
    every = {kind: _by_policy(graph, tallies[kind]) for kind, graph in graphs.items()}
    total = histories(depth)
    return {
        "depth": depth,
        "alphabet_size": 4,
        "histories": total,
        "rows": total * len(PUBLISHED),
        "policies": {
            policy: {"cases": total, **_total(every, policy, PUBLISHED_COUNTS)} for policy in POLICIES
        },
        "by_kind": _pick(every, PUBLISHED, PUBLISHED_COUNTS),
        "by_kind_ours": _pick(every, OURS, PUBLISHED_COUNTS),
        "damage": {policy: _total(every, policy, _DAMAGE) for policy in POLICIES},
        "damage_by_kind": _pick(every, POLICIES, _DAMAGE),
        "classes": {kind: _classes(graph, tallies[kind]) for kind, graph in graphs.items()},
        "oracles": {kind: _agreement(graph, tallies[kind]) for kind, graph in graphs.items()},
        "states": {kind: len(graph.rows) for kind, graph in graphs.items()},
        "create_without_incarnation": _reused(depth),
        "ablation": collateral_by_guard(),
        "kernel": {kind: _kernel(kind, depth) for kind in KINDS},
        "agents": {"depth": agents_depth, "symbols": SYMBOLS, "by_kind": agents(agents_depth)},
    }


def _by_policy(graph: Graph, tally: Counter[int]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {policy: Counter() for policy in POLICIES}
    for node, times in tally.items():
        for policy, row in zip(POLICIES, graph.rows[node], strict=True):
            counts = found[policy]
            counts["eligible"] += times * row.eligible
            counts["collateral"] += times * row.collateral
            counts["recovered"] += times * row.recovered
            counts["visible"] += times * row.damage.visible
            counts["provenance"] += times * row.damage.provenance
            counts["replay_visible"] += times * row.replay_damage.visible
            counts["replay_provenance"] += times * row.replay_damage.provenance
    return {policy: dict(counts) for policy, counts in found.items()}


def _pick(every: Counts, policies: Mapping[str, object], names: tuple[str, ...]) -> Counts:
    return {
        kind: {policy: {name: found[policy][name] for name in names} for policy in policies}
        for kind, found in every.items()
    }


def _total(every: Counts, policy: str, names: tuple[str, ...]) -> dict[str, int]:
    return {name: sum(found[policy][name] for found in every.values()) for name in names}


def _reused(depth: int) -> dict[str, dict[str, int]]:
    """Return what each policy does to creations when none of them checks that the name is still the same resource's."""
    graph = Graph("create", depth, {"incarnation"})
    found = _by_policy(graph, graph.tally(depth))
    return {policy: {name: counts[name] for name in PUBLISHED_COUNTS} for policy, counts in found.items()}


def _classes(graph: Graph, tally: Counter[int]) -> dict[str, dict[str, Any]]:
    """Return for each class how many histories are in it, and for how many of them each policy leaves it right."""
    found: dict[str, dict[str, Any]] = {
        outcome: {"histories": 0, "right": dict.fromkeys(POLICIES, 0)} for outcome in CLASSES
    }
    for node, times in tally.items():
        rows = graph.rows[node]
        entry = found[rows[0].outcome]
        entry["histories"] += times
        for policy, row in zip(POLICIES, rows, strict=True):
            entry["right"][policy] += times * row.right
    return found


def _agreement(graph: Graph, tally: Counter[int]) -> dict[str, int]:
    """Return how often the contract's class meets the replay oracle's, as `contract/replay`."""
    found: Counter[str] = Counter()
    for node, times in tally.items():
        row = graph.rows[node][0]
        found[f"{row.outcome}/{row.replay_outcome}"] += times
    return dict(sorted(found.items()))


def _kernel(kind: str, depth: int) -> dict[str, int]:
    outcomes, wrong = conform(kind, depth)
    return {**{outcome: outcomes[outcome] for outcome in CLASSES}, "wrong": len(wrong)}


def mechanisms() -> dict[str, Mechanism]:
    """Return what the agents' histories drive: ten policies, the published one short of each guard, our kernel."""
    found: dict[str, Mechanism] = {name: Compared(policy) for name, policy in POLICIES.items()}
    for guard in GUARDS:
        found[f"undoscope-without-{guard}"] = Compared(PUBLISHED["undoscope"], {guard})
    return {**found, "kernel": Kernel()}


def agents(depth: int) -> Counts:
    """Return kind -> mechanism -> counts over all histories of two agents that end in a recovery.

    `eligible`: it should compensate; `recovered`: it did, exactly; `visible` and `provenance`: damage; `right`: the
    state is as it should be. Damage ends a history, so mechanisms that do some meet fewer cases.
    """
    found: Counts = {}
    for kind in KINDS:
        found[kind] = {}
        for name, machine in mechanisms().items():
            counts = dict.fromkeys(("cases", "eligible", "recovered", "visible", "provenance", "right"), 0)
            for _, verdict in verdicts(kind, machine, depth):
                eligible = verdict.outcome == "compensated"
                counts["cases"] += 1
                counts["eligible"] += eligible
                counts["recovered"] += eligible and verdict.right
                counts["visible"] += verdict.damage.visible
                counts["provenance"] += verdict.damage.provenance
                counts["right"] += verdict.right
            found[kind][name] = counts
    return found
