"""The engines of a graph in parts."""
