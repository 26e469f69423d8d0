"""Answers are a function of the request alone: whatever was guessed, asked before, or kept."""

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.model.record import Completion, CompletionRequest, Sampling
from undolab.models import llama, tree
from undolab.models.config import load_models
from undolab.models.guess import guess
from undolab.models.llama import LlamaBackend
from undolab.models.sampler import head, number, penalised, rounded

ROOT = Path(__file__).parents[2]
MODEL = load_models(ROOT / "config" / "models.yaml")["gemma3-270m"]

_spec = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
assert _spec is not None
assert _spec.loader is not None
toy = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(toy)

PROMPTS = [
    "step one: look\nstep two: go\n---\n",
    "step one: look\nstep two: go\n---\nstep one: look\n-> ok\n",
]


@pytest.fixture(autouse=True)
def _toy_grammar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(llama, "Grammar", toy.ToyGrammar)
    before = toy.ToyGrammar.open
    yield
    assert toy.ToyGrammar.open == before, "a grammar was not freed"


def make() -> LlamaBackend:
    backend = LlamaBackend(MODEL, ROOT)
    backend._engine = toy.ToyEngine()
    return backend


def ask(seed: int = 1, prompt: str = PROMPTS[0], **changes: Any) -> CompletionRequest:
    fields: dict[str, Any] = {"grammar": "half", "stop": ["\n"], **changes}
    sampling = fields.pop("sampling", Sampling(temperature=1.0, max_tokens=30))
    return CompletionRequest(
        model=MODEL.digest, prompt=prompt, sampling=msgspec.structs.replace(sampling, seed=seed), **fields
    )


def plainly(request: CompletionRequest) -> Completion:
    """Return the answer as the module says that it is drawn: whole distributions, one after the other, nothing kept."""
    prompt = [toy.START, *request.prompt.encode()]
    said: list[int] = []
    logprobs: list[float] = []
    sampling = request.sampling
    text, reason = b"", ""
    while not reason:
        raw = toy.logits_after(prompt + said)
        allowed = toy.allowed_after(said, request.grammar)
        token = -1
        for again, logits in ((0, raw), (1, np.where(allowed, raw, -np.inf).astype(np.float32))):
            made = head(penalised(logits, said, sampling.repeat_penalty), raw, sampling, None)
            place = made.pick(number(sampling.seed, len(said), again))
            token, likely = int(made.tokens[place]), float(made.logprobs[place])
            if allowed[token]:
                break
        said.append(token)
        logprobs.append(rounded(likely))
        text += b"" if token in {toy.START, toy.END} else bytes([token])
        cuts = [text.find(stop.encode()) for stop in request.stop if stop.encode() in text]
        if cuts or token == toy.END:
            text, reason = text[: min(cuts, default=None)], "stop"
        elif len(said) == sampling.max_tokens:
            reason = "length"
    return Completion(
        text=text.decode("utf-8", "replace"),
        finish_reason=reason,
        tokens=said,
        logprobs=logprobs,
        prompt_tokens=len(prompt),
    )


samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.2, 1.0, 3.0]),
    top_k=st.sampled_from([0, 0, 5, 90]),
    top_p=st.sampled_from([1.0, 1.0, 0.9]),
    min_p=st.sampled_from([0.0, 0.0, 0.02]),
    repeat_penalty=st.sampled_from([1.0, 1.0, 1.3]),
    max_tokens=st.sampled_from([1, 2, 7, 30]),
)
requests = st.builds(
    ask,
    seed=st.integers(0, 6),
    prompt=st.sampled_from(PROMPTS),
    grammar=st.sampled_from(["half", "other", ""]),
    stop=st.sampled_from([["\n"], [], ["e", "\n"]]),
    sampling=samplings,
)
lawful = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@lawful
@given(st.lists(requests, min_size=1, max_size=6))
def test_answers_are_those_of_plain_drawing_in_whatever_order_they_are_asked(
    asked: list[CompletionRequest],
) -> None:
    """Tree, guesses and heads change nothing: each answer is that of drawing token by token from whole distributions."""
    backend = make()
    for request in [*asked, *reversed(asked)]:
        assert backend.complete(request, 1) == plainly(request)


