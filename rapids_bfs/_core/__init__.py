"""Internals without graphs, on which all other modules are built."""
