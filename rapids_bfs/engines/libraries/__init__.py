"""Other libraries' breadth-first search."""
