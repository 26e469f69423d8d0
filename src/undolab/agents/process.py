"""A Python function as an agent, in a process of its own that is ended when it hangs, dies or is no longer needed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path

from undolab.agents.protocol import MAX_BYTES, AgentFailureError, short

_HOST = Path(__file__).with_name("host.py")


class ProcessLine:
    """The way to a function of a file; its process starts with the first request.

    Args:
        file: the Python file.
        function: its name there; it takes a request as a dict and returns an answer as a dict.
        seconds: time for the start, and for each answer.
        root: folder whose files the agent must not open.
    """

    def __init__(self, file: Path, function: str, seconds: float, root: Path) -> None:
        file, root = file.resolve(), root.resolve()
        self._command = [sys.executable, "-I", "-B", str(_HOST), str(file), function, str(root)]
        self._folder = file.parent
        self._seconds = seconds
        self._channel: socket.socket | None = None
        self._stop: weakref.finalize[[subprocess.Popen[bytes], socket.socket], ProcessLine] | None = None
        self._rest = b""

    def ask(self, data: bytes) -> bytes:
        """Send one request and return the answer.

        Raises:
            AgentFailureError: the process hangs or died, or the function raised.
        """
        try:
            self.start()
            return self._turn(data)
        except AgentFailureError:
            self.close()
            raise

    def start(self) -> None:
        """Start the process and wait until the function is loaded; nothing if it runs already.

        Raises:
            AgentFailureError: it cannot be loaded.
        """
        if self._channel is not None:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                self._command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                cwd=self._folder,
                start_new_session=True,
            )
        self._channel, self._rest = ours, b""
        self._stop = weakref.finalize(self, _end, process, ours)
        self._read(time.monotonic() + self._seconds)

    def close(self) -> None:
        """End the process and all that it started."""
        if self._stop is not None:
            self._stop()
        self._channel = None

    def _turn(self, data: bytes) -> bytes:
        deadline = time.monotonic() + self._seconds
        channel = self._socket()
        try:
            channel.settimeout(self._seconds)
            channel.sendall(data + b"\n")
        except TimeoutError as error:
            raise AgentFailureError(self._late()) from error
        except OSError as error:
            raise AgentFailureError(self._died()) from error
        return self._read(deadline)

    def _read(self, deadline: float) -> bytes:
        """Return the next line of the host, taken out of its envelope."""
        channel = self._socket()
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AgentFailureError(self._late())
            channel.settimeout(left)
            try:
                part = channel.recv(1 << 16)
            except TimeoutError as error:
                raise AgentFailureError(self._late()) from error
            except OSError as error:
                raise AgentFailureError(self._died()) from error
            if not part:
                raise AgentFailureError(self._died())
            self._rest += part
            if len(self._rest) > MAX_BYTES:
                raise AgentFailureError(f"its answer is longer than {MAX_BYTES} bytes")
        line, self._rest = self._rest.split(b"\n", 1)
        kind, _, text = line.partition(b" ")
        if kind == b"ok":
            return text
        try:
            reason = json.loads(text) if kind == b"error" else "it wrote over its host's answer"
        except (ValueError, RecursionError):
            reason = "it wrote over its host's answer"
        raise AgentFailureError(short(reason))

    def _socket(self) -> socket.socket:
        if self._channel is None:
            raise AgentFailureError("its process has ended")
        return self._channel

    def _late(self) -> str:
        return f"it did not answer within {self._seconds:g} s"

    def _died(self) -> str:
        process = None
        if self._stop is not None and (kept := self._stop.peek()) is not None:
            process = kept[2][0]
        if process is None:
            return "its process ended"
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
        return f"its process ended with exit code {process.returncode}"


def _end(process: subprocess.Popen[bytes], channel: socket.socket) -> None:
    channel.close()
    # The group outlives its leader where the agent started something.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
