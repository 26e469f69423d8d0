"""Cases from the field that need llama.cpp: a fresh process says the same, and what passes our checks passes its parser."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undolab.agents.base import PublicTool
from undolab.agents.grammar import build_grammar
from undolab.model.check import check_tools
from undolab.model.errors import UndolabError
from undolab.model.tools import Op, ToolSpec
from undolab.models.config import load_models

ROOT = Path(__file__).parents[2]
MODEL = load_models(ROOT / "config" / "models.yaml")["gemma3-270m"]
HERE = importlib.util.find_spec("llama_cpp") is not None and (ROOT / MODEL.file).is_file()

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not HERE, reason="llama.cpp or the model file is not here; `make live` installs them"),
]

PROGRAM = """
import json, sys
import msgspec
from pathlib import Path
from undolab.model.record import CompletionRequest
from undolab.models.config import load_models
from undolab.models.llama import LlamaBackend
root, model = Path(sys.argv[1]), load_models(Path(sys.argv[1]) / "config/models.yaml")["gemma3-270m"]
backend = LlamaBackend(model, root)
for prompt in json.loads(sys.argv[2]):
    sampling = msgspec.structs.replace(model.sampling, seed=11, max_tokens=6)
    asked = CompletionRequest(model=model.digest, prompt=prompt, grammar="", stop=[], sampling=sampling)
    made = backend.complete(asked, 1)
    print(json.dumps([prompt, made.tokens, made.logprobs]))
print(json.dumps(msgspec.to_builtins(backend.header())["engines"]))
backend.close()
"""


def answers(prompts: list[str], seed: str) -> tuple[list[Any], Any]:
    """Return the answers of a process of its own, and its engines."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT), json.dumps(prompts)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    *made, engines = [json.loads(line) for line in done.stdout.splitlines()]
    return made, engines


def test_b13_a_fresh_process_draws_the_same_tokens_whatever_ran_before() -> None:
    """Temperature 0.2 and one seed: the same prompt first, twice, and after others has one answer, to the log-probability."""
    tale = "Once upon a time, in a greenhouse far from here, there was a bed of mint. "
    first, engines = answers([tale, tale], "1")
    second, again = answers(["Something else.", tale + "It was", tale], "2")
    assert first[0] == first[1] == second[-1]
    assert engines == again
    (settings_of_it,) = engines.values()
    assert {"threads", "batch", "context"} <= settings_of_it.keys()


@pytest.fixture(scope="module")
def parses() -> Iterator[Callable[[str], bool]]:
    """Return a function that says whether llama.cpp takes a grammar; only the model's words are loaded."""
    import llama_cpp as c

    settings_of_it = c.llama_model_default_params()
    settings_of_it.vocab_only = True
    model = c.llama_model_load_from_file(str(ROOT / MODEL.file).encode(), settings_of_it)
    words = c.llama_model_get_vocab(model)

    def take(grammar: str) -> bool:
        sampler = c.llama_sampler_init_grammar(words, grammar.encode(), b"root")
        if sampler:
            c.llama_sampler_free(sampler)
        return bool(sampler)

    yield take
    c.llama_model_free(model)


GOOD = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,12}", fullmatch=True)
NAMES = st.one_of(GOOD, st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SIMPLE = st.just({"type": "string"})
SCHEMAS = st.one_of(
    st.builds(
        lambda kind: {"type": kind},
        st.sampled_from(["string", "integer", "number", "boolean", "object", "null"]),
    ),
    st.builds(lambda words: {"type": "string", "enum": words}, st.lists(WORDS, max_size=5)),
    st.builds(
        lambda values: {"enum": values}, st.lists(st.one_of(st.integers(), st.booleans(), WORDS), max_size=3)
    ),
    st.builds(lambda n: {"type": "string", "maxLength": n}, st.integers(0, 30_000)),
    st.builds(lambda text: {"type": "string", "pattern": text}, WORDS),
    st.just({"type": "array", "items": {"type": "string"}}),
    st.just({"type": ["string", "null"]}),
    st.just({"type": "array", "items": {"type": "string", "pattern": "\\d"}}),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_b12_what_our_checks_let_through_llama_cpp_takes(parses: Callable[[str], bool], data: Any) -> None:
    """Every schema is refused by our checks, or its grammar is one that llama.cpp parses: none is left to end a server."""
    names = data.draw(st.sampled_from([GOOD, NAMES]))
    name = data.draw(names)
    properties = data.draw(st.dictionaries(names, data.draw(st.sampled_from([SCHEMAS, SIMPLE])), max_size=40))
    required = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    spec = ToolSpec(name=name, domain="x", description="", parameters=parameters, op=Op.READ, entity="x")
    if check_tools({name: spec}):
        return
    try:
        grammar = build_grammar([PublicTool(name=name, description="", parameters=parameters, reads=True)])
    except UndolabError:
        return
    assert parses(grammar)
