"""The registry of effect types: a new type is an entry here, and the laws are then checked for it too."""

from undolab.undo.composite import COMPOSITE
from undolab.undo.effects import FIRST, EffectType

EFFECTS: dict[str, EffectType] = {**FIRST, **COMPOSITE}
