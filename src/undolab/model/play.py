"""Which tools an arm's world has: those of the task, as the method of the arm needs them."""

from collections.abc import Iterable, Mapping

import msgspec

from undolab.model.tools import ToolSpec

KEYS_EVERYWHERE = frozenset({"B2-K"})
"""Methods that are given services which honour idempotency keys on every tool that writes."""
COMPENSATING = frozenset({"B3", "B7"})
"""Methods that may call the tools which take the task's effects back, also where the agent may not."""


def tools_in_play(
    names: Iterable[str], catalogue: Mapping[str, ToolSpec], method: str
) -> dict[str, ToolSpec]:
    """Return the specs of the tools that an arm's world has, those of the task first and in its order.

    Args:
        names: the tools that the agent may call.
        catalogue: every tool.
        method: code of the arm's method.
    """
    tools = {name: catalogue[name] for name in names}
    if method in COMPENSATING:
        inverses = [spec.inverse.tool for spec in tools.values() if spec.inverse is not None]
        tools |= {name: catalogue[name] for name in sorted(inverses) if name in catalogue}
    if method in KEYS_EVERYWHERE:
        tools = {
            name: msgspec.structs.replace(spec, idempotency_key=True) if spec.writes else spec
            for name, spec in tools.items()
        }
    return tools
