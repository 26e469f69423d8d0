"""What the model may say next, guessed from what stands before: a wrong guess costs time, never an answer.

A log repeats its runbook line by line, so a line begun is looked up in the prompt, and before a line is begun the line
after the last one that stands there twice is taken (prompt lookup decoding; Saxena 2023).
"""

_LONGEST = 40
"""Tokens guessed at most."""
_BACK = 3
"""Lines back in which one that was copied is looked for: a reply or two stand after it."""


def guess(prompt: list[int], said: list[int], newline: int) -> list[int]:
    """Return tokens that may come next, up to and with the end of the line.

    Args:
        prompt: The tokens of the prompt.
        said: The tokens of the answer so far.
        newline: The token that ends a line.
    """
    if not said:
        return _next_line(prompt, newline)
    whole = prompt + said
    for length in (4, 3, 2, 1):
        if length > len(said):
            continue
        tail = whole[-length:]
        for at in range(len(whole) - length - 1, -1, -1):
            if whole[at] == tail[0] and whole[at : at + length] == tail:
                return _line(whole, at + length, newline)
    return []


def _next_line(prompt: list[int], newline: int) -> list[int]:
    ends = [place for place, token in enumerate(prompt) if token == newline]
    starts = [0, *(end + 1 for end in ends)]
    lines = [tuple(prompt[start:end]) for start, end in zip(starts, ends, strict=False)]
    first = {line: place for place, line in reversed(list(enumerate(lines)))}
    for line in lines[: -_BACK - 1 : -1]:
        place = first[line]
        if line and place + 1 < len(lines) - _BACK:
            return _line(prompt, starts[place + 1], newline)
    return []


def _line(tokens: list[int], at: int, newline: int) -> list[int]:
    line = []
    for token in tokens[at : at + _LONGEST]:
        line.append(token)
        if token == newline:
            break
    return line
