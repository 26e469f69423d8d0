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

    def score(self, request: CompletionRequest, tokens: list[int]) -> Reading:
        """Read up to the newline or the limit; capitals are outside the grammar, digits hardly ever drawn."""
        read: list[int] = []
        reason = ""
        for token in tokens:
            if chr(token).isupper() or reason:
                break
            read.append(token)
            full = "length" if len(read) == request.sampling.max_tokens else ""
            reason = "stop" if token == ord("\n") else full
        return Reading(
            text="".join(map(chr, read)).removesuffix("\n"),
            finish_reason=reason,
            read=len(read),
            refused=not reason and len(read) < len(tokens),
            logprobs=self.truth(read),
            evidence=sum(12.0 if chr(token).isdigit() else -0.1 for token in read),
            prompt_tokens=len(request.prompt),
        )


def honest(make: Any, text: str = "yes", prompt: str = "Log:\n", **changes: Any) -> Any:
    tokens = [ord(letter) for letter in text + "\n"]
    completion = make.completion(text, logprobs=Toy.truth(tokens), prompt_tokens=len(prompt))
    return make.record(prompt, completion=completion, **changes)


def test_honest_records_pass(make: Any) -> None:
    """Records whose numbers the model gives again pass, and the largest difference is told."""
    report = audit([honest(make, "yes"), honest(make, "no", "other")], Toy(), 10, 1)
    assert (report.checked, report.of, report.tokens, report.findings, report.worst) == (2, 2, 7, [], 0.0)
    assert report.evidence == pytest.approx(-0.3)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": "yeah"}, "text is not"),
        ({"tokens": [121, 101, 116, 10]}, "text is not"),
        ({"logprobs": [-0.1, -0.1, -0.1, -0.1]}, "differs by"),
        ({"prompt_tokens": 6}, "prompt has 5 tokens"),
        ({"finish_reason": "length"}, "finish reason"),
        ({"tokens": [], "logprobs": []}, "text is not"),
        ({"tokens": [], "logprobs": [], "text": ""}, "finish reason"),
        ({"text": "", "tokens": [], "logprobs": [], "finish_reason": "error"}, "finish reason"),
        ({"logprobs": [-0.1]}, "not one log-probability"),
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yEs", "does not allow token 2"),
        ("y\nes", "ends after 2 of its 5 tokens"),
        ("y12", "sooner than the request's"),
    ],
)
def test_a_forgery_with_the_models_own_numbers_fails(make: Any, text: str, reason: str) -> None:
    """Another text with true numbers is found by grammar, end or the sampler, which would not have drawn it."""
    (finding,) = audit([honest(make, text)], Toy(), 1, 1).findings
    assert reason in finding.reason


def test_one_unlikely_token_is_no_finding(make: Any) -> None:
    """Evidence below the limit passes: honest answers hold an unlikely token now and then."""
    report = audit([honest(make, "y1")], Toy(), 1, 1)
    assert report.findings == []
    assert report.evidence == pytest.approx(11.8)


def test_all_records_are_looked_at_on_request(make: Any) -> None:
    """Without a number every record is read; with one the report says of how many it was drawn."""
    records = [honest(make, "yes", f"p{n}") for n in range(5)]
    assert (audit(records, Toy(), None, 1).checked, audit(records, Toy(), None, 1).of) == (5, 5)
    assert (audit(records, Toy(), 2, 1).checked, audit(records, Toy(), 2, 1).of) == (2, 5)


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
    """The report counts completions made again that equal their records, and says where others part (field case B13)."""

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