@pytest.mark.parametrize(
    "guesser",
    [lambda *_: [], lambda *_: [5] * 40, lambda prompt, said, newline: [*said[-1:], newline, 9], guess],
    ids=["none", "wrong", "some", "own"],
)
def test_a_guess_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch, guesser: Callable[..., list[int]]
) -> None:
    """Without guesses, with wrong and with right ones the answers are equal token for token."""
    monkeypatch.setattr(llama, "guess", guesser)
    backend = make()
    for seed in range(6):
        for prompt in PROMPTS:
            assert backend.complete(ask(seed, prompt), 1) == plainly(ask(seed, prompt))


def test_right_guesses_spare_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that was guessed whole is evaluated in one go."""
    answers = (make().complete(ask(seed), 1) for seed in range(50))
    seed, answer = next((n, one) for n, one in enumerate(answers) if 3 < len(one.tokens) < 30)
    monkeypatch.setattr(llama, "guess", lambda _prompt, said, _newline: answer.tokens[len(said) :])
    backend = make()
    assert backend.complete(ask(seed), 1) == answer
    assert backend._engine is not None
    assert (backend._engine.calls, backend._engine.rows) == (1, len(answer.tokens))  # type: ignore[attr-defined]


def test_what_was_asked_is_asked_of_the_model_no_more() -> None:
    """The same seed again costs nothing, and a seed that comes later pays for no place where another has been."""
    backend = make()
    cool = ask(1, sampling=Sampling(temperature=0.5, max_tokens=30))
    first = backend.complete(cool, 1)
    spent = backend.spent()
    assert backend.complete(cool, 1) == first
    assert backend.spent() == spent
    greedy = Sampling(temperature=0.0, max_tokens=30)
    backend.complete(ask(1, sampling=greedy), 1)
    spent = backend.spent()
    backend.complete(ask(2, sampling=greedy), 1)
    assert backend.spent() == spent


def test_draws_beyond_the_head_are_made() -> None:
    """A flat distribution gives tokens that are not among the 64 kept, as often as it should."""
    backend = make()
    flat = Sampling(temperature=50.0, max_tokens=1)
    raw = toy.logits_after([toy.START, *PROMPTS[0].encode()])
    rank = {int(token): place for place, token in enumerate(np.argsort(-raw, kind="stable"))}
    ranks = [rank[backend.complete(ask(seed, grammar="", sampling=flat), 1).tokens[0]] for seed in range(600)]
    assert 240 < sum(place >= 64 for place in ranks) < 350


def test_where_the_grammar_refuses_the_draw_has_the_conditional_distribution() -> None:
    """Over many seeds the first token has the model's distribution among the allowed tokens, by chi-square."""
    backend = make()
    once = Sampling(temperature=1.0, max_tokens=1)
    seeds = 6000
    got = Counter(backend.complete(ask(seed, sampling=once), 1).tokens[0] for seed in range(seeds))
    raw = toy.logits_after([toy.START, *PROMPTS[0].encode()]).astype(np.float64)
    weights = np.where(toy.allowed_after([], "half"), np.exp(raw), 0.0)
    expected = seeds * weights / weights.sum()
    assert all(expected[token] > 0 for token in got)
    often = [token for token in range(toy.WORDS) if expected[token] >= 5]
    rest = seeds - expected[often].sum()
    square = sum((got[token] - expected[token]) ** 2 / expected[token] for token in often)
    square += (seeds - sum(got[token] for token in often) - rest) ** 2 / rest
    # The seeds are fixed, so this cannot flicker: mean and spread of chi-square are known.
    freedom = len(often)
    assert abs(square - freedom) < 4 * (2 * freedom) ** 0.5


