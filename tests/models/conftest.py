"""Small requests, records and a fake model for the tests of the record rooms."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from undolab.model.record import Completion, CompletionRequest, Record, Sampling, StoreHeader
from undolab.models.backend import request_key

MODEL = "a" * 64
HEADER = StoreHeader(
    model_name="toy",
    model_file="toy.gguf",
    model_digest=MODEL,
    tensor_types={"Q8_0": 3},
    engines={"e1": {"threads": 1}},
)


class Maker:
    """Makes requests and records; every test states what it changes."""

    header = HEADER

    @staticmethod
    def request(prompt: str = "Log:\n", seed: int = 7, **changes: Any) -> CompletionRequest:
        fields: dict[str, Any] = {
            "model": MODEL,
            "prompt": prompt,
            "grammar": 'root ::= "x"',
            "stop": ["\n"],
            "sampling": Sampling(seed=seed),
        }
        return CompletionRequest(**{**fields, **changes})

    @staticmethod
    def completion(text: str = "yes", **changes: Any) -> Completion:
        tokens = [ord(letter) for letter in text + "\n"]
        fields: dict[str, Any] = {
            "text": text,
            "finish_reason": "stop",
            "tokens": tokens,
            "logprobs": [-0.25] * len(tokens),
            "prompt_tokens": 5,
        }
        return Completion(**{**fields, **changes})

    @classmethod
    def record(cls, prompt: str = "Log:\n", ordinal: int = 1, text: str = "yes", **changes: Any) -> Record:
        request = cls.request(prompt)
        fields: dict[str, Any] = {
            "key": request_key(request),
            "ordinal": ordinal,
            "request": request,
            "completion": cls.completion(text),
            "engine": "e1",
        }
        return Record(**{**fields, **changes})


class FakeLive:
    """A live model that says `answer n`, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def header(self) -> StoreHeader:
        return HEADER

    def complete(self, request: CompletionRequest, ordinal: int) -> Completion:
        self.asked += 1
        return Maker.completion(f"answer {self.asked}")


@pytest.fixture
def make() -> type[Maker]:
    return Maker


@pytest.fixture
def live() -> FakeLive:
    return FakeLive()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records" / "test.jsonl.zst"


@pytest.fixture
def replace() -> Callable[..., Any]:
    return msgspec.structs.replace


class Said:
    """One raw HTTP answer of the fake service.

    Args:
        cut: send only so many bytes of the body, then close; `None`: all.
        wait: seconds before the first byte.
    """

    def __init__(
        self,
        body: bytes | dict[str, Any],
        status: int = 200,
        cut: int | None = None,
        wait: float = 0.0,
        **headers: str,
    ) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.cut, self.wait = status, cut, wait
        self.headers = {"content-type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }


class FakeService:
    """An OpenAI-compatible service on loopback that sends what it is told to, in order, and keeps what it was asked."""

    def __init__(self) -> None:
        self.script: list[Said] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                service.asked.append({"path": self.path, **json.loads(body)})
                service.headers.append({name.lower(): value for name, value in self.headers.items()})
                said = service.script.pop(0)
                time.sleep(said.wait)
                head = f"HTTP/1.1 {said.status} X\r\ncontent-length: {len(said.body)}\r\n"
                head += "".join(f"{name}: {value}\r\n" for name, value in said.headers.items()) + "\r\n"
                self.close_connection = said.cut is not None
                self.wfile.write(head.encode("latin-1") + said.body[: said.cut])

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @staticmethod
    def answer(
        *calls: tuple[str, str], text: str | None = None, finish: Any = "tool_calls", **changes: Any
    ) -> dict[str, Any]:
        made = [{"id": "", "type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
        message = {"role": "assistant", "content": text, "tool_calls": made or None}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage, **changes}

    @staticmethod
    def events(*pieces: dict[str, Any], finish: str | None = "tool_calls", end: bool = True) -> bytes:
        chunks = [{"choices": [{"index": 0, "delta": piece}]} for piece in pieces]
        if finish:
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        return (text + ("data: [DONE]\n\n" if end else "")).encode()

    said = Said


@pytest.fixture
def service() -> Iterator[FakeService]:
    fake = FakeService()
    yield fake
    fake.close()


@pytest.fixture
def asking(service: FakeService, path: Path) -> Iterator[Any]:
    """A chat backend over the fake service, with its store, its waits and its notices."""
    pytest.importorskip("openai")
    from undolab.model.record import ChatRequest
    from undolab.models.budget import Budget, Purse
    from undolab.models.config import ApiConfig, Price
    from undolab.models.openai_http import OpenAIBackend
    from undolab.models.store import HttpStore

    made: list[OpenAIBackend] = []
    stores: list[HttpStore] = []

    class Asking:
        waits: ClassVar[list[float]] = []
        notices: ClassVar[list[str]] = []
        request = ChatRequest(
            model="api:m", messages=[{"role": "user", "content": "go"}], tools=[], sampling=Sampling(seed=7)
        )

        @staticmethod
        def config(**changes: Any) -> ApiConfig:
            return ApiConfig(**{"name": "toy", "url": service.url, "model": "m", "timeout": 5.0, **changes})

        def backend(
            self, dollars: float | None = None, environment: dict[str, str] | None = None, **changes: Any
        ) -> OpenAIBackend:
            config = self.config(**{"price": Price(prompt=1.0, completion=1.0), **changes})
            for store in stores:
                store.close()
            stores.append(HttpStore(path))
            self.store = stores[-1]
            backend = OpenAIBackend(
                config,
                self.store,
                budget=Budget(config.price, Purse(dollars)),
                environment=environment or {},
                notice=self.notices.append,
                sleep=self.waits.append,
            )
            made.append(backend)
            return backend

    Asking.waits, Asking.notices = [], []
    yield Asking()
    for backend in made:
        backend.close()
    for store in stores:
        store.close()
