"""Unsafe re-sends: mutating attempts sent again although the last outcome was unknown."""

from collections.abc import Mapping, Sequence
from typing import Any

from undolab.model.calls import Phase
from undolab.model.match import holds, same_value
from undolab.model.tools import ToolSpec
from undolab.model.wire import WireEffectEvent
from undolab.model.workflow import RequiredEffect


class _Intent:
    """One thing the task or the agent wants done, and what is known of the attempts at it."""

    def __init__(self, tool: str, arguments: dict[str, Any], effect: RequiredEffect | None) -> None:
        self.tool = tool
        self.arguments = arguments
        self.effect = effect
        self.wanted = effect.max if effect else 1
        self.done = 0
        self.lost: list[str | None] = []
        """The key of each attempt without an answer that nothing has cleared up since."""

    def covers(self, tool: str, arguments: dict[str, Any], effect: RequiredEffect | None) -> bool:
        if self.effect is not None or effect is not None:
            return self.effect is effect
        return self.tool == tool and same_value(self.arguments, arguments)


def unsafe_resends(
    events: Sequence[WireEffectEvent], tools: Mapping[str, ToolSpec], required: Sequence[RequiredEffect]
) -> int:
    """Count the mutating attempts sent after an unknown outcome with neither a key nor a read between.

    Two attempts are at the same thing if both match one required effect by tool and arguments, or have the same tool and
    equal arguments. An attempt is unsafe if one at the same thing is unknown and so many may be committed that one more
    could be one too many: a task that wants two may send two. A key is one if it was sent with the lost attempt too and the
    tool honours keys; a read is any reader's answer, also "not found".
    """
    intents: list[_Intent] = []
    open_attempts: dict[str, _Intent] = {}
    unsafe = 0
    for event in events:
        tool = tools.get(event.tool_name)
        if tool is None:
            continue
        if not tool.writes:
            if event.phase in (Phase.OK, Phase.FAIL):
                for intent in intents:
                    intent.lost.clear()
            continue
        if event.phase is Phase.INVOKE:
            intent = _intent(intents, event, required)
            open_attempts[event.attempt] = intent
            unsafe += _is_unsafe(intent, event.key, keyed=tool.idempotency_key)
            continue
        ended = open_attempts.pop(event.attempt, None)
        if ended is not None:
            _close(ended, event)
    return unsafe


def _is_unsafe(intent: _Intent, key: str | None, *, keyed: bool) -> bool:
    if intent.done + len(intent.lost) < intent.wanted:
        return False
    return any(not keyed or key is None or key != lost for lost in intent.lost)


def _close(intent: _Intent, event: WireEffectEvent) -> None:
    if event.phase is Phase.UNKNOWN:
        intent.lost.append(event.key)
        return
    # The answer to a re-send tells how things stand, whatever it says; a replay tells that the lost attempt was done.
    if event.phase is Phase.OK and (event.replay_of is None or event.key in intent.lost):
        intent.done += 1
    intent.lost.clear()


def _intent(intents: list[_Intent], event: WireEffectEvent, required: Sequence[RequiredEffect]) -> _Intent:
    effect = next(
        (
            one
            for one in required
            if one.arguments and one.tool == event.tool_name and holds(one.arguments, event.arguments)
        ),
        None,
    )
    for intent in intents:
        if intent.covers(event.tool_name, event.arguments, effect):
            return intent
    intent = _Intent(event.tool_name, event.arguments, effect)
    intents.append(intent)
    return intent
