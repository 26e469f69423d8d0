"""The real model, where llama.cpp and the model file are here: repeatable, audited, and under its grammar."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from undolab.agents.base import PublicTool
from undolab.agents.grammar import build_grammar
from undolab.agents.line import TASK_LABEL, read_line
from undolab.agents.prompt import write_steps
from undolab.model.errors import UndolabError
from undolab.model.load import load_tools, load_workflows
from undolab.model.record import Completion, CompletionRequest, Record
from undolab.models.audit import audit, drift
from undolab.models.backend import request_key
from undolab.models.config import ModelConfig, load_models
from undolab.models.llama import LlamaBackend
from undolab.models.sampler import Grammar
from undolab.models.store import RecordStore
from undolab.trials.arm import prepare

ROOT = Path(__file__).parents[2]
MODEL = load_models(ROOT / "config" / "models.yaml")["gemma3-270m"]
STORE = ROOT / "data/records/gemma3-270m/test.jsonl.zst"
HERE = importlib.util.find_spec("llama_cpp") is not None and (ROOT / MODEL.file).is_file()

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not HERE, reason="llama.cpp or the model file is not here; `make live` installs them"),
]

TOOL = PublicTool(
    name="set_level",
    description="",
    parameters={
        "type": "object",
        "properties": {"box": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["box"],
    },
    reads=False,
)
PROMPT = (
    'Runbook:\ntask step one: set_level(box="b1")\ntask step two: set_level(box="b2")\n'
    "task step three: finish: done\n---\n"
)


@pytest.fixture(scope="module")
def backend() -> Iterator[LlamaBackend]:
    made = LlamaBackend(MODEL, ROOT)
    yield made
    made.close()


def request(prompt: str, model: ModelConfig = MODEL, tokens: int = 40) -> CompletionRequest:
    sampling = msgspec.structs.replace(model.sampling, seed=5, max_tokens=tokens)
    grammar = build_grammar([TOOL])
    return CompletionRequest(
        model=model.digest, prompt=prompt, grammar=grammar, stop=["\n"], sampling=sampling
    )


def test_equal_requests_have_equal_answers(backend: LlamaBackend) -> None:
    """Fresh, after itself, after another prompt, and with most of its prefix in the cache, a request has one answer.

    A field case B13.
    """
    long = "".join(f"line {n}: nothing to do\n" for n in range(20)) + PROMPT
    first = backend.complete(request(long), 1)
    assert backend.complete(request(long), 1) == first
    backend.complete(request("Something else.\n"), 1)
    assert backend.complete(request(long), 1) == first
    backend.complete(request(long + first.text + "\n-> ok {}\n"), 1)
    assert backend.complete(request(long), 1) == first
    assert read_line(first.text, {TOOL.name})
    assert len(first.tokens) == len(first.logprobs)


def test_records_pass_the_audit_and_forgeries_fail(backend: LlamaBackend) -> None:
    """Completions pass teacher forcing and equal themselves made again; changed tokens or numbers fail."""
    asked = request(PROMPT)
    made = backend.complete(asked, 1)
    record = Record(key=request_key(asked), ordinal=1, request=asked, completion=made, engine="e")
    report = audit([record], backend, 1, 1)
    assert (report.findings, report.worst) == ([], 0.0)
    assert drift([record], backend, 1, 1).equal == 1
    swapped = [made.tokens[1], made.tokens[0], *made.tokens[2:]]
    for forged in (
        msgspec.structs.replace(made, text=made.text + " "),
        msgspec.structs.replace(made, tokens=swapped),
        msgspec.structs.replace(made, logprobs=[-0.5] * len(made.logprobs)),
        msgspec.structs.replace(made, prompt_tokens=made.prompt_tokens + 1),
    ):
        assert audit([msgspec.structs.replace(record, completion=forged)], backend, 1, 1).findings


def test_a_forgery_scored_by_the_model_fails(backend: LlamaBackend) -> None:
    """Texts that the model never gave fail with its own numbers: outside the grammar, past the end, or too unlikely."""
    asked = request(PROMPT)
    unbound = msgspec.structs.replace(asked, grammar="")
    engine = backend._load()

    def forged(line: str) -> str:
        tokens = engine.tokenize(line)[1:]
        scored = backend.score(unbound, tokens)
        made = Completion(
            text=line.split("\n")[0],
            finish_reason="stop",
            tokens=tokens,
            logprobs=[*scored.logprobs, *[-0.1] * (len(tokens) - scored.read)],
            prompt_tokens=scored.prompt_tokens,
        )
        record = Record(key=request_key(asked), ordinal=1, request=asked, completion=made, engine="e")
        return "".join(finding.reason for finding in audit([record], backend, 1, 1).findings)

    assert "grammar does not allow" in forged('task step two: drop_tables(all="yes")\n')
    assert "ends after" in forged('task step one: set_level(box="b1")\ntask step two: finish: done\n')
    assert "sooner than the request's" in forged('task step eleven: set_level(box="zebra", tags=["q"])\n')
    assert forged('task step one: set_level(box="b1")\n') == ""


@pytest.mark.skipif(not STORE.is_file(), reason="no records here")
def test_another_records_answer_fails_under_its_own_numbers(backend: LlamaBackend) -> None:
    """A recorded answer put under another prompt, of its own or another domain, and scored anew by the model, is refused."""
    records = sorted(RecordStore(STORE), key=lambda record: (len(record.request.prompt), record.key))
    victim = next(record for record in records if " step two: " in record.completion.text)
    grammar = victim.request.grammar
    donor = next(
        record
        for record in reversed(records)
        if record.request.grammar == grammar and "finish" not in record.completion.text
    )
    foreign = next(record for record in records if record.request.grammar != grammar)
    for other, reason in ((donor, "sooner than the request's"), (foreign, "grammar does not allow")):
        tokens = other.completion.tokens
        scored = backend.score(msgspec.structs.replace(victim.request, grammar=""), tokens)
        made = msgspec.structs.replace(
            other.completion, logprobs=scored.logprobs, prompt_tokens=scored.prompt_tokens
        )
        forged = msgspec.structs.replace(victim, completion=made)
        (finding,) = audit([forged], backend, 1, 1).findings
        assert reason in finding.reason


def test_a_row_has_the_same_bits_whatever_is_evaluated_with_it(backend: LlamaBackend) -> None:
    """Alone, in a guess, across batches of 64 and after another prompt, the logits after some tokens are equal bit by bit."""
    engine = backend._load()
    tokens = engine.tokenize(PROMPT * 7)
    place = len(tokens) - 9
    assert place > 256 > 2 * MODEL.engine.batch
    (alone,) = engine.after(tokens[: place + 1], [])
    for begin in (place - 1, place - 40):
        engine.after(tokens[:1] + tokens[9:40], [])
        rows = engine.after(tokens[: begin + 1], tokens[begin + 1 :])
        assert np.array_equal(rows[place - begin], alone)


def test_guesses_and_order_change_no_answer(backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of several seeds and turns equal those made without guesses, in the other order, and without the tree."""
    line = 'task step one: set_level(box="b1")\n-> ok {}\n'
    warm = msgspec.structs.replace(MODEL.sampling, temperature=0.9, max_tokens=25)
    asked = [
        msgspec.structs.replace(request(prompt), sampling=msgspec.structs.replace(warm, seed=seed))
        for seed in (1, 2, 3)
        for prompt in (PROMPT, PROMPT + line)
    ]
    answers = [backend.complete(one, 1) for one in asked]
    assert len({answer.text for answer in answers}) > 2
    other = LlamaBackend(MODEL, ROOT)
    other._engine = backend._load()
    monkeypatch.setattr("undolab.models.llama.guess", lambda *_: [])
    assert [other.complete(one, 1) for one in reversed(asked)] == answers[::-1]


