"""Loops that turn completions into calls, and the scripted agents that need no model."""
