"""Engines side by side: the runner, how each engine takes part, the records, and Graph500."""
