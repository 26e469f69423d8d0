"""The process in which a Python agent runs: a script of its own that imports nothing of ours, started with `python -I`.

It keeps the agent from what it could look up by accident or for convenience: the package and every file under the
repository but the agent's own folder. It is no jail for code that means harm.

Requests and answers are lines on the socket that is its standard input; an answer is `ok JSON` or `error "REASON"`.
"""

import importlib.util
import json
import os
import socket
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

_PROGRAMS = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "pty.")
_FILES = ("open", "os.listdir", "os.scandir", "sqlite3.connect")
_TWO_FILES = ("os.link", "os.symlink", "os.rename", "shutil.")


class _NoPackage:
    """A finder that finds nothing of ours."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        if name == "undolab" or name.startswith("undolab."):
            raise ImportError("an agent cannot import undolab")
        return None


def _guard(file: Path, root: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that refuses programs, other processes' files, and files under `root`.

    The folder of the agent's file stays open to it, unless the root is in it; so does the Python installation.
    """
    base = str(root) + os.sep
    mine = str(file) if root.is_relative_to(file.parent) else str(file.parent) + os.sep
    free = (mine, os.path.realpath(sys.prefix) + os.sep, os.path.realpath(sys.base_prefix) + os.sep)
    own = f"/proc/{os.getpid()}/"

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_PROGRAMS):
            raise PermissionError(f"an agent cannot start programs ({event}); make it an HTTP agent")
        if event in _FILES:
            paths = (arguments[0] or os.curdir,)
        elif event.startswith(_TWO_FILES):
            paths = arguments[:2]
        else:
            return
        for path in paths:
            if not isinstance(path, str | bytes | os.PathLike):
                continue
            real = os.path.realpath(os.fsdecode(path)) + os.sep
            other = real.startswith("/proc/") and real[6:7].isdigit() and not real.startswith(own)
            if other or (real.startswith(base) and not real.startswith(free)):
                raise PermissionError(f"an agent cannot open {os.fsdecode(path)}")

    return refuse


def _load(file: Path, name: str) -> Callable[[dict[str, Any]], object]:
    spec = importlib.util.spec_from_file_location("agent", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent"] = module
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    function: Callable[[dict[str, Any]], object] = getattr(module, name)
    if not callable(function):
        raise TypeError(f"{name} is no function")
    return function


def _say(channel: socket.socket, kind: str, value: object) -> None:
    channel.sendall(f"{kind} {json.dumps(value, allow_nan=False)}\n".encode())


def main(file: str, name: str, root: str) -> None:
    """Load the function and answer requests until the socket is closed."""
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.meta_path.insert(0, _NoPackage())
    sys.addaudithook(_guard(Path(file), Path(root)))
    try:
        act = _load(Path(file), name)
    except Exception as error:  # noqa: BLE001 - whatever the file does
        _say(channel, "error", f"it cannot be loaded: {type(error).__name__}: {error}")
        return
    _say(channel, "ok", None)
    for line in channel.makefile("rb"):
        try:
            _say(channel, "ok", act(json.loads(line)))
        except Exception as error:  # noqa: BLE001 - whatever the function does
            _say(channel, "error", f"it raised {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
