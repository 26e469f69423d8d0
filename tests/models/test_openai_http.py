"""The client of OpenAI-compatible services: every HTTP attempt is a record, failures are asked again, nothing is mended."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from undolab.model.canon import canonical
from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress
from undolab.model.record import CompletionRequest, Ending, Outcome, Sampling
from undolab.models.budget import BudgetError
from undolab.models.openai_http import InfraError
from undolab.models.replay import HttpReplayBackend, MissingRecordError
from undolab.models.sources import unreadable
from undolab.models.store import HttpStore

SECRET = "sk-very-secret-123"


def outcomes(asking: Any) -> list[tuple[int, str]]:
    return [(attempt.status, attempt.outcome.value) for attempt in asking.store]


def test_an_answer_is_recorded_and_not_asked_again(asking: Any, service: Any) -> None:
    """The raw bytes of the answer are on the disk, and the second time nothing is sent."""
    service.script = [service.said(service.answer(("get", '{"a": 1}')))]
    raw = service.script[0].body
    first = asking.backend().chat(asking.request, 1)
    again = asking.backend()
    assert again.chat(asking.request, 1) == first
    (record,) = asking.store
    assert (record.raw(), record.status, record.outcome) == (raw, 200, Outcome.ANSWERED)
    assert [(call.name, call.arguments) for call in first.calls] == [("get", '{"a": 1}')]
    assert (first.prompt_tokens, again.fresh, len(service.asked)) == (11, 0, 1)


def test_every_sampling_field_is_sent_or_refused(asking: Any, service: Any) -> None:
    """Temperature, top-p, seed and limit are sent always, the others where the service takes them."""
    service.script = [service.said(service.answer(text="x", finish="stop"))] * 2
    asking.backend().chat(asking.request, 1)
    asking.backend(accepts=["top_k", "min_p"], limit="max_completion_tokens").chat(asking.request, 2)
    plain, more = service.asked
    assert {k: plain[k] for k in ("temperature", "top_p", "seed", "max_tokens")} == {
        "temperature": 0.2,
        "top_p": 1.0,
        "seed": 7,
        "max_tokens": 512,
    }
    assert "top_k" not in plain
    assert (more["top_k"], more["min_p"], more["max_completion_tokens"]) == (0, 0.0, 512)


def test_a_plain_completion_carries_prompt_stop_and_grammar(asking: Any, service: Any) -> None:
    """The completions protocol sends the prompt as it is, and the answer has text and reason but no token ids."""
    body = {"choices": [{"text": "finish: done", "finish_reason": "stop", "index": 0}]}
    service.script = [service.said(body)]
    request = CompletionRequest(
        model="api:m", prompt="Log:\n", grammar='root ::= "x"', stop=["\n"], sampling=Sampling(seed=1)
    )
    backend = asking.backend(protocol="completions", accepts=["grammar"])
    completion = backend.complete(request, 1)
    assert (completion.text, completion.finish_reason, completion.tokens) == ("finish: done", "stop", [])
    (sent,) = service.asked
    assert (sent["path"], sent["prompt"], sent["grammar"], sent["stop"]) == (
        "/v1/completions",
        "Log:\n",
        'root ::= "x"',
        ["\n"],
    )
    assert HttpReplayBackend(asking.store).complete(request, 1) == completion


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_rate_limits_and_service_errors_are_asked_again(asking: Any, service: Any, status: int) -> None:
    """A rate limit or an error of the service is INFRA_ERROR: recorded, announced, and asked again."""
    service.script = [service.said({"error": {"message": "busy"}}, status), service.said(service.answer())]
    service.script[1] = service.said(service.answer(text="done", finish="stop"))
    assert asking.backend().chat(asking.request, 1).text == "done"
    assert outcomes(asking) == [(status, "failed"), (200, "answered")]
    assert "INFRA_ERROR, attempt 1 of 4" in asking.notices[0]
    assert asking.waits == [1.0]


def test_retries_are_bounded(asking: Any, service: Any) -> None:
    """After the last attempt the trial stops with INFRA_ERROR; every attempt is in the store, and a later run adds to them."""
    service.script = [service.said(b"no", 500)] * 3
    with pytest.raises(InfraError, match="INFRA_ERROR, no answer"):
        asking.backend(attempts=3).chat(asking.request, 1)
    assert (outcomes(asking), asking.waits) == ([(500, "failed")] * 3, [1.0, 2.0, 0.0])
    service.script = [service.said(service.answer(text="back", finish="stop"))]
    assert asking.backend().chat(asking.request, 1).text == "back"
    assert [record.attempt for record in asking.store] == [1, 2, 3, 4]


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("9999", 60.0), ("soon", 1.0), ("-1", 1.0)])
def test_the_wait_a_service_asks_for_is_kept_within_bounds(
    asking: Any, service: Any, asked: str, waited: float
) -> None:
    """`Retry-After` decides the wait, up to a minute; what is no number is passed over."""
    service.script = [
        service.said(b"", 429, retry_after=asked),
        service.said(service.answer(text="x", finish="stop")),
    ]
    asking.backend().chat(asking.request, 1)
    assert asking.waits == [waited]


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_cut_answer_is_recorded_and_asked_again(asking: Any, service: Any, cut: int) -> None:
    """An answer whose connection ends early brings nothing, but its bytes are kept."""
    whole = service.said(service.answer(("get", "{}")))
    service.script = [service.said(whole.body, cut=cut), whole]
    assert len(asking.backend().chat(asking.request, 1).calls) == 1
    first, second = asking.store
    assert (first.ending, first.raw(), first.outcome) == (Ending.CUT, whole.body[:cut], Outcome.FAILED)
    assert second.outcome is Outcome.ANSWERED


def test_a_silent_service_times_out(asking: Any, service: Any) -> None:
    """A service that sends nothing ends as a timeout within bounds."""
    service.script = [service.said(b"{}", wait=0.6)] * 2
    with pytest.raises(InfraError):
        asking.backend(timeout=0.2, attempts=2).chat(asking.request, 1)
    assert [record.ending for record in asking.store] == [Ending.TIMEOUT] * 2


def test_a_service_that_is_not_there_is_recorded(asking: Any) -> None:
    """No connection at all is an attempt too."""
    with pytest.raises(InfraError):
        asking.backend(url="http://127.0.0.1:9/v1", attempts=2).chat(asking.request, 1)
    assert [(record.ending, record.status) for record in asking.store] == [(Ending.NO_ANSWER, 0)] * 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"error": {"message": "no"}}',
        b'{"choices": [{"message": {"content": "x"}, "finish_reason": null}]}',
        b'{"choices": [{"message": {"content": 5}, "finish_reason": "stop"}]}',
        b'{"choices":[{"message":{"tool_calls":[{"function":{"name":"a","arguments":{}}}]},"finish_reason":"stop"}]}',
        b'{"choices": [{"message": {"content": "a", "content": "b"}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": "a"}, "finish_reason": "stop", "score": NaN}]}',
        b"[" * 100_000,
    ],
)
def test_an_unreadable_answer_is_infrastructure(asking: Any, service: Any, body: bytes) -> None:
    """A status 200 whose body is not of the protocol is the service's failure, never the model's."""
    service.script = [service.said(body)] * 2
    with pytest.raises(InfraError):
        asking.backend(attempts=2).chat(asking.request, 1)
    assert [record.raw() for record in asking.store] == [body] * 2


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 422])
def test_a_refused_request_is_not_repeated(asking: Any, service: Any, status: int) -> None:
    """A wrong key, name or setting is for a person to mend: one attempt, one sentence."""
    service.script = [service.said({"error": {"message": "no such thing"}}, status, location="/v1/else")]
    with pytest.raises(UndolabError, match="no such thing") as caught:
        asking.backend().chat(asking.request, 1)
    assert not isinstance(caught.value, InfraError)
    assert outcomes(asking) == [(status, "refused")]


@pytest.mark.parametrize(
    "message",
    [
        '{"error": {"code": "context_length_exceeded", "message": "x"}}',
        '{"error": {"message": "This model\'s maximum context length is 4096 tokens."}}',
        '{"error": {"type": "exceed_context_size_error"}}',
        '{"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}}',
    ],
)
def test_an_overflow_is_the_agents(asking: Any, service: Any, message: str) -> None:
    """A prompt that does not fit is an answer, counted as the agent's, whatever words the service has for it."""
    service.script = [service.said(message.encode(), 400)]
    assert asking.backend().chat(asking.request, 1).finish_reason == "overflow"
    assert outcomes(asking) == [(400, "answered")]


