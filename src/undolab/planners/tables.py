"""The three files of the study: a row a task, a row a branch, and the counts of every cell. All are exact, no time is in them."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from undolab.planners.branch import ESCALATED, true_claim
from undolab.planners.run import Branch, Episode

TASK_HEADER = (
    "id", "model", "kind", "condition", "variant", "hardened", "tool", "target", "argument", "said", "record",
)  # fmt: skip
BRANCH_HEADER = (
    "id", "branch", "status", "eligible", "changed", "collateral", "visible", "provenance", "recovered", "victim_changed",
    "wrong_receipt", "stands", "claim", "claim_true", "record",
)  # fmt: skip
COUNTS = (
    "tasks", "eligible", "collateral", "recovered", "wrong_receipt", "victim_changed", "escalated",
    "claims_true", "claims_false", "claims_open",
)  # fmt: skip
FILES = ("study.csv", "study-branches.csv", "study-summary.json")


def files(found: Sequence[Episode]) -> dict[str, bytes]:
    """Return the study's files by name."""
    text = json.dumps(summary(found), indent=1, sort_keys=True) + "\n"
    return dict(zip(FILES, (tasks_csv(found), branches_csv(found), text.encode()), strict=True))


def tasks_csv(found: Iterable[Episode]) -> bytes:
    """Return a row a task: what was chosen, on which record."""
    return _csv(TASK_HEADER, (_task_row(episode) for episode in found))


def branches_csv(found: Iterable[Episode]) -> bytes:
    """Return a row a branch: what came of the choice, and whether what the model then said is true."""
    return _csv(BRANCH_HEADER, (_branch_row(episode, item) for episode in found for item in episode.branches))


def summary(found: Sequence[Episode]) -> dict[str, Any]:
    """Return the counts: by model, prompt and branch; by condition; by attack; and what was recorded."""
    cells: dict[str, Counter[str]] = {}
    for episode in found:
        prompt = "hardened" if episode.task.hardened else "ordinary"
        for item in episode.branches:
            counted = _count(item)
            for cell in (
                f"{episode.model}/{prompt}/{item.name}",
                f"{episode.model}/{episode.task.condition}/{item.name}",
            ):
                cells.setdefault(cell, Counter()).update(counted)
    attacks: dict[str, Counter[str]] = {}
    for episode in found:
        if episode.task.condition == "injected":
            chosen = episode.target or episode.call.tool or "no_call"
            attacks.setdefault(f"{episode.model}/{episode.task.variant}", Counter())[chosen] += 1
    return {
        "tasks": len(found),
        "responses": sum(1 + sum(item.answer is not None for item in episode.branches) for episode in found),
        "branches": sum(len(episode.branches) for episode in found),
        "cells": {cell: {name: counts[name] for name in COUNTS} for cell, counts in cells.items()},
        "attacks": {cell: dict(sorted(counts.items())) for cell, counts in attacks.items()},
        "store_differs": sum(not _agrees(episode) for episode in found),
    }


def _agrees(episode: Episode) -> bool:
    """Return whether the real store left what the published policy leaves (it names outcomes in words of its own)."""
    by_name = {item.name: item.result for item in episode.branches}
    ours, theirs = by_name["undolab"], by_name["undoscope"]
    judged = [
        (one.recovered, one.collateral, one.changed, one.victim_changed, one.stands) for one in (ours, theirs)
    ]
    return judged[0] == judged[1]


def _count(item: Branch) -> Counter[str]:
    result = item.result
    told = true_claim(item.claim, result)
    return Counter(
        {
            "tasks": 1,
            "eligible": result.eligible,
            "collateral": result.collateral,
            "recovered": result.recovered,
            "wrong_receipt": result.wrong_receipt,
            "victim_changed": result.victim_changed,
            "escalated": result.status == ESCALATED,
            "claims_true": item.answer is not None and told is True,
            "claims_false": item.answer is not None and told is False,
            "claims_open": item.answer is not None and told is None,
        }
    )


def _task_row(episode: Episode) -> tuple[Any, ...]:
    task, call = episode.task, episode.call
    where = (episode.ident, episode.model, task.kind, task.condition, task.variant, int(task.hardened))
    return (*where, call.tool, episode.target, call.argument, episode.first.text, episode.first.record)


def _branch_row(episode: Episode, item: Branch) -> tuple[Any, ...]:
    result = item.result
    told = true_claim(item.claim, result) if item.answer else None
    flags = (
        result.eligible, result.changed, result.collateral, result.damage.visible, result.damage.provenance,
        result.recovered, result.victim_changed, result.wrong_receipt, result.stands,
    )  # fmt: skip
    said = (item.claim, "" if told is None else int(told), item.answer.record if item.answer else "")
    return (episode.ident, item.name, result.status, *map(int, flags), *said)


def _csv(header: Iterable[str], lines: Iterable[Iterable[object]]) -> bytes:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(header)
    table.writerows(lines)
    return out.getvalue().encode()
