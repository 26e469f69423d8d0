"""A few small questions that show whether a service can be used: its tools, seed, finish reasons and truncation."""

import json
from typing import TYPE_CHECKING, Any

import msgspec

from undolab.model.errors import UndolabError
from undolab.model.record import ChatAnswer, ChatRequest, CompletionRequest, Sampling
from undolab.models.answer import read_arguments
from undolab.models.budget import BudgetError
from undolab.models.config import ApiConfig
from undolab.models.openai_http import OpenAIBackend

if TYPE_CHECKING:
    from collections.abc import Callable

_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name.replace('_', ' ').capitalize()} of a bed in the greenhouse.",
            "parameters": {
                "type": "object",
                "properties": {"bed_id": {"type": "string"}, "litres": {"type": "integer"}},
                "required": ["bed_id"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("water_bed", "read_moisture")
]
_GRAMMAR = 'root ::= "water_bed(" ("\\"A1\\"" | "\\"A2\\"") ")\\n"\n'
_SHORT = 4
"""Tokens of an answer that is meant to be cut."""
_SOME = 16
"""Tokens of an answer that two equal requests should agree in."""
_SEED = 2001


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one question showed."""

    question: str
    fine: bool
    said: str


Question = tuple[str, CompletionRequest | ChatRequest, int]
"""Name, request, and how often it has been asked."""


def questions(config: ApiConfig) -> list[Question]:
    """Return what a check asks, in order."""
    long = config.sampling.max_tokens
    if config.protocol == "completions":
        call, tale = "The call that waters bed A1 is ", "Once upon a time, in a greenhouse far from here,"
        return [
            ("grammar", _plain(config, call, _GRAMMAR, long), 1),
            ("seed", _plain(config, tale, "", _SOME), 1),
            ("seed", _plain(config, tale, "", _SOME), 2),
            ("truncation", _plain(config, tale, "", _SHORT), 1),
        ]
    tale = "Tell a long story about a greenhouse."
    one = "Water bed A1 with 3 litres. Use the tool."
    both = "In one turn, read the moisture of bed A1 and of bed A2. Use the tool twice."
    return [
        ("tools", _chat(config, one, _TOOLS, long), 1),
        ("parallel calls", _chat(config, both, _TOOLS, long), 1),
        ("words", _chat(config, "Answer with the one word: ready", _TOOLS, long), 1),
        ("seed", _chat(config, tale, [], _SOME), 1),
        ("seed", _chat(config, tale, [], _SOME), 2),
        ("truncation", _chat(config, tale, [], _SHORT), 1),
    ]


def check(config: ApiConfig, backend: OpenAIBackend) -> list[Finding]:
    """Ask the questions and return what they showed. A service that refuses one is not fine in it; the rest is asked."""
    answers: dict[str, list[ChatAnswer]] = {}
    refused: dict[str, str] = {}
    for name, request, ordinal in questions(config):
        if name in refused:
            continue
        try:
            answers.setdefault(name, []).append(backend.answer(request, ordinal))
        except BudgetError:
            raise
        except UndolabError as error:
            refused[name] = str(error)
    judges: dict[str, Callable[[list[ChatAnswer]], tuple[bool, str]]] = {
        "tools": _judge_tools,
        "parallel calls": _judge_parallel,
        "words": _judge_words,
        "grammar": _judge_grammar,
        "seed": _judge_seed,
        "truncation": _judge_truncation,
    }
    findings = []
    for name in dict.fromkeys(name for name, _, _ in questions(config)):
        fine, said = (False, refused[name]) if name in refused else judges[name](answers[name])
        findings.append(Finding(question=name, fine=fine, said=said))
    reasons = sorted({answer.finish_reason for given in answers.values() for answer in given})
    fine = bool(reasons) and set(reasons) <= {"stop", "tool_calls", "length"}
    findings.append(Finding(question="finish reasons", fine=fine, said=", ".join(reasons)))
    return findings


def _plain(config: ApiConfig, prompt: str, grammar: str, long: int) -> CompletionRequest:
    return CompletionRequest(
        model=config.identity,
        prompt=prompt,
        grammar=grammar,
        stop=["\n"] if grammar else [],
        sampling=_sampling(config, long),
    )


def _chat(config: ApiConfig, text: str, tools: list[dict[str, Any]], long: int) -> ChatRequest:
    return ChatRequest(
        model=config.identity,
        messages=[{"role": "user", "content": text}],
        tools=tools,
        sampling=_sampling(config, long),
    )


def _sampling(config: ApiConfig, long: int) -> Sampling:
    # A seed shows only where answers differ without one.
    heat = 1.0 if long == _SOME else config.sampling.temperature
    return msgspec.structs.replace(config.sampling, max_tokens=long, seed=_SEED, temperature=heat)


def _judge_tools(answers: list[ChatAnswer]) -> tuple[bool, str]:
    calls = answers[0].calls
    try:
        fine = len(calls) == 1 and calls[0].name == "water_bed" and bool(read_arguments(calls[0].arguments))
    except ValueError:
        fine = False
    return fine, _show(answers[0])


def _judge_parallel(answers: list[ChatAnswer]) -> tuple[bool, str]:
    count = len(answers[0].calls)
    return count > 1, f"{count} calls in one turn"


def _judge_words(answers: list[ChatAnswer]) -> tuple[bool, str]:
    answer = answers[0]
    return answer.finish_reason == "stop" and not answer.calls and bool(answer.text), _show(answer)


def _judge_grammar(answers: list[ChatAnswer]) -> tuple[bool, str]:
    return answers[0].text.strip() in {'water_bed("A1")', 'water_bed("A2")'}, _show(answers[0])


def _judge_seed(answers: list[ChatAnswer]) -> tuple[bool, str]:
    same = (answers[0].text, answers[0].calls) == (answers[1].text, answers[1].calls)
    return same, "two equal requests got " + ("equal answers" if same else "different answers")


def _judge_truncation(answers: list[ChatAnswer]) -> tuple[bool, str]:
    answer = answers[0]
    return answer.finish_reason == "length", (
        f"asked for {_SHORT} tokens, got {answer.completion_tokens}, finish reason {answer.finish_reason}"
    )


def _show(answer: ChatAnswer) -> str:
    calls = [f"{call.name}({call.arguments})" for call in answer.calls]
    return json.dumps([*calls, answer.text] if answer.text else calls, ensure_ascii=False)
