"""The model study of the undo layer: recorded models decide what to take back, and state decides what came of it."""