def test_every_call_of_a_runbook_is_a_line_of_the_grammar(backend: LlamaBackend) -> None:
    """The gold line of each step, and each finish, is allowed by the grammar of its tools, as llama.cpp reads it."""
    engine = backend._load()
    tools = load_tools(ROOT / "data/tools")
    for workflow in load_workflows(ROOT / "data/workflows", "dev"):
        view = prepare(workflow, tools, prompt="runbook", examples="plain").view
        lines = write_steps(view.tools, view.steps, TASK_LABEL)
        lines += [lines[-1].replace("done", "not done"), lines[-1].replace("done", "unknown")]
        for line in lines:
            grammar = Grammar(engine.c, engine.vocab, engine.words, build_grammar(view.tools))
            for token in engine.tokenize(line + "\n", start=False):
                assert grammar.allows(token), line
                grammar.accept(token)
            grammar.free()


def test_an_answer_ends_at_its_limit(backend: LlamaBackend) -> None:
    """An answer that reaches its limit says `length`; a prompt that leaves no room for it says `error`."""
    assert backend.complete(request(PROMPT, tokens=2), 1).finish_reason == "length"
    full = backend.complete(request("word " * 4100), 1)
    assert (full.finish_reason, full.text) == ("error", "")


def test_the_header_says_what_the_file_is(backend: LlamaBackend) -> None:
    """The header names the model, most of whose tensors are not of the type in its file name, and the engine."""
    header = backend.header()
    assert header.tensor_types == {"F32": 109, "Q4_K": 27, "Q5_0": 81, "Q6_K": 9, "Q8_0": 10}
    (settings,) = header.engines.values()
    assert (settings["threads"], settings["batch"]) == (MODEL.engine.threads, MODEL.engine.batch)


def test_another_models_request_is_refused(backend: LlamaBackend) -> None:
    """A request for another model, or with a grammar that is none, is refused in one sentence."""
    with pytest.raises(UndolabError, match="is for model"):
        backend.complete(msgspec.structs.replace(request(PROMPT), model="b" * 64), 1)
    with pytest.raises(UndolabError, match="grammar"):
        backend.complete(msgspec.structs.replace(request(PROMPT), grammar="root ::= ("), 1)
