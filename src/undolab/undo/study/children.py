"""Child processes that may be killed: a helper, one thread and no open database, forks one for each job.

A fresh interpreter for each of thousands of kills would cost minutes; the helper has everything imported. A child writes
what it has seen to a file, line by line, since nothing else of it survives SIGKILL.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

_PACKAGE = "undolab.undo.study."
_CRASHED = 70


class Children:
    """The helper's parent side; close it, or use it in a `with`."""

    def __init__(self) -> None:
        self._helper = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, target: str, jobs: Sequence[Any], kill_after_us: Sequence[int] = ()) -> list[int]:
        """Run `target` (`module:function` of this package) once for each job, all at the same time.

        `kill_after_us`: for each job, after how many microseconds it is killed, 0 for never. Returned are exit codes,
        as subprocess gives them: -9 for a killed child.
        """
        line = json.dumps([target, list(jobs), list(kill_after_us) or [0] * len(jobs)])
        assert self._helper.stdin is not None  # noqa: S101 - both are pipes
        assert self._helper.stdout is not None  # noqa: S101
        self._helper.stdin.write(line.encode() + b"\n")
        self._helper.stdin.flush()
        answer = self._helper.stdout.readline()
        if not answer:
            raise ChildProcessError("the helper that forks the children is gone")
        codes: list[int] = json.loads(answer)
        return codes

    def close(self) -> None:
        """Let the helper end."""
        self._helper.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Lines:
    """A child's file: each line is with the system when `write` returns, so that SIGKILL cannot take it back."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, line: Any) -> None:
        """Append one JSON value."""
        os.write(self._file, json.dumps(line).encode() + b"\n")


def read_lines(path: Path) -> list[Any]:
    """Return what a child has written."""
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def die() -> NoReturn:
    """Kill this process, so that nothing of it runs on: no handler, no flush, no close."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def _fork(target: str, job: Any) -> int:
    child = os.fork()
    if child:
        return child
    code = _CRASHED
    try:
        module, _, function = target.partition(":")
        getattr(importlib.import_module(_PACKAGE + module), function)(job)
        code = 0
    except BaseException:  # noqa: BLE001 - the child must end here, whatever it was
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _all(target: str, jobs: Sequence[Any], kill_after_us: Sequence[int]) -> list[int]:
    importlib.import_module(_PACKAGE + target.partition(":")[0])
    started = time.monotonic_ns()
    children = [_fork(target, job) for job in jobs]
    for after, child in sorted(
        (after, child) for after, child in zip(kill_after_us, children, strict=True) if after
    ):
        time.sleep(max(0.0, (started + after * 1000 - time.monotonic_ns()) / 1e9))
        os.kill(child, signal.SIGKILL)  # not waited for yet, so the number is still its own
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _serve() -> None:
    for line in sys.stdin.buffer:
        codes = _all(*json.loads(line))
        sys.stdout.buffer.write(json.dumps(codes).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
