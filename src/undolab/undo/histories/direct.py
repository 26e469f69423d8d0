"""The plain walk: each history stepped and scored on its own. It is the check on `merged`, and shares no state."""

from collections.abc import Iterator

from undolab.undo.histories.grammar import ALPHABETS, effect
from undolab.undo.histories.score import Row, score
from undolab.undo.histories.walk import begin, step


def direct(kind: str, depth: int) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield every word up to a length with its rows, one a policy, in no promised order; beginnings are walked once."""
    receipt = effect(kind)
    stack = [("", begin(kind))]
    while stack:
        word, walk = stack.pop()
        yield word, score(kind, walk, receipt)
        if len(word) < depth:
            ident = f"peer-{len(word)}"
            stack.extend(
                (f"{word}{digit}", step(walk, event, ident)) for digit, event in enumerate(ALPHABETS[kind])
            )
