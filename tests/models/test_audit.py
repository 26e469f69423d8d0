"""Teacher forcing finds a fabricated record; the drift report counts equal completions."""

from typing import Any

import pytest

from undolab.model.record import Completion, CompletionRequest, Sampling
from undolab.models.audit import TOLERANCE, audit, drift, sample
from undolab.models.llama import Reading


class Toy:
    """A model over letters: each letter's log-probability depends on it and its place."""

    @staticmethod
    def truth(tokens: list[int]) -> list[float]:
        return [-(token % 7) / 3 - place / 50 for place, token in enumerate(tokens)]

    def score(self, prompt: str, tokens: list[int]) -> Reading:
        text = "".join(map(chr, tokens))
        return Reading(text=text, ended=False, logprobs=self.truth(tokens), prompt_tokens=len(prompt))


def honest(make: Any, text: str = "yes", prompt: str = "Log:\n", **changes: Any) -> Any:
    tokens = [ord(letter) for letter in text + "\n"]
    completion = make.completion(text, logprobs=Toy.truth(tokens), prompt_tokens=len(prompt))
    return make.record(prompt, completion=completion, **changes)


def test_honest_records_pass(make: Any) -> None:
    """Records whose numbers the model gives again pass, and the largest difference is told."""
    report = audit([honest(make, "yes"), honest(make, "no", "other")], Toy(), 10, 1)
    assert (report.checked, report.tokens, report.findings, report.worst) == (2, 7, [], 0.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": "yeah"}, "text is not"),
        ({"tokens": [121, 101, 116, 10]}, "text is not"),
        ({"logprobs": [-0.1, -0.1, -0.1, -0.1]}, "differs by"),
        ({"prompt_tokens": 6}, "prompt has 5 tokens"),
        ({"finish_reason": "length"}, "finish reason"),
        ({"tokens": [], "logprobs": []}, "not one log-probability"),
        ({"logprobs": [float("nan")] * 4}, "differs by"),
    ],
)
def test_a_fabricated_record_fails(make: Any, replace: Any, changes: dict[str, Any], reason: str) -> None:
    """A record with another text, other tokens, invented numbers or another end is a finding."""
    record = honest(make)
    forged = replace(record, completion=replace(record.completion, **changes))
    (finding,) = audit([forged], Toy(), 1, 1).findings
    assert reason in finding.reason
    assert finding.key == record.key


def test_another_text_with_its_own_tokens_fails(make: Any, replace: Any) -> None:
    """Text and tokens changed together are found by the numbers that do not fit them."""
    record = honest(make, "yes")
    forged = replace(record.completion, text="yet", tokens=[121, 101, 116, 10])
    assert audit([replace(record, completion=forged)], Toy(), 1, 1).findings


def test_small_differences_pass_and_are_told(make: Any, replace: Any) -> None:
    """A difference within the tolerance passes; one beyond it fails."""
    record = honest(make)
    numbers = list(record.completion.logprobs)
    near = replace(record.completion, logprobs=[numbers[0] + TOLERANCE * 0.9, *numbers[1:]])
    far = replace(record.completion, logprobs=[numbers[0] + TOLERANCE * 1.1, *numbers[1:]])
    report = audit([replace(record, completion=near)], Toy(), 1, 1)
    assert report.findings == []
    assert report.worst == pytest.approx(TOLERANCE * 0.9)
    assert audit([replace(record, completion=far)], Toy(), 1, 1).findings


def test_a_truncated_answer_passes_only_at_its_limit(make: Any, replace: Any) -> None:
    """An answer that ended for its length has as many tokens as the request allows."""
    tokens = [121, 101, 115]
    completion = Completion(
        text="yes", finish_reason="length", tokens=tokens, logprobs=Toy.truth(tokens), prompt_tokens=5
    )
    record = make.record(completion=completion)
    assert audit([record], Toy(), 1, 1).findings
    request = make.request("Log:\n", sampling=Sampling(max_tokens=3))
    assert audit([replace(record, request=request)], Toy(), 1, 1).findings == []


def test_the_sample_depends_on_the_seed_alone(make: Any) -> None:
    """The same seed chooses the same records in whatever order they come; more records only extend the choice."""
    records = [make.record(f"p{n}") for n in range(30)]
    assert sample(records, 5, 3) == sample(records[::-1], 5, 3)
    assert sample(records, 8, 3)[:5] == sample(records, 5, 3)
    assert sample(records, 5, 4) != sample(records, 5, 3)
    assert len(sample(records, 99, 1)) == 30


def test_drift_counts_equal_completions(make: Any) -> None:
    """The report counts completions made again that equal their records, and says where others part."""

    class Again:
        def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
            text: str = {"a": "yes", "b": "yep", "c": "yes!"}[request.prompt]
            completion: Completion = make.completion(text)
            return completion

    report = drift([make.record(prompt) for prompt in "abc"], Again(), 10, 1)
    assert (report.checked, report.equal) == (3, 1)
    assert sorted(finding.reason for finding in report.differing) == [
        "differs from token 3 on",
        "differs from token 4 on",
    ]
