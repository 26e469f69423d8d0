"""Checks that records came from the model they name: re-read their tokens, and make some of them again."""

import hashlib
from collections.abc import Iterable

import msgspec

from undolab.model.record import Record
from undolab.models.backend import Backend, Scorer

TOLERANCE = 0.15
"""Largest allowed difference of a log-probability. See docs/reference/records.md for how it was measured."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one record."""

    key: str
    ordinal: int
    reason: str


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found."""

    checked: int
    tokens: int
    findings: list[Finding]
    worst: float
    """Largest difference of a log-probability among the records without a finding."""


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


def audit(records: Iterable[Record], scorer: Scorer, n: int, seed: int) -> AuditReport:
    """Re-score `n` records by teacher forcing: evaluate prompt and recorded tokens, and compare what the record says.

    A record fails where its prompt has another number of tokens, its text is not its tokens', its end is not the one
    it names, or a log-probability differs by more than `TOLERANCE`.
    """
    chosen = sample(records, n, seed)
    findings, worst, tokens = [], 0.0, 0
    for record in chosen:
        reason, gap = _check(record, scorer)
        tokens += len(record.completion.tokens)
        if reason:
            findings.append(Finding(key=record.key, ordinal=record.ordinal, reason=reason))
        else:
            worst = max(worst, gap)
    return AuditReport(checked=len(chosen), tokens=tokens, findings=findings, worst=worst)


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


def _check(record: Record, scorer: Scorer) -> tuple[str, float]:
    said = record.completion
    if said.finish_reason == "error":
        return ("", 0.0) if not (said.text or said.tokens) else ("an error with an answer", 0.0)
    if not said.tokens or len(said.tokens) != len(said.logprobs):
        return "not one log-probability a token", 0.0
    scored = scorer.score(record.request.prompt, said.tokens)
    if scored.prompt_tokens != said.prompt_tokens:
        return f"the prompt has {scored.prompt_tokens} tokens, the record says {said.prompt_tokens}", 0.0
    cuts = [scored.text.find(stop) for stop in record.request.stop if stop in scored.text]
    if scored.text[: min(cuts, default=None)] != said.text:
        return "the text is not that of the tokens", 0.0
    stopped = bool(cuts) or scored.ended
    full = len(said.tokens) >= record.request.sampling.max_tokens
    if (said.finish_reason == "stop") != stopped or (said.finish_reason == "length" and not full):
        return f"finish reason {said.finish_reason} does not fit the tokens", 0.0
    gaps = [abs(a - b) for a, b in zip(scored.logprobs, said.logprobs, strict=True)]
    worst = max(gaps)
    if not all(gap <= TOLERANCE for gap in gaps):
        at = gaps.index(worst) + 1
        return f"log-probability of token {at} differs by {worst:.3f}, more than {TOLERANCE}", worst
    return "", worst
