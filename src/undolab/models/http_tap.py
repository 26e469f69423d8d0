"""The last place before the network, where each HTTP attempt is kept whatever the client above makes of it.

The client gets a status and no body: the bytes are read here, once, and understood in `undolab.models.answer`.
"""

import socket
import threading
import time
from contextlib import suppress
from typing import Any

import httpx2
import msgspec

from undolab.model.record import Ending

HEADERS = frozenset(
    "content-type content-encoding retry-after x-request-id openai-version openai-processing-ms".split()
)
"""Response headers that are kept."""
_LONGEST = 2**25
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class Seen(msgspec.Struct, kw_only=True):
    """One HTTP attempt as it went over the wire."""

    sent: bytes
    ending: Ending = Ending.STOPPED
    status: int = 0
    headers: dict[str, str] = {}
    body: bytes = b""
    seconds: float = 0.0


class Tap(httpx2.BaseTransport):
    """A transport that keeps what it carries.

    Args:
        seconds: longest time of one attempt from first to last byte, however slowly the bytes come.
    """

    def __init__(self, seconds: float) -> None:
        self._inner = httpx2.HTTPTransport()
        self._seconds = seconds
        self._seen: list[Seen] = []
        self._socket: socket.socket | None = None
        self._late = threading.Event()

    def take(self) -> list[Seen]:
        """Return the attempts since the last call, and forget them."""
        seen, self._seen = self._seen, []
        return seen

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and keep the answer, as much as comes."""
        seen = Seen(sent=request.read())
        self._seen.append(seen)
        request.extensions["trace"] = self._note
        self._late.clear()
        # A service that sends a byte now and then never meets the timeout of a single read.
        watch = threading.Timer(self._seconds, self._cut)
        watch.daemon = True
        start = time.monotonic()
        watch.start()
        try:
            self._carry(request, seen)
        except httpx2.TransportError as error:
            late = self._late.is_set() or isinstance(error, httpx2.TimeoutException)
            seen.ending = Ending.TIMEOUT if late else Ending.CUT if seen.status else Ending.NO_ANSWER
            raise
        finally:
            watch.cancel()
            seen.seconds = time.monotonic() - start
        return httpx2.Response(seen.status, request=request)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def _note(self, event: str, info: dict[str, Any]) -> None:
        """Keep the socket of a new connection; the transport tells of its steps."""
        if event in _CONNECTED:
            self._socket = info["return_value"].get_extra_info("socket")

    def _cut(self) -> None:
        self._late.set()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _carry(self, request: httpx2.Request, seen: Seen) -> None:
        response, body = self._inner.handle_request(request), bytearray()
        try:
            seen.status = response.status_code
            seen.headers = {
                name.lower(): value for name, value in response.headers.items() if name.lower() in HEADERS
            }
            for part in response.iter_raw():
                body += part
                if len(body) > _LONGEST:
                    raise httpx2.ReadError("the answer is too long", request=request)
            if self._late.is_set():
                raise httpx2.ReadTimeout("the answer took too long", request=request)
            seen.ending = Ending.WHOLE
        finally:
            seen.body = bytes(body)
            response.close()
