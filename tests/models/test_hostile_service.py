"""Services that misbehave in ways that neither the protocol's tests nor the mutations of the fuzz test reach."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from undolab.model.errors import UndolabError
from undolab.model.files import compress, decompress
from undolab.model.record import Ending, Outcome
from undolab.models.answer import Trouble, read_answer
from undolab.models.budget import Purse
from undolab.models.openai_http import InfraError
from undolab.models.store import HttpStore

SECRET = 'sk-very/secret"123'


def piece(name: str | None, arguments: str) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "call", "function": function}]}


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([("get", ""), ("put", '{"n":1}')], [("get", ""), ("put", '{"n":1}')]),
        ([("get", '{"n":'), ("put", "1}")], [("get", '{"n":'), ("put", "1}")]),
        (
            [("get", ""), (None, "{}"), ("put", ""), (None, '{"n":1}')],
            [("get", "{}"), ("put", '{"n":1}')],
        ),
    ],
)
def test_no_call_gets_the_arguments_of_another(service: Any, pieces: Any, calls: Any) -> None:
    """Where a service numbers every call 0, another name is another call, whether the arguments before it are whole or not."""
    body = service.events(*(piece(*one) for one in pieces))
    answer = read_answer(Ending.WHOLE, 200, {"content-type": "text/event-stream"}, body)
    assert not isinstance(answer, Trouble)
    assert [(call.name, call.arguments) for call in answer.calls] == calls


def test_a_stream_that_ends_twice_is_no_answer(service: Any) -> None:
    """A second finish reason does not make a truncated answer a whole one."""
    cut = service.events(piece("put", "{}"), finish="length", end=False)
    whole = service.events(finish="stop")
    found = read_answer(Ending.WHOLE, 200, {"content-type": "text/event-stream"}, cut + whole)
    assert isinstance(found, Trouble)
    assert "goes on after its end" in found.why


@pytest.mark.parametrize("reason", [["stop"], {"a": 1}])
def test_a_finish_reason_that_is_no_text_is_no_answer(service: Any, reason: Any) -> None:
    """Lists and objects in its place are the service's failure and no crash."""
    body = service.events(finish=reason)
    assert isinstance(
        read_answer(Ending.WHOLE, 200, {"content-type": "text/event-stream"}, body * 2), Trouble
    )


def test_the_first_event_after_a_byte_order_mark_counts(service: Any) -> None:
    """A mark at the start of a stream is no part of its first line."""
    body = b"\xef\xbb\xbf" + service.events({"content": "one "}, {"content": "two"}, finish="stop")
    answer = read_answer(Ending.WHOLE, 200, {"content-type": "Text/Event-Stream"}, body)
    assert not isinstance(answer, Trouble)
    assert answer.text == "one two"


@pytest.mark.parametrize(
    ("encoding", "after", "fine"), [("GZIP", b"", True), ("x-gzip", b"", True), ("gzip", b"junk", False)]
)
def test_packing_is_read_by_its_rules(service: Any, encoding: str, after: bytes, fine: bool) -> None:
    """Names of encodings have no case, and what follows a packed body is not passed over."""
    packed = gzip.compress(json.dumps(service.answer(text="x", finish="stop")).encode()) + after
    found = read_answer(Ending.WHOLE, 200, {"content-encoding": encoding}, packed)
    assert isinstance(found, Trouble) is not fine


