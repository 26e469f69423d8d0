"""An agent behind HTTP: one POST a turn, wherever its server runs."""

import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from undolab.agents.protocol import MAX_BYTES, AgentFailureError, short
from undolab.model.errors import UndolabError

_OK = 200


class HttpLine:
    """The way to an agent's server.

    Args:
        url: where requests are posted; neither redirects nor proxies are followed.
        seconds: time for each answer, whole.

    Raises:
        UndolabError: the address is not an HTTP address.
    """

    def __init__(self, url: str, seconds: float) -> None:
        wrong = UndolabError(f"{url!r} is not an agent's address; write it as http://127.0.0.1:8000/")
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
            self._host.encode("idna")
        except ValueError as error:
            raise wrong from error
        plain = url.isascii() and url.isprintable() and " " not in url
        if parts.scheme not in ("http", "https") or not self._host or parts.username or not plain:
            raise wrong
        self._connection = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._seconds = seconds

    def ask(self, data: bytes) -> bytes:
        """Post one request and return the body of the answer.

        Raises:
            AgentFailureError: it does not answer in time, or with something else than 200.
        """
        connection = self._connection(self._host, self._port, timeout=self._seconds)
        late = threading.Event()
        opened: list[socket.socket] = []

        def cut() -> None:
            # A server that sends a byte now and then never meets the timeout of a single read.
            late.set()
            with suppress(OSError):
                for one in opened:
                    one.shutdown(socket.SHUT_RDWR)

        watch = threading.Timer(self._seconds, cut)
        watch.daemon = True
        watch.start()
        try:
            connection.connect()
            # The connection forgets its socket where the server is going to close it.
            opened.append(connection.sock)
            connection.request("POST", self._path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read(MAX_BYTES + 1)
        except (OSError, HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise AgentFailureError(self._late()) from error
            raise AgentFailureError(f"its server failed: {type(error).__name__}: {short(error)}") from error
        finally:
            watch.cancel()
            connection.close()
        if late.is_set():
            raise AgentFailureError(self._late())
        if answer.status != _OK:
            raise AgentFailureError(f"its server answered {answer.status}")
        if len(body) > MAX_BYTES:
            raise AgentFailureError(f"its answer is longer than {MAX_BYTES} bytes")
        if answer.length:
            raise AgentFailureError(f"its server cut the answer; {answer.length} bytes of it are missing")
        return body

    def _late(self) -> str:
        return f"it did not answer within {self._seconds:g} s"