def test_the_key_is_in_no_record(asking: Any, service: Any, path: Path) -> None:
    """The key goes to the service and nowhere else, also where the service quotes it."""
    service.script = [
        service.said({"error": f"bad key {SECRET}"}, 500, x_request_id=SECRET),
        service.said(service.answer(text=SECRET, finish="stop")),
    ]
    backend = asking.backend(key="TOY_KEY", environment={"TOY_KEY": SECRET})
    assert backend.chat(asking.request, 1).text == "[key]"
    assert service.headers[0]["authorization"] == f"Bearer {SECRET}"
    asking.store.seal()
    assert SECRET.encode() not in decompress(path.read_bytes())
    assert SECRET not in "".join(asking.notices)


@pytest.mark.parametrize("value", ["", "two words", "line\n", "schlüssel"])
def test_a_missing_or_broken_key_is_named_by_its_variable(asking: Any, value: str) -> None:
    """Without a usable key the sentence names the variable and never its content."""
    with pytest.raises(UndolabError, match="TOY_KEY") as caught:
        asking.backend(key="TOY_KEY", environment={"TOY_KEY": value})
    assert not value or value not in str(caught.value)


def test_variables_of_the_package_do_not_leak(asking: Any, service: Any, monkeypatch: Any) -> None:
    """Variables that the package reads by itself change neither address nor headers."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://leak.invalid" if name.endswith("URL") else "leak")
    service.script = [service.said(service.answer(text="x", finish="stop"))]
    asking.backend().chat(asking.request, 1)
    assert "leak" not in json.dumps(service.headers)


def test_a_stream_is_put_together(asking: Any, service: Any) -> None:
    """Pieces of text and of two calls come together by their index; ids play no part."""
    body = service.events(
        {"content": "I "},
        {"content": "go"},
        {"tool_calls": [{"index": 0, "id": "same", "function": {"name": "get", "arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 1, "id": "same", "function": {"name": "put", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
    )
    service.script = [service.said(body, content_type="text/event-stream")]
    answer = asking.backend(stream=True).chat(asking.request, 1)
    assert answer.text == "I go"
    assert [(call.name, call.arguments) for call in answer.calls] == [("get", '{"a": 1}'), ("put", "{}")]
    assert service.asked[0]["stream"] is True


@pytest.mark.parametrize("ids", [("", ""), ("c", "c"), ("a", "b"), (None, None)])
def test_calls_of_one_index_are_told_apart(asking: Any, service: Any, ids: tuple[Any, Any]) -> None:
    """A service that numbers every call 0 and sends each whole still makes two calls, whatever their ids."""
    pieces = [
        {"tool_calls": [{"index": 0, "id": one, "function": {"name": "put", "arguments": f'{{"n":{n}}}'}}]}
        for n, one in enumerate(ids)
    ]
    service.script = [service.said(service.events(*pieces), content_type="text/event-stream; charset=utf-8")]
    answer = asking.backend(stream=True).chat(asking.request, 1)
    assert [call.arguments for call in answer.calls] == ['{"n":0}', '{"n":1}']


def test_a_stream_without_its_end_is_asked_again(asking: Any, service: Any) -> None:
    """A stream that stops without a finish reason, or is cut on the wire, is no answer at any of its bytes."""
    piece = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "put", "arguments": '{"n":1}'}}]}
    whole = service.events(piece)
    unsaid = service.events(piece, finish=None)
    cuts = [service.said(whole, cut=at, content_type="text/event-stream") for at in range(0, len(whole), 9)]
    ends = [
        service.said(whole[:at], content_type="text/event-stream") for at in range(0, len(unsaid) - 20, 9)
    ]
    service.script = [*cuts, *ends, service.said(whole, content_type="text/event-stream")]
    backend = asking.backend(stream=True, attempts=len(service.script))
    assert [call.arguments for call in backend.chat(asking.request, 1).calls] == ['{"n":1}']
    assert len(asking.store) == len(cuts) + len(ends) + 1
    assert [record.outcome for record in asking.store][:-1] == [Outcome.FAILED] * (len(cuts) + len(ends))


def test_a_packed_answer_is_unpacked(asking: Any, service: Any) -> None:
    """A service that packs its answer unasked is understood; the packed bytes are the record."""
    packed = gzip.compress(json.dumps(service.answer(text="x", finish="stop")).encode())
    service.script = [service.said(packed, content_encoding="gzip")]
    assert asking.backend().chat(asking.request, 1).text == "x"
    assert next(iter(asking.store)).raw() == packed


def test_a_plain_body_marked_as_packed_is_refused_on_reading(asking: Any, service: Any, path: Path) -> None:
    """A record whose bytes cannot be decoded as it says is refused by file and line, not at replay."""
    service.script = [service.said(service.answer(text="x", finish="stop"))]
    asking.backend().chat(asking.request, 1)
    (record,) = asking.store
    bad = msgspec.structs.replace(record, headers={**record.headers, "content-encoding": "gzip"})
    header = asking.store.header
    path.write_bytes(compress(canonical(header) + b"\n" + canonical(bad) + b"\n"))
    asking.store.close()
    asking.store.journal.unlink()
    with pytest.raises(UndolabError, match=r"test\.jsonl\.zst: line 2: record .* cannot be decoded"):
        HttpStore(path)
    (problem,) = unreadable({path.parent.name: asking.config()}, path.parents[1])
    assert str(path) in problem


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "failed"},
        {"encoding": "base64"},
        {"ending": "cut"},
        {"status": 500},
        {"body": "{}"},
        {"completion": None, "chat": None},
    ],
)
def test_a_record_that_contradicts_itself_is_refused(
    asking: Any, service: Any, path: Path, changes: dict[str, Any]
) -> None:
    """What a record says it means is compared with its bytes whenever a store is read."""
    service.script = [service.said(service.answer(text="x", finish="stop"))]
    asking.backend().chat(asking.request, 1)
    (record,) = asking.store
    line = canonical({**msgspec.to_builtins(record), **changes})
    path.write_bytes(compress(canonical(asking.store.header) + b"\n" + line + b"\n"))
    asking.store.close()
    asking.store.journal.unlink()
    with pytest.raises(UndolabError, match=r"test\.jsonl\.zst: line 2"):
        HttpStore(path)


def test_a_replay_asks_nobody_and_names_what_differs(asking: Any, service: Any) -> None:
    """One changed character in a message stops the replay at that message."""
    service.script = [service.said(service.answer(text="x", finish="stop"))]
    answer = asking.backend().chat(asking.request, 1)
    replay = HttpReplayBackend(asking.store)
    assert replay.chat(asking.request, 1) == answer
    other = msgspec.structs.replace(asking.request, messages=[{"role": "user", "content": "gO"}])
    with pytest.raises(MissingRecordError, match="/messages/0/content differs"):
        replay.chat(other, 1)
    with pytest.raises(MissingRecordError, match="/ordinal differs"):
        replay.chat(asking.request, 2)


def test_a_replay_of_failures_alone_is_no_answer(asking: Any, service: Any) -> None:
    """Attempts that all failed are no answer on replay either."""
    service.script = [service.said(b"", 500)]
    with pytest.raises(InfraError):
        asking.backend(attempts=1).chat(asking.request, 1)
    with pytest.raises(MissingRecordError, match="all failed"):
        HttpReplayBackend(asking.store).chat(asking.request, 1)


def test_the_budget_stops_before_the_call(asking: Any, service: Any) -> None:
    """A call that could pass the limit is not made; an attempt without an answer counts as the longest."""
    service.script = [service.said(b"", 500)] * 9
    backend = asking.backend(dollars=0.0014, attempts=9)
    with pytest.raises(BudgetError, match="--max-usd"):
        backend.chat(asking.request, 1)
    assert len(service.asked) == len(asking.store) == 2


def test_a_request_for_another_model_is_refused(asking: Any) -> None:
    """A backend answers for its own model alone."""
    with pytest.raises(UndolabError, match="is asked; name one"):
        asking.backend(model="other").chat(asking.request, 1)


def test_a_stopped_process_leaves_the_attempt_behind(asking: Any, service: Any, monkeypatch: Any) -> None:
    """An attempt during which the process is stopped is in the store, marked as such."""
    from undolab.models.http_tap import Tap

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Tap, "_carry", stop)
    with pytest.raises(KeyboardInterrupt):
        asking.backend().chat(asking.request, 1)
    assert [(record.ending, record.outcome) for record in asking.store] == [(Ending.STOPPED, Outcome.FAILED)]