def test_requests_share_a_tree_if_they_differ_in_seed_limit_or_stop_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Prompt, grammar and every other field of the sampling have trees of their own; the oldest is forgotten first."""
    forest = tree.Forest()
    base = ask(1)
    same = [ask(2), ask(1, stop=["e"]), ask(1, sampling=Sampling(temperature=1.0, max_tokens=3))]
    assert all(forest.root(request) is forest.root(base) for request in same)
    others = [ask(1, PROMPTS[1]), ask(1, grammar="")]
    for name, value in {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 3,
        "min_p": 0.1,
        "repeat_penalty": 1.1,
    }.items():
        others.append(ask(1, sampling=msgspec.structs.replace(base.sampling, **{name: value})))
    roots = [forest.root(request) for request in [base, *others]]
    assert len({id(root) for root in roots}) == len(roots)
    monkeypatch.setattr(tree, "_TREES", 2)
    small = tree.Forest()
    kept, gone = small.root(base), small.root(others[0])
    assert small.root(base) is kept
    small.root(others[1])
    assert small.root(base) is kept
    assert small.root(others[0]) is not gone


@lawful
@given(requests)
def test_an_answer_reads_back_as_it_was_drawn(request: CompletionRequest) -> None:
    """Teacher forcing gives text, end and numbers of an answer again, and weighs no honest answer as a forgery."""
    made = make().complete(request, 1)
    read = make().score(request, made.tokens)
    assert (read.text, read.finish_reason, read.read, read.refused) == (
        made.text,
        made.finish_reason,
        len(made.tokens),
        False,
    )
    assert (read.logprobs, read.prompt_tokens) == (made.logprobs, made.prompt_tokens)
    assert read.evidence < 18.4


def test_a_long_answer_is_read_in_parts_and_never_past_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens after the limit, after the end, outside the grammar or the vocabulary are not read, however many they are."""
    backend = make()
    plain = ask(grammar="", stop=[], sampling=Sampling(temperature=1.0, max_tokens=200))
    long = [65 + place % 26 for place in range(5000)]
    read = backend.score(plain, long)
    assert (read.read, read.finish_reason, read.refused) == (200, "length", False)
    monkeypatch.setattr(llama, "_AHEAD", 7)
    assert backend.score(plain, long) == read
    for bad in (-1, toy.WORDS, 10**9):
        found = backend.score(plain, [*long[:9], bad, *long])
        assert (found.read, found.refused, found.finish_reason) == (9, True, "")
        assert found.logprobs == read.logprobs[:9]
    ended = backend.score(ask(grammar=""), [70, 71, toy.NEWLINE, 72])
    assert (ended.read, ended.text, ended.finish_reason) == (3, "FG", "stop")
    full = msgspec.structs.replace(plain, sampling=Sampling(max_tokens=5000))
    assert (backend.score(full, long).read, backend.score(full, long).finish_reason) == (0, "error")


tokens = st.lists(st.sampled_from([toy.NEWLINE, 5, 6, 7]), max_size=30)


@given(tokens, tokens)
def test_a_guess_is_a_line_that_stands_there(prompt: list[int], said: list[int]) -> None:
    """A guess is at most 40 tokens that stand together before it, and ends with the line."""
    made = guess(prompt, said, toy.NEWLINE)
    whole = prompt + said
    assert len(made) <= 40
    assert toy.NEWLINE not in made[:-1]
    assert any(whole[at : at + len(made)] == made for at in range(len(whole) + 1))


def test_a_line_begun_is_looked_up_and_a_new_one_follows_the_last_copied() -> None:
    """Within a line the longest tail decides, the last of equal places; before a line, the one after the copied line."""

    def text(prompt: str, said: str) -> str:
        return bytes(guess(list(prompt.encode()), list(said.encode()), toy.NEWLINE)).decode()

    runbook = "lamp one: look\ntask one: see(4)\ntask two: go(7)\ntask three: end\n---\n"
    assert text(runbook, "task two: ") == "go(7)\n"
    assert text(runbook, "task t") == "hree: end\n"
    assert text(runbook, "q") == ""
    log = runbook + "task one: see(4)\n-> ok {}\n"
    assert text(log, "") == "task two: go(7)\n"
    assert text(log + "task two: go(7)\n-> ok {}\n", "") == "task three: end\n"
    assert text("one line\n", "") == ""
