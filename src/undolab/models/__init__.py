"""Completions: the model run live, recorded, and replayed from its records."""
