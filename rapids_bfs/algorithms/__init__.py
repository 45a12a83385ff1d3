"""Breadth-first search and what is built on it: many sources, betweenness, components, distances, paths."""
