"""Engines side by side: the runner, each engine's part in it, the records, and Graph500."""
