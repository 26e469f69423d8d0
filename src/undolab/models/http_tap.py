"""The last place before the network, where each HTTP attempt is kept whatever the client above makes of it.

The client gets a status and no body: the bytes are read here, once, and understood in `undolab.models.answer`.
"""

import time

import httpx2
import msgspec

from undolab.model.record import Ending

HEADERS = frozenset(
    "content-type content-encoding retry-after x-request-id openai-version openai-processing-ms".split()
)
"""Response headers that are kept."""
_LONGEST = 2**25


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

    def take(self) -> list[Seen]:
        """Return the attempts since the last call, and forget them."""
        seen, self._seen = self._seen, []
        return seen

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and keep the answer, as much as comes."""
        seen = Seen(sent=request.read())
        self._seen.append(seen)
        start = time.monotonic()
        try:
            self._carry(request, seen, start + self._seconds)
        except httpx2.TimeoutException:
            seen.ending = Ending.TIMEOUT
            raise
        except httpx2.TransportError:
            seen.ending = Ending.CUT if seen.status else Ending.NO_ANSWER
            raise
        finally:
            seen.seconds = time.monotonic() - start
        return httpx2.Response(seen.status, request=request)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def _carry(self, request: httpx2.Request, seen: Seen, deadline: float) -> None:
        response, body = self._inner.handle_request(request), bytearray()
        try:
            seen.status = response.status_code
            seen.headers = {
                name.lower(): value for name, value in response.headers.items() if name.lower() in HEADERS
            }
            for part in response.iter_raw():
                body += part
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the answer took too long", request=request)
                if len(body) > _LONGEST:
                    raise httpx2.ReadError("the answer is too long", request=request)
            seen.ending = Ending.WHOLE
        finally:
            seen.body = bytes(body)
            response.close()