def test_a_count_of_tokens_beyond_reason_is_no_crash(asking: Any, service: Any) -> None:
    """A service that claims 10^400 tokens has given no answer; nothing is multiplied with its number."""
    usage = {"prompt_tokens": 10**400, "completion_tokens": 1}
    service.script = [service.said(service.answer(text="x", finish="stop", usage=usage))]
    with pytest.raises(InfraError):
        asking.backend(attempts=1).chat(asking.request, 1)


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    "quoted",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        SECRET.replace("/", "\\/"),
        "".join(f"\\u{ord(letter):04X}" for letter in SECRET),
        SECRET.replace("/", "%2f").replace('"', "%22"),
    ],
)
@pytest.mark.parametrize("packing", ["", "gzip", "cut", "br"])
def test_a_quoted_key_is_in_no_record_however_it_is_written(
    asking: Any, service: Any, path: Path, status: int, quoted: str, packing: str
) -> None:
    """A key that comes back escaped or packed, whole or cut, is neither in the records nor in what is printed."""
    plain = f'{{"error": "bad key {quoted}"}}'.encode()
    packed = gzip.compress(plain)
    body = {"": plain, "gzip": packed, "cut": packed[:-4], "br": plain}[packing]
    headers = {"content_encoding": {"cut": "gzip"}.get(packing, packing)} if packing else {}
    service.script = [service.said(body, status, **headers)]
    with pytest.raises(InfraError):
        asking.backend(key="TOY_KEY", environment={"TOY_KEY": SECRET}, attempts=1).chat(asking.request, 1)
    asking.store.close()
    (record,) = HttpStore(path)
    kept = record.raw()
    if record.headers.get("content-encoding") == "gzip" and kept:
        kept = gzip.decompress(kept)
    assert b"bad key" not in kept or b"[key]" in kept
    for text in (kept.decode(), "".join(asking.notices)):
        assert quoted not in text
        assert SECRET not in text


def test_a_key_that_could_be_a_word_is_refused(asking: Any) -> None:
    """Taking `token` out of an answer would take its counts of tokens along."""
    with pytest.raises(UndolabError, match="fewer than 8 characters") as caught:
        asking.backend(key="TOY_KEY", environment={"TOY_KEY": "token"})
    assert "token" not in str(caught.value)


@contextmanager
def _dripping(head: bytes, drop: bytes) -> Iterator[str]:
    """Serve an answer that never ends: a head, then a drop now and then."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            try:
                connection.sendall(head)
                while not done.wait(0.05):
                    connection.sendall(drop)
            except OSError:
                pass

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        done.set()
        thread.join()
        listener.close()


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;", b"a"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
    ],
)
def test_a_dripping_service_times_out(asking: Any, head: bytes, drop: bytes) -> None:
    """An attempt ends after its time, also where status, headers, chunks or a body without a length come byte by byte."""
    with _dripping(head, drop) as url:
        backend, start = asking.backend(url=url, timeout=0.3, attempts=1), time.monotonic()
        with pytest.raises(InfraError):
            backend.chat(asking.request, 1)
    assert time.monotonic() - start < 5
    assert [record.ending for record in asking.store] == [Ending.TIMEOUT]


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -1.0])
def test_a_limit_that_is_no_amount_is_refused(limit: float) -> None:
    """Nothing is more than NaN, so such a limit would never stop."""
    with pytest.raises(UndolabError, match="no amount of money"):
        Purse(limit)


def test_a_missing_attempt_is_named(asking: Any, service: Any, path: Path) -> None:
    """A store from which a failed attempt was taken away is refused, instead of hiding the answer after it."""
    service.script = [service.said(b"", 500), service.said(service.answer(text="x", finish="stop"))]
    asking.backend().chat(asking.request, 1)
    asking.store.seal()
    header, _, answered = decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(compress(header + answered))
    with pytest.raises(UndolabError, match="lacks attempt 1"):
        HttpStore(path)


def test_records_of_another_model_are_named_by_verify(
    asking: Any, service: Any, path: Path, make: Any, replace: Callable[..., Any]
) -> None:
    """A record file that was swapped with another model's is named, though each of its lines is sound."""
    from undolab.models.sources import unreadable

    service.script = [service.said(service.answer(text="x", finish="stop"))]
    asking.backend().chat(asking.request, 1)
    assert [one.outcome for one in asking.store] == [Outcome.ANSWERED]
    asking.store.seal()
    folder = path.parents[1]
    assert unreadable({path.parent.name: asking.config()}, folder) == []
    (problem,) = unreadable({path.parent.name: replace(asking.config(), model="other")}, folder)
    assert f"{path}: holds records of another model" in problem
