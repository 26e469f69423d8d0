"""Checks that records came from the model they name: re-read their tokens, and make some of them again."""

import hashlib
import math
from collections.abc import Iterable

import msgspec

from undolab.model.record import Completion, Record
from undolab.models.backend import Backend, Scored, Scorer

TOLERANCE = 0.15
"""Largest allowed difference of a log-probability. See docs/reference/records.md for how it was measured."""

UNLIKELY = 1e8
"""A record fails if temperature 1 gives its tokens more than so many times sooner than its own temperature.

An honest record does with a probability of less than 1 / UNLIKELY; docs/reference/records.md derives it.
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one record."""

    key: str
    ordinal: int
    reason: str


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found."""

    checked: int
    of: int
    """How many records there are."""
    tokens: int
    findings: list[Finding]
    worst: float
    """Largest difference of a log-probability among the records without a finding."""
    evidence: float
    """Largest evidence (see `Scored`) among the records without a finding; log(UNLIKELY) is the limit."""


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many completions made again equal their records, token for token."""

    checked: int
    equal: int
    differing: list[Finding]


def sample(records: Iterable[Record], n: int, seed: int) -> list[Record]:
    """Return `n` records (all, where there are fewer), chosen by hash so that the choice is the same everywhere."""

    def rank(record: Record) -> bytes:
        return hashlib.sha256(f"{seed}:{record.key}:{record.ordinal}".encode()).digest()

    return sorted(records, key=rank)[:n]


def audit(records: Iterable[Record], scorer: Scorer, n: int | None, seed: int) -> AuditReport:
    """Re-score `n` records (None: all) by teacher forcing: read the recorded tokens, and compare what the record says.

    A record fails where its prompt has another number of tokens, the grammar does not allow a token, its text or its
    end is not that of its tokens, a log-probability differs by more than `TOLERANCE`, or its tokens are ones that the
    request's temperature would not give (`UNLIKELY`).
    """
    every = list(records)
    chosen = sample(every, len(every) if n is None else n, seed)
    findings, tokens = [], 0
    worst, evidence = 0.0, -math.inf
    # Prompts with the same start stand together, so that the engine evaluates that start once.
    for record in sorted(chosen, key=lambda record: record.request.prompt):
        scored = scorer.score(record.request, record.completion.tokens)
        reason, gap = _check(record.completion, scored)
        tokens += scored.read
        if reason:
            findings.append(Finding(key=record.key, ordinal=record.ordinal, reason=reason))
        else:
            worst, evidence = max(worst, gap), max(evidence, scored.evidence)
    return AuditReport(
        checked=len(chosen),
        of=len(every),
        tokens=tokens,
        findings=findings,
        worst=worst,
        evidence=evidence,
    )


def drift(records: Iterable[Record], backend: Backend, n: int, seed: int) -> DriftReport:
    """Make `n` completions again and compare them with their records; records are never changed."""
    chosen = sample(records, n, seed)
    differing = []
    for record in chosen:
        fresh = backend.complete(record.request, record.ordinal)
        old = record.completion
        if (fresh.tokens, fresh.text, fresh.finish_reason) != (old.tokens, old.text, old.finish_reason):
            pairs = zip(fresh.tokens, old.tokens, strict=False)
            at = next(
                (i for i, (a, b) in enumerate(pairs, 1) if a != b),
                min(len(fresh.tokens), len(old.tokens)) + 1,
            )
            differing.append(
                Finding(key=record.key, ordinal=record.ordinal, reason=f"differs from token {at} on")
            )
    return DriftReport(checked=len(chosen), equal=len(chosen) - len(differing), differing=differing)


def _check(said: Completion, scored: Scored) -> tuple[str, float]:
    count = len(said.tokens)
    if len(said.logprobs) != count:
        return "not one log-probability a token", 0.0
    if scored.prompt_tokens != said.prompt_tokens:
        return f"the prompt has {scored.prompt_tokens} tokens, the record says {said.prompt_tokens}", 0.0
    if scored.refused:
        return f"the grammar does not allow token {scored.read + 1}", 0.0
    if scored.read < count:
        return f"the answer ends after {scored.read} of its {count} tokens", 0.0
    if scored.text != said.text:
        return "the text is not that of the tokens", 0.0
    if scored.finish_reason != said.finish_reason:
        return f"finish reason {said.finish_reason} does not fit the tokens", 0.0
    gaps = [abs(a - b) for a, b in zip(scored.logprobs, said.logprobs, strict=True)]
    worst = max(gaps, default=0.0)
    if not all(gap <= TOLERANCE for gap in gaps):
        at = gaps.index(worst) + 1
        return f"log-probability of token {at} differs by {worst:.3f}, more than {TOLERANCE}", worst
    if scored.evidence > math.log(UNLIKELY):
        times = scored.evidence / math.log(10)
        return f"temperature 1 gives these tokens 10^{times:.1f} times sooner than the request's", worst
    return "", worst
