"""The world outside the agent: tools over one transactional store, with a ledger of what really happened."""

from undolab.world.clock import Clock
from undolab.world.diff import Change, diff
from undolab.world.world import Snapshot, World

__all__ = ["Change", "Clock", "Snapshot", "World", "diff"]
