"""What the bytes of a service's answer mean: read strictly, and never mended, so that a broken answer is no call."""

import json
import re
import zlib
from typing import Any

import msgspec

from undolab.model.record import ChatAnswer, ChatCall, Ending, HttpAttempt, Outcome

OVERFLOW = "overflow"
"""Finish reason where the service says that the prompt does not fit."""
_OK = 200
_SERVER_ERROR = 500
_LATER = {408, 409, 425, 429}
"""Statuses of a request that may be sent again."""
_TOO_LONG = {400, 413, 422}
_MOST_TOKENS = 2**31
_OVERFLOW = re.compile(
    rb"context_length_exceeded|exceed_context_size|context (?:length|size|window)"
    rb"|(?:input|prompt)[^\"]{0,40}token[^\"]{0,40}exceed",
    re.IGNORECASE,
)


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why an attempt gave no answer."""

    outcome: Outcome
    why: str


def read_attempt(attempt: HttpAttempt) -> ChatAnswer | Trouble:
    """Return the answer that an attempt brought, or why it brought none."""
    return read_answer(attempt.ending, attempt.status, attempt.headers, attempt.raw())


def read_answer(ending: Ending, status: int, headers: dict[str, str], body: bytes) -> ChatAnswer | Trouble:
    """Read a chat or a plain completion, whole or as a stream of events; see OpenAI's chat completions reference."""
    if ending is not Ending.WHOLE:
        return Trouble(outcome=Outcome.FAILED, why=f"the answer ended early ({ending})")
    try:
        body = _unpack_all(body, headers)
        if status == _OK:
            stream = headers.get("content-type", "").lower().startswith("text/event-stream")
            return _read_stream(body) if stream else _read_whole(_json(body))
    except (_UnreadableError, ValueError, RecursionError) as error:
        return Trouble(outcome=Outcome.FAILED, why=f"status {status}, but the answer is unreadable: {error}")
    if status in _TOO_LONG and _OVERFLOW.search(body):
        return ChatAnswer(text="", calls=[], finish_reason=OVERFLOW, prompt_tokens=0, completion_tokens=0)
    failed = status in _LATER or status >= _SERVER_ERROR
    said = " ".join(body[:300].decode("utf-8", "replace").split())
    return Trouble(outcome=Outcome.FAILED if failed else Outcome.REFUSED, why=f"status {status}: {said}")


def undecodable(attempt: HttpAttempt) -> str:
    """Return why a record's bytes do not say what the record says they do, or nothing."""
    try:
        found = read_attempt(attempt)
    except ValueError as error:
        return str(error)
    if isinstance(found, Trouble):
        return "" if found.outcome is attempt.outcome else f"it is marked {attempt.outcome}, but {found.why}"
    if attempt.outcome is not Outcome.ANSWERED:
        return f"it is marked {attempt.outcome}, but holds an answer"
    return ""


