"""Typed records and canonical bytes: the words that every other room speaks."""