def read_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        ValueError: the text is not one whole JSON object with each name once and values that JSON knows.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("the arguments are nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("the arguments are no JSON object")  # noqa: TRY004 - one error for all that is no call
    return value


def unpack(body: bytes, headers: dict[str, str]) -> tuple[bytes, bool]:
    """Return a body without its content-encoding as far as it can be unpacked, and whether that is all of it.

    Raises:
        ValueError: it is packed in a way that is not known here, or not in the way that the headers say.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return body, True
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise ValueError(f"content-encoding {encoding}")
    reader = zlib.decompressobj(wbits=15 if encoding == "deflate" else 47)
    try:
        plain = reader.decompress(body, 2**26)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return plain, reader.eof and not reader.unused_data


class _UnreadableError(Exception):
    """The answer has not the form of the protocol."""


def _unpack_all(body: bytes, headers: dict[str, str]) -> bytes:
    plain, whole = unpack(body, headers)
    if not whole:
        raise _UnreadableError("the packed body is cut, too long, or not alone")
    return plain


def _json(data: bytes) -> Any:
    return json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _get(value: Any, name: str, kind: type, default: Any = None) -> Any:
    """Return a member of the right type; without a `default` it must be there."""
    if not isinstance(value, dict):
        raise _UnreadableError(f"what should hold `{name}` is no object")
    found = value.get(name)
    if found is None and default is not None:
        return default
    if not isinstance(found, kind) or isinstance(found, bool):
        raise _UnreadableError(f"`{name}` is missing or of another type")
    return found


def _refuse_error(value: Any) -> None:
    if isinstance(value, dict) and value.get("error"):
        raise _UnreadableError(f"an error instead of an answer, {str(value['error'])[:200]!a}")


def _text(parts: list[str]) -> str:
    """Join text; what is half of a character stays a replacement mark."""
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _call(name: str, arguments: list[str]) -> ChatCall:
    # Half a character goes back to its escape, which no reader of arguments takes.
    text = "".join(arguments).encode("utf-8", "backslashreplace").decode()
    return ChatCall(name=_text([name]), arguments=text)


def _tokens(usage: Any) -> tuple[int, int]:
    prompt, completion = _get(usage, "prompt_tokens", int, 0), _get(usage, "completion_tokens", int, 0)
    if max(prompt, completion) > _MOST_TOKENS:
        raise _UnreadableError("it counts more tokens than there can be")
    return max(0, prompt), max(0, completion)


def _finish(reason: Any) -> str:
    if not isinstance(reason, str) or not reason:
        raise _UnreadableError("it does not say why it ended")
    return _text([reason])


def _read_whole(value: Any) -> ChatAnswer:
    _refuse_error(value)
    choices = _get(value, "choices", list)
    if not choices:
        raise _UnreadableError("no choices")
    choice, calls = choices[0], []
    if isinstance(choice, dict) and "message" in choice:
        message = _get(choice, "message", dict)
        text = _get(message, "content", str, "")
        for call in _get(message, "tool_calls", list, []):
            function = _get(call, "function", dict)
            calls.append(_call(_get(function, "name", str), [_get(function, "arguments", str)]))
    else:
        text = _get(choice, "text", str)
    prompt, completion = _tokens(_get(value, "usage", dict, {}))
    return ChatAnswer(
        text=_text([text]),
        calls=calls,
        finish_reason=_finish(choice.get("finish_reason")),
        prompt_tokens=prompt,
        completion_tokens=completion,
    )


def _events(body: bytes) -> list[str]:
    """Return the data of each whole server-sent event, up to the end mark (WHATWG HTML, section 9.2)."""
    events, data = [], []
    for line in re.split("\r\n|\n|\r", body.decode("utf-8-sig")):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            if data == ["[DONE]"]:
                break
            events.append("\n".join(data))
            data = []
    return events


def _read_stream(body: bytes) -> ChatAnswer:
    text: list[str] = []
    calls: list[tuple[str, list[str]]] = []
    at: dict[int, int] = {}
    reason: Any = None
    tokens = (0, 0)
    for event in _events(body):
        value = _json(event.encode())
        _refuse_error(value)
        usage = _get(value, "usage", dict, {})
        tokens = _tokens(usage) if usage else tokens
        for choice in _get(value, "choices", list, [])[:1]:
            delta = _get(choice, "delta", dict, {})
            pieces = _get(delta, "tool_calls", list, [])
            said = _get(delta, "content", str, "") or _get(choice, "text", str, "")
            ends = choice.get("finish_reason") or None
            if reason is not None and (said or pieces or ends not in (None, reason)):
                raise _UnreadableError("it goes on after its end")
            text.append(said)
            for piece in pieces:
                _add_piece(piece, calls, at)
            reason = ends or reason
    return ChatAnswer(
        text=_text(text),
        calls=[_call(name, arguments) for name, arguments in calls],
        finish_reason=_finish(reason),
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
    )


def _add_piece(piece: Any, calls: list[tuple[str, list[str]]], at: dict[int, int]) -> None:
    """Add a piece of a call to the call it belongs to.

    Ids are no help: services send none, or one for all. The index tells calls apart, but some send 0 for each; then a piece
    with another name starts a call, and so does one that has a name and arguments, after arguments that are whole.
    """
    index = _get(piece, "index", int, 0)
    function = _get(piece, "function", dict)
    name, arguments = _get(function, "name", str, ""), _get(function, "arguments", str, "")
    fresh = index not in at
    if not fresh and name:
        before, pieces = calls[at[index]]
        fresh = name != before or (bool(arguments) and _is_whole("".join(pieces)))
    if fresh:
        if not name:
            raise _UnreadableError("a call without a name")
        at[index] = len(calls)
        calls.append((name, []))
    calls[at[index]][1].append(arguments)


def _is_whole(text: str) -> bool:
    try:
        read_arguments(text)
    except ValueError:
        return False
    return True
